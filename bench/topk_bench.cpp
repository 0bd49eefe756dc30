// topk_bench: times tle_topk_select, and checks every result that it times against the C reference.
//
//   topk_bench [--device=cuda|emu] [--shapes=1x131072x2048,...] [--values=normal] [--calls=16]
//   [--passes=30]
//              [--smoke] [--out=results.json] [--commit=...] [--benchmark_...]
//
// A shape is rows x columns x k. Each is two benchmarks. Hot: every call reads the same scores.
// Cold: the calls of a pass read different copies, together or by a flush before the pass driven
// out of the L2 cache. The time is the mean over the calls of a pass, the figure recorded the
// median over passes.
#include "support/record.h"
#include "support/replay.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstring>
#include <getopt.h>
#include <sstream>
#include <stdexcept>
#include <stdint.h>

extern "C" {
#include "cli/reference_topk.h"
#include "kernels/support/values.h"
}

namespace {

using bench::check;

// Copies beyond this many bytes are reused: the first has left the cache by then.
constexpr size_t ring_bytes = size_t{256} << 20;

struct Shape {
    int64_t rows, columns, k;
};

struct Settings {
    bool emulator = false;
    std::vector<Shape> shapes;
    ValueKind values = VALUES_NORMAL;
    int calls = 16, passes = 30;
    std::string out, commit, command;
};

// Device memory of one handle.
class Memory {
  public:
    Memory(tle_handle handle, size_t bytes) : owner(handle) {
        if (bytes)
            check(tle_alloc(handle, bytes, &address));
    }
    ~Memory() {
        tle_free(owner, address);
    }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    char *at(size_t offset) const {
        return static_cast<char *>(address) + offset;
    }

  private:
    tle_handle owner;
    void *address = nullptr;
};

// Keeps the variant's name, the eighth field of a dispatch line.
void keep_variant(uint32_t flag, const char *line, void *user) {
    std::istringstream fields(line);
    std::string field;
    for (int i = 0; i < 8; i++)
        std::getline(fields, field, ',');
    if (flag == TLE_LOG_DISPATCH)
        *static_cast<std::string *>(user) = field;
}

// One shape with its inputs and the right answer; lives while its two benchmarks run.
class Case {
  public:
    Case(tle_handle h, const Settings &s, const Shape &of)
        : handle(h), shape(of), stride((static_cast<size_t>(of.columns) + 63) / 64 * 64),
          copy_bytes(static_cast<size_t>(of.rows) * stride * sizeof(float)),
          copies(static_cast<int>(
              std::min(static_cast<size_t>(s.calls), ring_bytes / copy_bytes + 2))),
          scores(h, copy_bytes * static_cast<size_t>(copies)), indices(h, index_bytes()),
          expected(static_cast<size_t>(of.rows * of.k)), workspace_size(query_workspace()),
          workspace(h, workspace_size) {
        std::vector<float> host(copy_bytes / sizeof(float));
        Random random = {1};
        for (int64_t r = 0; r < shape.rows; r++)
            fill_values(&host[static_cast<size_t>(r) * stride], shape.columns, s.values, &random);
        for (int i = 0; i < copies; i++)
            check(tle_copy(handle, scores.at(copy_bytes * static_cast<size_t>(i)), host.data(),
                           copy_bytes));
        ReferenceTopk reference = {};
        reference.scores = host.data();
        reference.rows = shape.rows;
        reference.columns = shape.columns;
        reference.row_stride = static_cast<int64_t>(stride);
        reference.k = reference.index_row_stride = shape.k;
        reference.indices = expected.data();
        if (!reference_topk(&reference))
            throw std::runtime_error("no memory for the reference");
    }

    void call(int copy, tle_stream stream) const {
        tle_topk_select_params p = params();
        p.scores = reinterpret_cast<const float *>(
            scores.at(copy_bytes * static_cast<size_t>(copy % copies)));
        check(tle_topk_select(handle, &p, workspace.at(0), workspace_size, stream));
    }

    // Overwrites the result, so that only a call can make it right again.
    void wipe() const {
        std::vector<int32_t> junk(expected.size(), INT32_MIN);
        check(tle_copy(handle, indices.at(0), junk.data(), index_bytes()));
        check(tle_synchronize(handle, nullptr)); // the copy may be on its way still
    }

    bool right() const {
        std::vector<int32_t> got(expected.size());
        check(tle_copy(handle, got.data(), indices.at(0), index_bytes()));
        return got == expected;
    }

    // Runs once; the kernel is loaded afterwards. Gives the variant's name.
    std::string first_call() const {
        std::string variant;
        check(tle_set_log(handle, TLE_LOG_DISPATCH, keep_variant, &variant));
        call(0, nullptr);
        check(tle_synchronize(handle, nullptr));
        check(tle_set_log(handle, 0, nullptr, nullptr));
        return variant;
    }

  private:
    size_t index_bytes() const {
        return static_cast<size_t>(shape.rows * shape.k) * sizeof(int32_t);
    }

    tle_topk_select_params params() const {
        tle_topk_select_params p = TLE_TOPK_SELECT_PARAMS_INIT;
        p.rows = shape.rows;
        p.columns = shape.columns;
        p.row_stride = static_cast<int64_t>(stride);
        p.k = p.index_row_stride = shape.k;
        p.scores = reinterpret_cast<const float *>(scores.at(0));
        p.indices = reinterpret_cast<int32_t *>(indices.at(0));
        return p;
    }

    size_t query_workspace() const {
        tle_topk_select_params p = params();
        size_t size = 0;
        check(tle_topk_select_workspace_size(handle, &p, &size));
        return size;
    }

    tle_handle handle;
    Shape shape;
    size_t stride, copy_bytes;
    int copies;
    Memory scores, indices;
    std::vector<int32_t> expected;
    size_t workspace_size;
    Memory workspace;
};

// What all benchmarks share.
struct Setup {
    Settings settings;
    tle_handle handle = nullptr;
    std::unique_ptr<bench::Replay> replay;
    std::unique_ptr<Case> current; // of the shape whose benchmarks run
    size_t current_index = SIZE_MAX;
    bench::Record record;

    ~Setup() {
        current.reset();
        replay.reset();
        tle_destroy(handle);
    }

    Case &at(size_t index) {
        if (current_index != index) {
            current.reset();
            current_index = SIZE_MAX;
            current = std::make_unique<Case>(handle, settings, settings.shapes[index]);
            current_index = index;
        }
        return *current;
    }
};

void run(benchmark::State &state, Setup &setup, size_t index, bool cold) {
    Case &c = setup.at(index);
    bench::Row &row = setup.record.rows[index];
    const Settings &s = setup.settings;
    std::vector<double> times;
    c.wipe();
    row.variant = c.first_call();
    bool correct = c.right();
    setup.replay->prepare(s.calls, [&](int i, tle_stream stream) { c.call(cold ? i : 0, stream); });
    setup.replay->pass(cold);
    c.wipe();
    for (auto _ : state) {
        times.push_back(setup.replay->pass(cold));
        state.SetIterationTime(times.back() * 1e-6);
    }
    row.correct = row.correct && correct && c.right();
    (cold ? row.us_cold : row.us_hot) = bench::median(times);
    row.spread = std::max(row.spread.value_or(0), bench::spread(times));
    state.SetLabel(row.variant);
    if (!row.correct)
        state.SkipWithError("the indices differ from the reference");
}

void run_guarded(benchmark::State &state, Setup &setup, size_t index, bool cold) {
    try {
        run(state, setup, index, cold);
    } catch (const std::exception &error) {
        setup.record.rows[index].correct = false;
        state.SkipWithError(error.what());
    }
}

void register_all(Setup &setup) {
    const Settings &s = setup.settings;
    for (size_t i = 0; i < s.shapes.size(); i++) {
        const Shape &shape = s.shapes[i];
        bench::Row row;
        row.op = "topk_select";
        row.shape = {{"rows", shape.rows}, {"len", shape.columns}, {"k", shape.k}};
        row.dtype = "fp32";
        row.impl = "libtle";
        row.version = tle_build_info();
        row.correct = true; // until a check fails
        row.floor_us = bench::read_floor_us(
            setup.record.device, static_cast<double>(shape.rows * shape.columns) * sizeof(float));
        setup.record.rows.push_back(row);
        for (bool cold : {false, true}) {
            if (cold && s.emulator)
                continue; // it has no caches
            std::string name = "topk_select/" + std::to_string(shape.rows) + "x" +
                               std::to_string(shape.columns) + "x" + std::to_string(shape.k) +
                               (cold ? "/cold" : "/hot");
            benchmark::RegisterBenchmark(
                name.c_str(),
                [&setup, i, cold](benchmark::State &state) { run_guarded(state, setup, i, cold); })
                ->UseManualTime()
                ->Iterations(s.passes)
                ->Unit(benchmark::kMicrosecond);
        }
    }
}

void open_device(Setup &setup) {
    tle_handle_options options = TLE_HANDLE_OPTIONS_INIT;
    tle_device_info info = {};
    bool emulator = setup.settings.emulator;
    setup.replay = emulator ? bench::replay_on_emulator() : bench::replay_on_gpu();
    options.device_kind = emulator ? TLE_DEVICE_EMU : TLE_DEVICE_CUDA;
    check(tle_create(&setup.handle, &options));
    info.struct_size = sizeof info;
    check(tle_handle_device(setup.handle, &info));
    setup.record.device = info.name;
    setup.record.driver = setup.replay->driver();
    setup.record.cuda = setup.replay->cuda();
    setup.record.commit = setup.settings.commit;
    setup.record.command = setup.settings.command;
}

std::vector<Shape> parse_shapes(const std::string &text) {
    std::vector<Shape> shapes;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
        Shape s = {};
        long long rows = 0, columns = 0, k = 0;
        int used = 0;
        if (std::sscanf(word.c_str(), "%lldx%lldx%lld%n", &rows, &columns, &k, &used) != 3 ||
            static_cast<size_t>(used) != word.size() || rows < 1 || columns < 1 || k < 1)
            throw std::invalid_argument("the shape '" + word +
                                        "' is not ROWSxCOLUMNSxK of positive numbers");
        s.rows = rows;
        s.columns = columns;
        s.k = k;
        shapes.push_back(s);
    }
    return shapes;
}

ValueKind parse_values(const std::string &name) {
    std::string known;
    for (int kind = 0; kind < VALUES_COUNT; kind++) {
        if (name == value_kind_name(static_cast<ValueKind>(kind)))
            return static_cast<ValueKind>(kind);
        known += std::string(" ") + value_kind_name(static_cast<ValueKind>(kind));
    }
    throw std::invalid_argument("there are no values '" + name + "'; known are" + known);
}

int parse_count(const char *name, const std::string &text) {
    size_t used = 0;
    int value = std::stoi(text, &used);
    if (used != text.size() || value < 1)
        throw std::invalid_argument("--" + std::string(name) + " is '" + text +
                                    "'; it must be at least 1");
    return value;
}

bool parse_device(const std::string &name) {
    if (name != "cuda" && name != "emu")
        throw std::invalid_argument("--device is '" + name + "'; known are cuda and emu");
    return name == "emu";
}

// Tiny shapes, once: shows that the program works.
void make_smoke(Settings &s) {
    s.shapes = parse_shapes("1x1x1,1x300x7,2x3000x512,1x9001x2048,3x5000x4096");
    s.calls = 2;
    s.passes = 1;
}

// argv without Google Benchmark's own flags, which are gone by now.
Settings parse(int argc, char **argv) {
    static const option options[] = {{"device", required_argument, nullptr, 'd'},
                                     {"shapes", required_argument, nullptr, 's'},
                                     {"values", required_argument, nullptr, 'v'},
                                     {"calls", required_argument, nullptr, 'c'},
                                     {"passes", required_argument, nullptr, 'p'},
                                     {"out", required_argument, nullptr, 'o'},
                                     {"commit", required_argument, nullptr, 'm'},
                                     {"smoke", no_argument, nullptr, 't'},
                                     {nullptr, 0, nullptr, 0}};
    Settings s;
    s.shapes = parse_shapes("1x4096x2048,1x16384x2048,1x65536x2048,1x131072x2048,1x262144x2048,"
                            "1x1048576x2048,8x131072x2048,64x4096x2048,64x131072x2048,"
                            "256x4096x2048,256x16384x2048,256x131072x2048");
    for (int c; (c = getopt_long(argc, argv, "", options, nullptr)) != -1;) {
        if (c == 'd')
            s.emulator = parse_device(optarg);
        else if (c == 's')
            s.shapes = parse_shapes(optarg);
        else if (c == 'v')
            s.values = parse_values(optarg);
        else if (c == 'c')
            s.calls = parse_count("calls", optarg);
        else if (c == 'p')
            s.passes = parse_count("passes", optarg);
        else if (c == 'o')
            s.out = optarg;
        else if (c == 'm')
            s.commit = optarg;
        else if (c == 't')
            make_smoke(s);
        else
            throw std::invalid_argument(
                "options: --device --shapes --values --calls --passes --smoke "
                "--out --commit --benchmark_...");
    }
    if (optind != argc)
        throw std::invalid_argument(std::string("unexpected argument '") + argv[optind] + "'");
    return s;
}

std::string command_line(int argc, char **argv) {
    const char *slash = std::strrchr(argv[0], '/');
    std::string line = slash ? slash + 1 : argv[0];
    for (int i = 1; i < argc; i++)
        line += std::string(" ") + argv[i];
    return line;
}

// Those that --benchmark_filter left out.
void drop_rows_not_run(bench::Record &record) {
    std::vector<bench::Row> &rows = record.rows;
    auto not_run = [](const bench::Row &row) { return row.correct && !row.us_hot && !row.us_cold; };
    rows.erase(std::remove_if(rows.begin(), rows.end(), not_run), rows.end());
}

} // namespace

int main(int argc, char **argv) try {
    Setup setup;
    std::string command = command_line(argc, argv);
    benchmark::Initialize(&argc, argv);
    setup.settings = parse(argc, argv);
    setup.settings.command = command;
    open_device(setup);
    register_all(setup);
    benchmark::RunSpecifiedBenchmarks();
    drop_rows_not_run(setup.record);
    if (!setup.settings.out.empty())
        bench::write_record(setup.settings.out, setup.record);
    const std::vector<bench::Row> &rows = setup.record.rows;
    return !std::all_of(rows.begin(), rows.end(),
                        [](const bench::Row &row) { return row.correct; });
} catch (const std::exception &error) {
    std::fprintf(stderr, "topk_bench: %s\n", error.what());
    return 2;
}

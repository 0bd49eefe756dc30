#include "support/harness.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstring>
#include <getopt.h>
#include <sstream>
#include <stdexcept>

namespace bench {
namespace {

// Copies beyond this many bytes are reused: the first has left the cache by then.
constexpr size_t ring_bytes = size_t{256} << 20;

int copies_of(size_t bytes, int calls) {
    return static_cast<int>(
        std::min(static_cast<size_t>(calls), ring_bytes / std::max(bytes, size_t{1}) + 2));
}

// Keeps the variant's name, the eighth field of a dispatch line.
void keep_variant(uint32_t flag, const char *line, void *user) {
    std::istringstream fields(line);
    std::string field;
    for (int i = 0; i < 8; i++)
        std::getline(fields, field, ',');
    if (flag == TLE_LOG_DISPATCH)
        *static_cast<std::string *>(user) = field;
}

// What all benchmarks share.
struct Setup {
    const Operator &op;
    Settings settings;
    tle_handle handle = nullptr;
    std::unique_ptr<Replay> replay;
    std::unique_ptr<Case> current; // of the shape whose benchmarks run
    size_t current_index = SIZE_MAX;
    Record record;

    ~Setup() {
        current.reset();
        replay.reset();
        tle_destroy(handle);
    }

    Case &at(size_t index) {
        if (current_index != index) {
            current.reset();
            current_index = SIZE_MAX;
            current = op.make(handle, settings, settings.shapes[index]);
            current_index = index;
        }
        return *current;
    }
};

// Runs once; the kernel is loaded afterwards. Gives the variant's name.
std::string first_call(tle_handle handle, const Case &c) {
    std::string variant;
    check(tle_set_log(handle, TLE_LOG_DISPATCH, keep_variant, &variant));
    c.call(0, nullptr);
    check(tle_synchronize(handle, nullptr));
    check(tle_set_log(handle, 0, nullptr, nullptr));
    return variant;
}

void run(benchmark::State &state, Setup &setup, size_t index, bool cold) {
    Case &c = setup.at(index);
    Row &row = setup.record.rows[index];
    const Settings &s = setup.settings;
    std::vector<double> times;
    c.wipe();
    row.variant = first_call(setup.handle, c);
    bool correct = c.right();
    setup.replay->prepare(s.calls, [&](int i, tle_stream stream) { c.call(cold ? i : 0, stream); });
    setup.replay->pass(cold);
    c.wipe();
    for (auto _ : state) {
        times.push_back(setup.replay->pass(cold));
        state.SetIterationTime(times.back() * 1e-6);
    }
    row.correct = row.correct && correct && c.right();
    (cold ? row.us_cold : row.us_hot) = median(times);
    row.spread = std::max(row.spread.value_or(0), spread(times));
    state.SetLabel(row.variant);
    if (!row.correct)
        state.SkipWithError("the result differs from the reference");
}

void run_guarded(benchmark::State &state, Setup &setup, size_t index, bool cold) {
    try {
        run(state, setup, index, cold);
    } catch (const std::exception &error) {
        setup.record.rows[index].correct = false;
        state.SkipWithError(error.what());
    }
}

std::string text_of(const Shape &shape) {
    std::string text = std::to_string(shape.rows) + "x" + std::to_string(shape.columns) + "x" +
                       std::to_string(shape.k);
    for (const std::string &word : shape.form)
        text += ":" + word;
    return text;
}

void register_all(Setup &setup) {
    const Settings &s = setup.settings;
    for (size_t i = 0; i < s.shapes.size(); i++) {
        const Shape &shape = s.shapes[i];
        Row row;
        Label label = setup.op.label(shape);
        row.op = setup.op.name;
        row.shape = {{"rows", shape.rows}, {"len", shape.columns}, {"k", shape.k}};
        row.shape.insert(row.shape.end(), label.extra.begin(), label.extra.end());
        row.dtype = label.dtype;
        row.impl = "libtle";
        row.version = tle_build_info();
        row.correct = true; // until a check fails
        row.floor_us =
            read_floor_us(setup.record.device, static_cast<double>(shape.rows * shape.columns) *
                                                   static_cast<double>(label.element_bytes));
        setup.record.rows.push_back(row);
        for (bool cold : {false, true}) {
            if (cold && s.emulator)
                continue; // it has no caches
            std::string name =
                std::string(setup.op.name) + "/" + text_of(shape) + (cold ? "/cold" : "/hot");
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
    setup.replay = emulator ? replay_on_emulator() : replay_on_gpu();
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

Shape parse_shape(const std::string &text) {
    std::istringstream words(text);
    std::string numbers;
    std::getline(words, numbers, ':');
    Shape s = {};
    long long rows = 0, columns = 0, k = 0;
    int used = 0;
    if (std::sscanf(numbers.c_str(), "%lldx%lldx%lld%n", &rows, &columns, &k, &used) != 3 ||
        static_cast<size_t>(used) != numbers.size() || rows < 1 || columns < 1 || k < 1)
        throw std::invalid_argument("the shape '" + text +
                                    "' does not begin with ROWSxCOLUMNSxK of positive numbers");
    s.rows = rows;
    s.columns = columns;
    s.k = k;
    for (std::string word; std::getline(words, word, ':');)
        s.form.push_back(word);
    return s;
}

std::vector<Shape> parse_shapes(const std::string &text) {
    std::vector<Shape> shapes;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');)
        shapes.push_back(parse_shape(word));
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
void make_smoke(const Operator &op, Settings &s) {
    s.shapes = parse_shapes(op.smoke_shapes);
    s.calls = 2;
    s.passes = 1;
}

// argv without Google Benchmark's own flags, which are gone by now.
Settings parse(const Operator &op, int argc, char **argv) {
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
    s.shapes = parse_shapes(op.shapes);
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
            make_smoke(op, s);
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
void drop_rows_not_run(Record &record) {
    std::vector<Row> &rows = record.rows;
    auto not_run = [](const Row &row) { return row.correct && !row.us_hot && !row.us_cold; };
    rows.erase(std::remove_if(rows.begin(), rows.end(), not_run), rows.end());
}

} // namespace

Memory::Memory(tle_handle handle, size_t bytes) : owner(handle) {
    if (bytes)
        check(tle_alloc(handle, bytes, &address));
}

Memory::~Memory() {
    tle_free(owner, address);
}

Ring::Ring(tle_handle handle, const std::vector<char> &input, int calls)
    : bytes(input.size()), copies(copies_of(input.size(), calls)),
      memory(handle, bytes * static_cast<size_t>(copies)) {
    for (int i = 0; i < copies && bytes; i++)
        check(tle_copy(handle, memory.at(bytes * static_cast<size_t>(i)), input.data(), bytes));
}

void Output::wipe() {
    if (host.empty())
        return;
    std::fill(host.begin(), host.end(), '\x5a');
    check(tle_copy(handle, memory.at(0), host.data(), host.size()));
    check(tle_synchronize(handle, nullptr)); // the copy may be on its way still
}

bool Output::right() {
    if (host.empty())
        return true;
    check(tle_copy(handle, host.data(), memory.at(0), host.size()));
    return host == expected;
}

int benchmark_operator(const Operator &op, int argc, char **argv) try {
    Setup setup{op, {}, nullptr, nullptr, nullptr, SIZE_MAX, {}};
    std::string command = command_line(argc, argv);
    benchmark::Initialize(&argc, argv);
    setup.settings = parse(op, argc, argv);
    setup.settings.command = command;
    open_device(setup);
    register_all(setup);
    benchmark::RunSpecifiedBenchmarks();
    drop_rows_not_run(setup.record);
    if (!setup.settings.out.empty())
        write_record(setup.settings.out, setup.record);
    const std::vector<Row> &rows = setup.record.rows;
    return !std::all_of(rows.begin(), rows.end(), [](const Row &row) { return row.correct; });
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s: %s\n", op.name, error.what());
    return 2;
}

} // namespace bench

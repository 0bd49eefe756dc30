#include "support/replay.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <regex>
#include <stdexcept>

extern "C" {
#include "cli/driver.h"
}

namespace bench {

void check(tle_status status) {
    if (status != TLE_STATUS_OK)
        throw std::runtime_error(tle_last_error());
}

namespace {

// More than any GPU's L2 cache.
constexpr size_t flush_bytes = size_t{256} << 20;

class GpuReplay final : public Replay {
  public:
    GpuReplay() {
        char why[200];
        if (!driver_open(&d, 0, why, sizeof why))
            throw std::runtime_error(why);
        sure(d.stream_create(&stream, 1), "cuStreamCreate");
        sure(d.event_create(&begin, 0), "cuEventCreate");
        sure(d.event_create(&end, 0), "cuEventCreate");
        sure(d.memory_alloc(&flush, flush_bytes), "cuMemAlloc");
    }

    ~GpuReplay() override {
        drop_graph();
        d.memory_free(flush);
        d.event_destroy(begin);
        d.event_destroy(end);
        d.stream_destroy(stream);
    }

    void prepare(int wanted, const Call &call) override {
        void *graph = nullptr;
        drop_graph();
        calls = wanted;
        sure(d.begin_capture(stream, 1), "cuStreamBeginCapture");
        for (int i = 0; i < calls; i++)
            call(i, stream);
        sure(d.end_capture(stream, &graph), "cuStreamEndCapture");
        int code = d.instantiate(&exec, graph, 0);
        d.graph_destroy(graph);
        sure(code, "cuGraphInstantiate");
    }

    double pass(bool cold) override {
        float milliseconds = 0;
        if (cold)
            sure(d.memory_set(flush, 1, flush_bytes, stream), "cuMemsetD8Async");
        sure(d.event_record(begin, stream), "cuEventRecord");
        sure(d.graph_launch(exec, stream), "cuGraphLaunch");
        sure(d.event_record(end, stream), "cuEventRecord");
        sure(d.event_synchronize(end), "cuEventSynchronize");
        sure(d.event_elapsed(&milliseconds, begin, end), "cuEventElapsedTime");
        return double{milliseconds} * 1e3 / calls;
    }

    // The driver API does not tell its own version; the kernel module does.
    std::string driver() const override {
        std::ifstream file("/proc/driver/nvidia/version");
        std::string line;
        std::smatch found;
        std::getline(file, line);
        std::regex_search(line, found, std::regex(R"(\s(\d+\.\d+(\.\d+)?)\s)"));
        return found.str(1);
    }

    std::string cuda() const override {
        int version = 0;
        sure(d.version(&version), "cuDriverGetVersion");
        return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
    }

  private:
    static void sure(int code, const char *what) {
        if (code)
            throw std::runtime_error(std::string(what) + " failed: error " + std::to_string(code));
    }

    void drop_graph() {
        if (exec)
            d.exec_destroy(exec);
        exec = nullptr;
    }

    Driver d;
    int calls = 0;
    unsigned long long flush = 0;
    void *stream = nullptr, *begin = nullptr, *end = nullptr, *exec = nullptr;
};

class EmulatorReplay final : public Replay {
  public:
    void prepare(int wanted, const Call &made) override {
        calls = wanted;
        call = made;
    }

    double pass(bool) override {
        auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < calls; i++)
            call(i, nullptr);
        std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
        return time.count() / calls;
    }

    std::string driver() const override {
        return "";
    }

    std::string cuda() const override {
        return "";
    }

  private:
    int calls = 0;
    Call call;
};

} // namespace

std::unique_ptr<Replay> replay_on_gpu() {
    return std::make_unique<GpuReplay>();
}

std::unique_ptr<Replay> replay_on_emulator() {
    return std::make_unique<EmulatorReplay>();
}

} // namespace bench

// What the benchmarks of operators share: their command line, their timing, and the check of every
// result that is timed.
//
//   <op>_bench [--device=cuda|emu] [--shapes=1x131072x2048,...] [--values=normal] [--calls=16]
//              [--passes=30] [--smoke] [--out=results.json] [--commit=...] [--benchmark_...]
//
// A shape is rows x columns x k, and behind colons what else an operator knows of a call. Each is
// two benchmarks. Hot: every call reads the same input. Cold: the calls of a pass read different
// copies, together or by a flush before the pass driven out of the L2 cache. The time is the mean
// over the calls of a pass, the figure recorded the median over passes.
#ifndef BENCH_SUPPORT_HARNESS_H
#define BENCH_SUPPORT_HARNESS_H

#include "support/record.h"
#include "support/replay.h"

#include <cstdint>
#include <memory>
#include <string>
#include <tle/tle.h>
#include <vector>

extern "C" {
#include "kernels/support/values.h"
}

namespace bench {

struct Shape {
    int64_t rows, columns, k;
    std::vector<std::string> form; // the words behind the colons
};

// Device memory of one handle.
class Memory {
  public:
    Memory(tle_handle handle, size_t bytes);
    ~Memory();
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    char *at(size_t offset) const {
        return static_cast<char *>(address) + offset;
    }

  private:
    tle_handle owner;
    void *address = nullptr;
};

// Copies of one input on the device, enough that the first has left the cache when it comes again.
class Ring {
  public:
    Ring(tle_handle handle, const std::vector<char> &input, int calls);
    const void *copy(int i) const {
        return memory.at(bytes * static_cast<size_t>(i % copies));
    }

  private:
    size_t bytes;
    int copies;
    Memory memory;
};

// Device memory that a call writes, and what it shall write there.
class Output {
  public:
    Output(tle_handle of, size_t bytes)
        : handle(of), memory(of, bytes), host(bytes), expected(bytes) {
    }
    void *device() const {
        return memory.at(0);
    }
    char *reference() {
        return expected.data();
    }
    // Overwrites the result, so that only a call can make it right again.
    void wipe();
    bool right();

  private:
    tle_handle handle;
    Memory memory;
    std::vector<char> host, expected;
};

// One shape with its inputs and the right answer; lives while its two benchmarks run.
class Case {
  public:
    virtual ~Case() = default;
    virtual void call(int copy, tle_stream stream) const = 0;
    virtual void wipe() = 0;
    virtual bool right() = 0;
};

struct Settings {
    bool emulator = false;
    std::vector<Shape> shapes;
    ValueKind values = VALUES_NORMAL;
    int calls = 16, passes = 30;
    std::string out, commit, command;
};

// What a record says of a shape.
struct Label {
    std::string dtype;
    size_t element_bytes;                               // read of every element of a row
    std::vector<std::pair<std::string, int64_t>> extra; // besides rows, len and k
};

struct Operator {
    const char *name, *shapes, *smoke_shapes;
    // Throws std::invalid_argument for a form that the operator does not know.
    Label (*label)(const Shape &shape);
    std::unique_ptr<Case> (*make)(tle_handle handle, const Settings &settings, const Shape &shape);
};

// The program; returns its exit status.
int benchmark_operator(const Operator &op, int argc, char **argv);

} // namespace bench

#endif

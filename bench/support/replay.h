// Times one operator's calls on a device.
//
// On a GPU the calls of one measurement are captured into a CUDA graph; a pass is one replay
// between two events, so the host's time to launch is not in it. On the emulator a pass makes the
// calls, and its time is the CPU's: good for checking the program, not a figure of a GPU.
#ifndef BENCH_SUPPORT_REPLAY_H
#define BENCH_SUPPORT_REPLAY_H

#include <functional>
#include <memory>
#include <string>

#include <tle/tle.h>

namespace bench {

// Enqueues the i-th call in the stream; throws what check() throws.
using Call = std::function<void(int i, tle_stream stream)>;

class Replay {
  public:
    virtual ~Replay() = default;
    // Makes `calls` calls ready to be timed; they must have run once, so that nothing loads now.
    virtual void prepare(int calls, const Call &call) = 0;
    // Microseconds of one call in one pass. `cold`: the L2 cache is overwritten first, outside the
    // time.
    virtual double pass(bool cold) = 0;
    // What the record says of the machine: the driver's version, the CUDA version it offers; "" on
    // the emulator.
    virtual std::string driver() const = 0;
    virtual std::string cuda() const = 0;
};

std::unique_ptr<Replay> replay_on_gpu();
std::unique_ptr<Replay> replay_on_emulator();

// Throws std::runtime_error with the library's sentence unless the status is OK.
void check(tle_status status);

} // namespace bench

#endif

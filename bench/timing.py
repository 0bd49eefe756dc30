"""Times calls by replaying CUDA graphs of them.

A pass is one replay between two events, of as many calls as fill PASS_US, at most CALLS; the figure is the median over
passes, divided by the calls. Hot: every call reads the same scores. Cold: the calls read different copies, after
something larger than the L2 cache was read.
"""
import dataclasses
import statistics

import torch

CALLS, PASS_US = 16, 1000
LEAST_PASSES, MOST_PASSES, BUDGET_US = 5, 15, 3000
FLUSH_BYTES = 256 << 20


@dataclasses.dataclass
class Times:
    hot: float
    cold: float  # None where it was not asked for
    spread: float  # (90th percentile - 10th) / median of the hot passes


class Timer:
    def __init__(self):
        self.stream = torch.cuda.Stream()
        self.memory = torch.cuda.graph_pool_handle()
        self.flush = torch.ones(FLUSH_BYTES // 4, dtype=torch.int32, device="cuda")
        self.sink = torch.empty((), dtype=torch.int64, device="cuda")
        self.anchor = self.graph([self.sink.zero_])  # the pool ends with its last graph

    def graph(self, calls):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.stream(self.stream):
            graph.capture_begin(pool=self.memory)
            try:
                for call in calls:
                    call()
            finally:
                graph.capture_end()
        return graph

    def passes(self, graph, count, cold):
        """Microseconds of each of `count` replays, all enqueued before the first is waited for."""
        events = []
        with torch.cuda.stream(self.stream):
            for _ in range(count):
                if cold:
                    torch.sum(self.flush, dim=0, dtype=torch.int64, out=self.sink)
                events.append([torch.cuda.Event(enable_timing=True) for _ in "be"])
                events[-1][0].record()
                graph.replay()
                events[-1][1].record()
        self.stream.synchronize()
        return [begin.elapsed_time(end) * 1e3 for begin, end in events]

    def once(self, call):
        """Microseconds of one call that has run before, roughly: not of a graph, so no less than its launch."""
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in "be")
        with torch.cuda.stream(self.stream):
            begin.record()
            call()
            end.record()
        self.stream.synchronize()
        return begin.elapsed_time(end) * 1e3

    def median(self, graph, calls, cold):
        first = self.passes(graph, 2, cold)[1]
        count = int(min(MOST_PASSES, max(LEAST_PASSES, BUDGET_US / max(first, 1))))
        times = sorted(self.passes(graph, count, cold))
        middle = statistics.median(times)
        spread = (times[int(0.9 * count)] - times[int(0.1 * count)]) / middle
        return middle / calls, spread

    def measure(self, call, copies, check=lambda: None, with_cold=True):
        """`call` takes scores; `check` is asked after replays whose last call took copies[0]."""
        torch.cuda.synchronize()
        with torch.cuda.stream(self.stream):
            call(copies[0])
        self.stream.synchronize()
        calls = int(min(CALLS, max(2, PASS_US / self.once(lambda: call(copies[0])))))
        graph = self.graph([lambda: call(copies[0])] * calls)
        hot, spread = self.median(graph, calls, cold=False)
        check()
        if not with_cold:
            return Times(hot, None, spread)
        order = [copies[i % len(copies)] for i in reversed(range(calls))]
        graph = self.graph([lambda scores=scores: call(scores) for scores in order])
        cold, _ = self.median(graph, calls, cold=True)
        check()
        return Times(hot, cold, spread)

"""The best of ragged rows by NumPy, on the emulator: no GPU, no torch."""
import numpy as np
import tle

scores = np.random.default_rng(0).standard_normal((4, 5000)).astype(np.float32)
lengths = np.array([5000, 100, 8, 3], np.int32)

with tle.Handle("emu") as handle:
    indices = tle.topk_select(scores, 8, lengths=lengths, handle=handle)
    print(handle.explain("topk_select", rows=4, columns=5000, k=8, lengths=True))

for row, length, chosen in zip(scores, lengths, indices):
    best = np.sort(np.argsort(-row[:length], kind="stable")[:8])
    assert (chosen[:len(best)] == best).all() and (chosen[len(best):] == -1).all()
    print(chosen)

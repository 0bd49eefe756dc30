"""Is a result the k largest? And which kinds of scores an implementation gets right.

The reference is a threshold with its proof: fewer than k scores lie above it and at least k at it or above.
"""
import dataclasses

import torch

import scores as score_kinds

PADDING = -1


@dataclasses.dataclass
class Reference:
    values: torch.Tensor   # [rows, k], descending
    indices: torch.Tensor  # [rows, k], ascending; ties to the smallest


def exact(scores, k, with_indices=True):
    """Of full rows without NaN."""
    values = torch.topk(scores, k, dim=1).values
    last = values[:, -1:]
    above, tied = scores > last, scores == last
    room = k - above.sum(dim=1, keepdim=True)
    assert bool((room > 0).all()) and bool((room <= tied.sum(dim=1, keepdim=True)).all()), "torch.topk is wrong"
    if not with_indices:
        return Reference(values, None)
    chosen = above | (tied & (tied.cumsum(dim=1, dtype=torch.int32) <= room))
    return Reference(values, chosen.nonzero()[:, 1].reshape(-1, k).int())


def is_set(scores, found, values):
    """Distinct indices within the row whose scores are the k largest."""
    found = found.long()
    inside = (found >= 0) & (found < scores.shape[1])
    if not bool(inside.all()):
        return False
    distinct = (found.sort(dim=1).values.diff(dim=1) > 0).all()
    return bool(distinct) and bool((scores.gather(1, found).sort(dim=1, descending=True).values == values).all())


def is_right(impl, scores, reference):
    found = impl.indices()
    if impl.ordered:
        return bool((found == reference.indices).all())
    return is_set(scores, found, reference.values)


def is_right_ragged(impl, scores, lengths, k):
    for row, length in enumerate(lengths.tolist()):
        found, count = impl.indices()[row:row + 1], min(length, k)
        if not bool((found[:, count:] == PADDING).all()):
            return False
        own = scores[row:row + 1, :length]
        if count and not is_set(own, found[:, :count], torch.topk(own, count, dim=1).values):
            return False
    return True


# (rows, columns, k): one CTA, many rows, and one long row of every library.
SHAPES = [(4, 8192, 512), (64, 16384, 2048), (3, 131072, 2048), (1, 1048576, 1024)]


def judge(impl, scores, lengths, k, keys=None):
    if not impl.prepare(scores, lengths, k):
        return None
    impl.call(scores)
    impl.indices().fill_(-7)
    impl.call(scores)
    torch.cuda.synchronize()
    if bool((lengths == scores.shape[1]).all()):
        keys = scores if keys is None else keys
        return is_right(impl, keys, exact(keys, k))
    return is_right_ragged(impl, scores, lengths, k)


def ragged_lengths(rows, columns, k):
    odd = [columns, 0, 1, k - 1, k, k + 1, columns - 1, columns // 2]
    return torch.tensor([odd[i % len(odd)] for i in range(rows)], dtype=torch.int32, device="cuda")


def layouts(impl, rows, columns, k):
    """(name, scores, lengths) of the kinds that are about rows rather than about values."""
    full = torch.full((rows,), columns, dtype=torch.int32, device="cuda")
    wide = torch.randn(rows, columns + 64, device="cuda")
    yield "wider stride", wide[:, :columns], full
    yield "odd stride", torch.randn(rows, columns + 1, device="cuda")[:, 1:], full
    if impl.ragged:
        yield "ragged", torch.randn(rows, columns, device="cuda"), ragged_lengths(rows, columns, k)


def cases(impl, rows, columns, k):
    """What an implementation may be asked for; of NaN only those that promise an order say what becomes of it."""
    full = torch.full((rows,), columns, dtype=torch.int32, device="cuda")
    for kind, make in (score_kinds.KINDS if impl.ordered else score_kinds.CHECKS).items():
        yield kind, make(rows, columns), full
    yield from layouts(impl, rows, columns, k)


def verdicts(impl):
    """{kind: "right", "wrong" or "not taken"}, over SHAPES: wrong if anywhere, not taken if nowhere."""
    found = {}
    for shape in SHAPES:
        torch.manual_seed(sum(shape))
        for kind, scores, lengths in cases(impl, *shape):
            keys = score_kinds.ordered(scores) if kind in score_kinds.NAN else None
            right = judge(impl, scores, lengths, shape[2], keys)
            if right is False or kind not in found or found[kind] == "not taken":
                found[kind] = {None: "not taken", True: "right", False: "wrong"}[right]
    return found

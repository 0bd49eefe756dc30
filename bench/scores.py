"""Kinds of scores that selections are timed and checked on, made on the GPU by torch.

SAMPLED are rows that mislead the samples which libtle's bodies for long rows take.

Makers of TIMED take the number of elements and give them flat, so that a shape and all its copies are views of one
pool. Those of CHECKS take rows and columns: they are for checking, and for what odd rows cost. NAN are kinds with NaN,
which peers need not know what to do with.
"""
import sampled
import torch

CHUNK = 1 << 24  # elements made at once
K = 2048  # that misleading rows are made for


def normal(count):
    return torch.randn(count, device="cuda")


def narrow(count):
    return 7 + 0.01 * torch.rand(count, device="cuda")


def relu(count):
    return torch.relu(normal(count) - 0.5)


def lognormal(count):
    return normal(count).exp_()


def smooth(count):
    """Moving averages of 64 normal values."""
    return torch.nn.functional.avg_pool1d(torch.randn(1, 1, count + 63, device="cuda"), 64, 1).reshape(count)


TIMED = {"randn": normal, "narrow": narrow, "relu": relu, "lognormal": lognormal, "smooth": smooth}


def pool(kind, count, seed=1):
    torch.manual_seed(seed)
    out = torch.empty(count, device="cuda")
    for begin in range(0, count, CHUNK):
        out[begin:begin + CHUNK] = TIMED[kind](min(CHUNK, count - begin))
    return out


def with_infinities(rows, columns):
    scores, draw = torch.randn(rows, columns, device="cuda"), torch.rand(rows, columns, device="cuda")
    scores[draw < 0.005] = float("inf")
    scores[draw > 0.9] = float("-inf")
    return scores


def mostly_masked(rows, columns):
    scores = torch.randn(rows, columns, device="cuda")
    scores[:, columns // 16:] = float("-inf")
    return scores


def one_block(rows, columns):
    scores = torch.randn(rows, columns, device="cuda")
    scores[:, -min(3000, columns):] += 10
    return scores


def sampled_places(rows, columns):
    """Which columns libtle's bodies for long rows look at first (kernels_tle/topk: load_sample of long.py and sample_run
    of cluster_mark.py): runs at places drawn by a hash, and blocks at equal distances."""
    chosen = torch.zeros(columns, dtype=torch.bool, device="cuda")
    run, folds = (8, 1) if columns <= 1 << 17 else (32, min((columns + (1 << 17) - 1) >> 17, 8))
    hashed = torch.arange(4096 // run * folds, device="cuda") * 0x9E3779B1 % (1 << 32) * max(columns - (run - 1), 1) >> 32
    blocks = [(hashed // 8 * 8, run)]
    count, width = sampled.spread_blocks(rows, columns, K)
    if count:
        blocks.append((torch.arange(count, device="cuda") * (columns // count) // width * width, width))
    for begins, width in blocks:
        places = (begins[:, None] + torch.arange(width, device="cuda")).reshape(-1)
        chosen[places[places < columns]] = True
    return chosen


def misleading(shift):
    """Where a sample is taken, all scores are higher or lower than anywhere else."""
    def make(rows, columns):
        scores = torch.randn(rows, columns, device="cuda")
        return torch.where(sampled_places(rows, columns), scores + shift, scores)
    return make


def signed_zeros(rows, columns):
    draw = torch.rand(rows, columns, device="cuda")
    return torch.where(draw < 0.003, draw, torch.where(draw < 0.5, 0.0, -0.0))


def nan_and_infinity(rows, columns):
    scores = torch.full((rows, columns), float("inf"), device="cuda")
    scores[:, ::2] = float("nan")
    return scores


def of_pool(kind):
    return lambda rows, columns: TIMED[kind](rows * columns).reshape(rows, columns)


def by(change):
    return lambda rows, columns: change(torch.randn(rows, columns, device="cuda"))


CHECKS = {
    **{kind: of_pool(kind) for kind in TIMED},
    "equal": by(lambda x: torch.full_like(x, 1.25)),
    "two values": by(lambda x: (x < 0).float()),
    "one bin": by(lambda x: 1 + x.abs().clamp(max=4) * 2.0 ** -20),
    "grid of 1/8": by(lambda x: (x * 8).round() / 8),
    "ascending": by(lambda x: x.sort(dim=1).values),
    "descending": by(lambda x: x.sort(dim=1, descending=True).values),
    "negative": by(lambda x: -x.abs() - 1),
    "huge": by(lambda x: x * 1e30),
    "subnormal": by(lambda x: x * 1e-40),
    "infinities": with_infinities,
    "mostly masked": mostly_masked,
    "one block": one_block,
    "signed zeros": signed_zeros,
}

SAMPLED = {"high sample": misleading(10), "low sample": misleading(-10)}
NAN = {"nan and infinity": nan_and_infinity}
KINDS = {**CHECKS, **SAMPLED, **NAN}
ODD = ["equal", "two values", "one bin", "grid of 1/8", "ascending", "descending", "infinities", "mostly masked",
       "one block", *SAMPLED, *NAN]  # what costs more than normal scores do


def copies_of(kind, rows, columns, most_bytes, most):
    """Up to `most` copies of scores of a kind that is made by rows and columns."""
    count = max(1, min(most, most_bytes // (4 * rows * columns)))
    torch.manual_seed(rows + columns)
    first = KINDS[kind](rows, columns)
    return [first] + [first.clone() for _ in range(count - 1)]


def ordered(scores):
    """Integers in the order of the scores: NaN of any sign greatest, -0 equal to +0."""
    bits = scores.contiguous().view(torch.int32)
    keys = torch.where(bits < 0, -(bits & 0x7fffffff), bits)
    return torch.where(scores.isnan(), 0x7fffffff, keys).int()

"""Kinds of scores that selections are timed and checked on, made on the GPU by torch.

A maker takes the number of elements and gives them flat, so that a shape and all its copies are views of one pool.
Those of CHECKS are for checking alone; they take rows and columns.
"""
import torch

CHUNK = 1 << 24  # elements made at once


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


def signed_zeros(rows, columns):
    draw = torch.rand(rows, columns, device="cuda")
    return torch.where(draw < 0.003, draw, torch.where(draw < 0.5, 0.0, -0.0))


def of_pool(kind):
    return lambda rows, columns: TIMED[kind](rows * columns).reshape(rows, columns)


def by(change):
    return lambda rows, columns: change(torch.randn(rows, columns, device="cuda"))


CHECKS = {
    **{kind: of_pool(kind) for kind in TIMED},
    "equal": by(lambda x: torch.full_like(x, 1.25)),
    "two values": by(lambda x: (x < 0).float()),
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

"""The operators as torch custom operators, for torch.compile and CUDA graphs.

torch.ops.tle.topk_select(scores, k, lengths, row_starts) -> indices
torch.ops.tle.topk_select_out(scores, k, out, lengths, row_starts) -> None, writes out

Importing this module registers them. They run tle.topk_select on the default handle of the tensor's
device, in torch's current stream; preload(device) before a capture keeps loading out of it.
"""
from typing import Optional

import torch
from torch import Tensor

from . import default_handle
from . import topk_select as _select

__all__ = ["preload", "topk_select", "topk_select_out"]


@torch.library.custom_op("tle::topk_select", mutates_args=())
def topk_select(scores: Tensor, k: int, lengths: Optional[Tensor] = None,
                row_starts: Optional[Tensor] = None) -> Tensor:
    """tle.topk_select with a new tensor of int32 indices as its result."""
    return _select(scores, k, lengths=lengths, row_starts=row_starts)


@topk_select.register_fake
def _(scores, k, lengths=None, row_starts=None):
    torch._check(scores.dim() in (1, 2), lambda: f"scores has {scores.dim()} dimensions; it must have 1 or 2")
    return scores.new_empty((*scores.shape[:-1], k), dtype=torch.int32)


@torch.library.custom_op("tle::topk_select_out", mutates_args=("out",))
def topk_select_out(scores: Tensor, k: int, out: Tensor, lengths: Optional[Tensor] = None,
                    row_starts: Optional[Tensor] = None) -> None:
    """tle.topk_select into a tensor of the caller's, whose rows may lie apart."""
    _select(scores, k, lengths=lengths, row_starts=row_starts, out=out)


@topk_select_out.register_fake
def _(scores, k, out, lengths=None, row_starts=None):
    return None


def preload(device=None):
    """Loads all kernels of the operators for a device, by default torch's current one."""
    default_handle(device if device is not None else "cuda").preload()

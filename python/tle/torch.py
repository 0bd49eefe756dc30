"""The operators as torch custom operators, for torch.compile and CUDA graphs.

torch.ops.tle.topk_select(scores, k, lengths, row_starts) -> indices
torch.ops.tle.topk_select_out(scores, k, out, lengths, row_starts) -> None, writes out
torch.ops.tle.radix_select(keys, k, lengths, largest, sorted) -> (indices, values)
torch.ops.tle.radix_select_payload(keys, payload, k, lengths, largest, sorted) -> (indices, values, payload)

Importing this module registers them. They run tle.topk_select and tle.radix_select on the default handle of
the tensor's device, in torch's current stream; preload(device) before a capture keeps loading out of it.
"""
from typing import Optional, Tuple

import torch
from torch import Tensor

from . import default_handle
from . import radix_select as _radix_select
from . import topk_select as _select

__all__ = ["preload", "radix_select", "radix_select_payload", "topk_select", "topk_select_out"]


def _like(tensor, name, k, dtype):
    """An empty result [rows, k] or [k] of a tensor [rows, columns] or [columns]."""
    torch._check(tensor.dim() in (1, 2), lambda: f"{name} has {tensor.dim()} dimensions; it must have 1 or 2")
    return tensor.new_empty((*tensor.shape[:-1], k), dtype=dtype)


@torch.library.custom_op("tle::topk_select", mutates_args=())
def topk_select(scores: Tensor, k: int, lengths: Optional[Tensor] = None,
                row_starts: Optional[Tensor] = None) -> Tensor:
    """tle.topk_select with a new tensor of int32 indices as its result."""
    return _select(scores, k, lengths=lengths, row_starts=row_starts)


@topk_select.register_fake
def _(scores, k, lengths=None, row_starts=None):
    return _like(scores, "scores", k, torch.int32)


@torch.library.custom_op("tle::topk_select_out", mutates_args=("out",))
def topk_select_out(scores: Tensor, k: int, out: Tensor, lengths: Optional[Tensor] = None,
                    row_starts: Optional[Tensor] = None) -> None:
    """tle.topk_select into a tensor of the caller's, whose rows may lie apart."""
    _select(scores, k, lengths=lengths, row_starts=row_starts, out=out)


@topk_select_out.register_fake
def _(scores, k, out, lengths=None, row_starts=None):
    return None


@torch.library.custom_op("tle::radix_select", mutates_args=())
def radix_select(keys: Tensor, k: int, lengths: Optional[Tensor] = None, largest: bool = True,
                 sorted: bool = False) -> Tuple[Tensor, Tensor]:
    """tle.radix_select with new tensors of int32 indices and of the keys chosen."""
    chosen = _radix_select(keys, k, lengths=lengths, largest=largest, sorted=sorted, values=True)
    return chosen.indices, chosen.values


@radix_select.register_fake
def _(keys, k, lengths=None, largest=True, sorted=False):
    return _like(keys, "keys", k, torch.int32), _like(keys, "keys", k, keys.dtype)


@torch.library.custom_op("tle::radix_select_payload", mutates_args=())
def radix_select_payload(keys: Tensor, payload: Tensor, k: int, lengths: Optional[Tensor] = None,
                         largest: bool = True, sorted: bool = False) -> Tuple[Tensor, Tensor, Tensor]:
    """The same with a payload of elements of 4 or 8 bytes that goes along with the keys."""
    return tuple(_radix_select(keys, k, lengths=lengths, largest=largest, sorted=sorted, values=True,
                               payload=payload))


@radix_select_payload.register_fake
def _(keys, payload, k, lengths=None, largest=True, sorted=False):
    return (_like(keys, "keys", k, torch.int32), _like(keys, "keys", k, keys.dtype),
            _like(keys, "keys", k, payload.dtype))


def preload(device=None):
    """Loads all kernels of the operators for a device, by default torch's current one."""
    default_handle(device if device is not None else "cuda").preload()

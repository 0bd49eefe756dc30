"""Sparse attention's selection by torch: eager, compiled, and replayed from a CUDA graph."""
import torch
import tle.torch

tle.torch.preload()  # so that nothing loads while a graph is captured
scores = torch.randn(8, 131072, device="cuda")
keys = torch.randn(131072, 128, device="cuda")


@torch.compile(fullgraph=True)
def best_keys(scores, keys):
    return keys[torch.ops.tle.topk_select(scores, 2048)]


order = torch.sort(scores, dim=1, descending=True, stable=True).indices[:, :2048].sort(dim=1).values
assert torch.equal(tle.topk_select(scores, 2048), order.int())
assert torch.equal(best_keys(scores, keys), keys[order])

graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    chosen = tle.topk_select(scores, 2048)
graph.replay()
assert torch.equal(chosen, order.int())
print(chosen.shape, chosen.dtype)

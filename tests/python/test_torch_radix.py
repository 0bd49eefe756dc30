"""tle.radix_select and its torch operators on a GPU: element types, payloads, compiled, captured."""
import pytest

import tle

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def torch():
    import torch
    import tle.torch
    tle.torch.preload()
    return torch


def keys(torch, dtype="float32", rows=4, columns=20000, seed=0):
    generator = torch.Generator(device="cuda").manual_seed(seed)
    x = torch.randn(rows, columns, device="cuda", generator=generator) * 1000
    return x.to(getattr(torch, dtype))


def expected(torch, x, k, largest=True, sorted=False):
    """(indices, values) by a stable sort, so that of equal keys the smallest index wins."""
    order = torch.sort(x, dim=-1, descending=largest, stable=True).indices[..., :k]
    order = order if sorted else torch.sort(order, dim=-1).values
    return order.to(torch.int32), torch.gather(x, -1, order)


def same(torch, got, want):
    return all(torch.equal(one, other) for one, other in zip(got, want))


@pytest.mark.parametrize("largest,sorted", [(True, False), (False, True)])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64", "int32", "int64"])
def test_eager(torch, dtype, largest, sorted):
    x = keys(torch, dtype)
    got = tle.radix_select(x, 700, largest=largest, sorted=sorted, values=True)
    assert got.values.dtype == x.dtype and got.values.device == x.device
    assert same(torch, got, expected(torch, x, 700, largest, sorted))
    assert torch.equal(tle.radix_select(x[0], 9), expected(torch, x[0], 9)[0])


@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_payload(torch, dtype):
    x = keys(torch, "bfloat16")
    payload = keys(torch, dtype, seed=1)
    got = tle.radix_select(x, 300, sorted=True, payload=payload)
    indices, _ = expected(torch, x, 300, sorted=True)
    assert torch.equal(got.payload, torch.gather(payload, 1, indices.long()))


def test_whole_rows(torch):
    x = keys(torch, "int64", 3, 8192)
    got = tle.radix_select(x, 8192, largest=False, sorted=True, values=True, out=False)
    assert got.indices is None and torch.equal(got.values, torch.sort(x, dim=1).values)


def test_opcheck(torch):
    x, lengths = keys(torch, columns=3000), torch.tensor([3000, 30, 0, 5], dtype=torch.int32, device="cuda")
    payload = torch.zeros(4, 3000, dtype=torch.int64, device="cuda")
    torch.library.opcheck(torch.ops.tle.radix_select.default, (x, 50, lengths, False, True))
    torch.library.opcheck(torch.ops.tle.radix_select_payload.default, (x, payload, 50, lengths))


@pytest.mark.parametrize("dynamic", [False, True])
def test_compile(torch, dynamic):
    @torch.compile(fullgraph=True, dynamic=dynamic)
    def route(x, experts, k):
        indices, values, chosen = torch.ops.tle.radix_select_payload(x, experts, k, None, True, True)
        return indices, torch.softmax(values, dim=1), chosen

    for columns in (256, 384):
        x = keys(torch, columns=columns)
        experts = torch.arange(columns, device="cuda").expand(4, columns) * 3
        indices, weights, chosen = route(x, experts, 8)
        want, values = expected(torch, x, 8, sorted=True)
        assert torch.equal(indices, want) and torch.equal(chosen, want.long() * 3)
        torch.testing.assert_close(weights, torch.softmax(values, dim=1))


@pytest.mark.parametrize("through", ["function", "operator"])
def test_capture(torch, through):
    x = keys(torch, columns=30000)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        got = tle.radix_select(x, 512, sorted=True, values=True)[:2] if through == "function" else \
            torch.ops.tle.radix_select(x, 512, None, True, True)
    for seed in (1, 2, 3):
        x.copy_(keys(torch, columns=30000, seed=seed))
        graph.replay()
        assert same(torch, got, expected(torch, x, 512, sorted=True))

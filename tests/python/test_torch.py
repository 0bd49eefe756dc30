"""Torch tensors and tle.torch, on a GPU: eager, compiled, captured, on several streams."""
import os
import subprocess
import sys

import pytest

import tle

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def torch():
    import torch
    import tle.torch
    tle.torch.preload()
    return torch


def scores(torch, rows=8, columns=20000, seed=0):
    generator = torch.Generator(device="cuda").manual_seed(seed)
    return torch.randn(rows, columns, device="cuda", generator=generator)


def expected(torch, x, k):
    """By a stable sort, so that of equal scores the smallest index wins."""
    order = torch.sort(x, dim=-1, descending=True, stable=True).indices[..., :k]
    return torch.sort(order, dim=-1).values.to(torch.int32)


def test_eager(torch):
    x = scores(torch)
    got = tle.topk_select(x, 2048)
    assert got.dtype == torch.int32 and got.device == x.device
    assert torch.equal(got, expected(torch, x, 2048))
    assert torch.equal(tle.topk_select(x[0], 100), expected(torch, x[0], 100))


def test_lengths_starts_and_out(torch):
    x = scores(torch, 3, 5000)
    lengths = torch.tensor([5000, 3, 1000], dtype=torch.int32, device="cuda")
    starts = torch.tensor([0, 7, 4500], dtype=torch.int32, device="cuda")
    out = torch.full((3, 32), -7, dtype=torch.int32, device="cuda")
    assert tle.topk_select(x, 20, lengths=lengths, row_starts=starts, out=out[:, 4:24]).data_ptr() == \
        out.data_ptr() + 16
    assert torch.equal(out[0, 4:24], expected(torch, x[0], 20))
    assert out[1, 4:24].tolist() == [0, 1, 2] + [-1] * 17
    assert torch.equal(out[2, 4:24], expected(torch, x[2, 4500:], 20))
    assert (out[:, :4] == -7).all() and (out[:, 24:] == -7).all()


def test_refusals(torch):
    x = scores(torch, 2, 100)
    with pytest.raises(tle.Error, match="lengths is on cpu; the handle's device takes cuda:0"):
        tle.topk_select(x, 4, lengths=torch.ones(2, dtype=torch.int32))
    with pytest.raises(tle.Error) as caught:
        tle.topk_select(x.double(), 4)
    assert caught.value.status is tle.Status.UNSUPPORTED_DTYPE
    with pytest.raises(tle.Error, match="stride 2 in its last dimension"):
        tle.topk_select(x[:, ::2], 4)
    with pytest.raises(tle.Error, match="scores is on meta"):
        tle.topk_select(x.to("meta"), 4)


@pytest.mark.parametrize("explicit", [True, False])
def test_streams(torch, explicit):
    """Work goes into the current stream, or into the one that was named: behind what it waits for."""
    stream = torch.cuda.Stream()
    x = torch.zeros(4, 100000, device="cuda")
    fresh = scores(torch, 4, 100000, seed=3)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)
        x.copy_(fresh)
        got = None if explicit else tle.topk_select(x, 512)
    if explicit:
        got = tle.topk_select(x, 512, stream=stream)
    stream.synchronize()
    assert torch.equal(got, expected(torch, fresh, 512))


def test_other_kinds_of_arrays(torch):
    class Plain:
        """DLPack alone, as another framework's array."""

        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack__(self, **words):
            return self.tensor.__dlpack__(**words)

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()
    x = scores(torch, 2, 3000)
    out = torch.empty(2, 50, dtype=torch.int32, device="cuda")
    tle.topk_select(Plain(x), 50, out=Plain(out))
    torch.cuda.synchronize()
    assert torch.equal(out, expected(torch, x, 50))


def test_opcheck(torch):
    x = scores(torch, 2, 3000)
    lengths = torch.tensor([3000, 30], dtype=torch.int32, device="cuda")
    out = torch.empty(2, 50, dtype=torch.int32, device="cuda")
    torch.library.opcheck(torch.ops.tle.topk_select.default, (x, 50, lengths))
    torch.library.opcheck(torch.ops.tle.topk_select_out.default, (x, 50, out, lengths))


@pytest.mark.parametrize("dynamic", [False, True])
def test_compile(torch, dynamic):
    @torch.compile(fullgraph=True, dynamic=dynamic)
    def gather_best(x, k):
        indices = torch.ops.tle.topk_select(x * 2, k)
        return torch.gather(x, 1, indices.long()).sum(dim=1), indices

    for columns in (4000, 6000):
        x = scores(torch, 4, columns)
        sums, indices = gather_best(x, 256)
        assert torch.equal(indices, expected(torch, x, 256))
        torch.testing.assert_close(sums, torch.gather(x, 1, indices.long()).sum(dim=1))


def test_compile_with_out(torch):
    @torch.compile(fullgraph=True)
    def into(x, out):
        torch.ops.tle.topk_select_out(x, 64, out)
        return out + 1

    x = scores(torch, 4, 4000)
    out = torch.empty(4, 64, dtype=torch.int32, device="cuda")
    after = into(x, out)
    assert torch.equal(out, expected(torch, x, 64)) and torch.equal(after, out + 1)


@pytest.mark.parametrize("through", ["function", "operator"])
def test_capture(torch, through):
    x = scores(torch, 4, 30000)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        got = tle.topk_select(x, 512) if through == "function" else torch.ops.tle.topk_select(x, 512)
    for seed in (1, 2, 3):
        x.copy_(scores(torch, 4, 30000, seed))
        graph.replay()
        assert torch.equal(got, expected(torch, x, 512))


def test_compiled_into_graphs(torch):
    @torch.compile(fullgraph=True, mode="reduce-overhead")
    def best(x):
        return torch.ops.tle.topk_select(x + 1, 128)

    for seed in range(5):
        x = scores(torch, 2, 8000, seed)
        assert torch.equal(best(x), expected(torch, x + 1, 128))


def test_strict_after_preload(torch):
    with tle.Handle("cuda", strict=True) as handle:
        x = scores(torch, 2, 3000)
        with pytest.raises(tle.Error) as caught:
            tle.topk_select(x, 8, handle=handle)
        assert caught.value.status is tle.Status.NOT_PRELOADED
        handle.preload()
        assert torch.equal(tle.topk_select(x, 8, handle=handle), expected(torch, x, 8))
        torch.cuda.synchronize()


def test_inputs_that_require_gradients(torch):
    x = scores(torch, 2, 3000).requires_grad_()
    got = torch.ops.tle.topk_select(x, 8)
    assert not got.requires_grad and torch.equal(got, expected(torch, x.detach(), 8))


def test_two_devices(torch):
    """The current device is neither asked nor changed."""
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one GPU")
    results = []
    for device in ("cuda:1", "cuda:0", "cuda:1"):
        x = scores(torch, 3, 9000).to(device)
        got = tle.topk_select(x, 300)
        assert got.device == x.device and torch.cuda.current_device() == 0
        assert torch.equal(got, expected(torch, x, 300))
        results.append(got.cpu())
    assert torch.equal(results[0], results[1])
    with pytest.raises(tle.Error, match="scores is on cuda:1; the handle's device takes cuda:0"):
        tle.topk_select(x, 8, handle=tle.default_handle("cuda:0"))


def test_import_leaves_torch_alone():
    code = "import sys, tle; tle.default_handle('cuda'); print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True,
                          env=os.environ).stdout.strip() == "False"

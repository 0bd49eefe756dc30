"""Shared by the Python tests: the package's folder on the path, an emulator handle, and what needs a GPU."""
import importlib.util
import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "python"))  # behind PYTHONPATH, which may name an installed wheel


def why_no_gpu():
    if importlib.util.find_spec("torch") is None:
        return "torch is not installed"
    import torch
    return None if torch.cuda.is_available() else "torch sees no GPU"


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu: needs torch and a GPU")


def pytest_collection_modifyitems(items):
    marked = [item for item in items if item.get_closest_marker("gpu")]
    reason = why_no_gpu() if marked else None
    for item in marked:
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def emu():
    import tle
    with tle.Handle("emu") as handle:
        yield handle


@pytest.fixture
def root():
    return ROOT


@pytest.fixture
def build():
    """The build tree, where ctest named one."""
    if "TLE_BUILD_DIR" not in os.environ:
        pytest.skip("TLE_BUILD_DIR names no build tree")
    return pathlib.Path(os.environ["TLE_BUILD_DIR"])

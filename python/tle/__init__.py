"""libtle: GPU operators for large language model inference.

Importing needs neither torch nor NumPy nor a GPU; the library is opened at the first call. docs/python.md
is the manual; tle.torch holds the operators as torch custom operators.
"""
from ._abi import VERSION, DeviceKind, DType, IndexBase, LaunchFlag, LogFlag, Part, SelectOrder, Status
from ._handle import (Device, Handle, Memory, Support, Variant, default_handle, device_count)
from ._library import Error, build_info, library_path, version
from ._radix_select import RadixSelection, radix_select
from ._topk_select import Selection, topk_select

__version__ = ".".join(map(str, VERSION))
__all__ = [
    "DType", "Device", "DeviceKind", "Error", "Handle", "IndexBase", "LaunchFlag", "LogFlag", "Memory", "Part",
    "RadixSelection", "SelectOrder", "Selection", "Status", "Support", "Variant", "build_info", "default_handle",
    "device_count", "library_path", "radix_select", "topk_select", "version",
]

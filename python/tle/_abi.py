"""The C interface as ctypes sees it: numbers, structs and functions of tle.h 0.1.

Nothing here opens the library. tests/python/test_abi.py compares every number, field and function
with what a C compiler makes of tle.h, so this file and the header cannot drift apart.
"""
import ctypes
import enum
import operator
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

VERSION = (0, 1, 0)
BUILD_ID_SIZE = 65


def number(value, bits=64):
    """A whole number for a signed field of so many bits. ctypes would wrap what lies beyond; here it becomes the
    field's limit, which the library refuses as too large."""
    least = -1 << bits - 1
    return max(least, min(operator.index(value), -1 - least))


class Status(enum.IntEnum):
    """tle_status."""
    OK = 0
    INVALID_ARGUMENT = 1
    UNSUPPORTED_SHAPE = 2
    UNSUPPORTED_DTYPE = 3
    UNSUPPORTED_ARCH = 4
    WORKSPACE_TOO_SMALL = 5
    NOT_PRELOADED = 6
    PACK_NOT_FOUND = 7
    PACK_VERSION = 8
    DRIVER_NOT_FOUND = 9
    DRIVER_TOO_OLD = 10
    DRIVER_ERROR = 11
    OUT_OF_MEMORY = 12
    INTERNAL = 13
    NO_DEVICE = 14
    NO_VARIANT = 15
    PACK_CORRUPT = 16
    TABLE_INVALID = 17
    EMULATOR_NOT_FOUND = 18
    EMULATOR_FAULT = 19
    CAPTURE_UNSUPPORTED = 20
    NOT_FOUND = 21


class DType(enum.IntEnum):
    """tle_dtype: DLPack's type code << 8 | bits."""
    INT32 = 0x020
    INT64 = 0x040
    UINT32 = 0x120
    UINT64 = 0x140
    FLOAT16 = 0x210
    FLOAT32 = 0x220
    FLOAT64 = 0x240
    BFLOAT16 = 0x410


class DeviceKind(enum.IntEnum):
    """tle_device_kind."""
    DEFAULT = 0
    CUDA = 1
    EMU = 2
    NONE = 3


class IndexBase(enum.IntEnum):
    """tle_index_base."""
    RELATIVE = 0
    ABSOLUTE = 1


class LaunchFlag(enum.IntFlag):
    """TLE_LAUNCH_*: how a call is launched."""
    DEPENDENT = 1


class SelectOrder(enum.IntEnum):
    """tle_select_order."""
    LARGEST = 0
    SMALLEST = 1


class LogFlag(enum.IntFlag):
    """TLE_LOG_*: what a handle logs."""
    ERROR = 1
    WARN = 2
    CHECK = 4
    DISPATCH = 8
    LOAD = 16
    PROFILE = 32
    ALL = 63


class Part(enum.IntEnum):
    """tle_variant_part."""
    META = 1
    PTX = 2
    TIR = 3
    CUBIN = 4


LOG_FN = ctypes.CFUNCTYPE(None, c_uint32, c_char_p, c_void_p)


class DeviceInfo(ctypes.Structure):
    C_NAME = "tle_device_info"
    _fields_ = [
        ("struct_size", c_size_t), ("kind", c_int32), ("ordinal", c_int32),
        ("name", ctypes.c_char * 128), ("arch", ctypes.c_char * 16), ("sm_count", c_int32),
        ("driver_version", c_int32), ("shared_bytes_per_block", c_int32), ("l2_bytes", c_int32),
        ("memory_bytes", c_uint64),
    ]


class HandleOptions(ctypes.Structure):
    C_NAME = "tle_handle_options"
    _fields_ = [
        ("struct_size", c_size_t), ("device_kind", c_int32), ("device_ordinal", c_int32),
        ("dispatch_overlay", c_char_p), ("arch", c_char_p), ("strict", c_int32),
        ("log_flags", c_uint32), ("log", LOG_FN), ("log_user", c_void_p), ("emu_checks", c_uint32),
        ("emu_threads", c_uint32),
    ]


class MemoryUsage(ctypes.Structure):
    C_NAME = "tle_memory_usage"
    _fields_ = [
        ("struct_size", c_size_t), ("loaded_variants", c_uint64), ("image_bytes", c_uint64),
        ("host_bytes", c_uint64), ("pack_bytes", c_uint64),
    ]


class VariantInfo(ctypes.Structure):
    C_NAME = "tle_variant_info"
    _fields_ = [
        ("struct_size", c_size_t), ("name", c_char_p), ("op", c_char_p), ("arch", c_char_p),
        ("threads", c_int32), ("cluster", c_int32 * 3), ("shared_bytes", c_int32),
        ("registers", c_int32), ("spill_bytes", c_int32), ("loaded", c_int32),
        ("disabled", c_int32),
    ]


class TopkSelectParams(ctypes.Structure):
    C_NAME = "tle_topk_select_params"
    _fields_ = [
        ("struct_size", c_size_t), ("dtype", c_int32), ("flags", c_uint32), ("rows", c_int64),
        ("columns", c_int64), ("k", c_int64), ("scores", c_void_p), ("row_stride", c_int64),
        ("lengths", c_void_p), ("row_starts", c_void_p), ("indices", c_void_p),
        ("index_row_stride", c_int64), ("sorted", c_int32), ("index_base", c_int32),
        ("next_n", c_int64), ("values", c_void_p), ("value_row_stride", c_int64),
        ("raw_indices", c_void_p), ("raw_index_row_stride", c_int64), ("offsets", c_void_p),
        ("page_table", c_void_p), ("page_table_stride", c_int64), ("page_tables", c_int64),
        ("page_size", c_int64), ("row_to_table", c_void_p),
    ]


class RadixSelectParams(ctypes.Structure):
    C_NAME = "tle_radix_select_params"
    _fields_ = [
        ("struct_size", c_size_t), ("dtype", c_int32), ("flags", c_uint32), ("rows", c_int64),
        ("columns", c_int64), ("k", c_int64), ("keys", c_void_p), ("key_row_stride", c_int64),
        ("lengths", c_void_p), ("order", c_int32), ("sorted", c_int32), ("payload_bytes", c_int32),
        ("payload", c_void_p), ("payload_row_stride", c_int64), ("indices", c_void_p),
        ("index_row_stride", c_int64), ("values", c_void_p), ("value_row_stride", c_int64),
        ("payload_out", c_void_p), ("payload_out_row_stride", c_int64),
    ]


STRUCTS = (DeviceInfo, HandleOptions, MemoryUsage, VariantInfo, TopkSelectParams, RadixSelectParams)
VARIANT_FN = ctypes.CFUNCTYPE(ctypes.c_int, POINTER(VariantInfo), c_void_p)

_size = POINTER(c_size_t)
_text = POINTER(c_char_p)

# name: (result, arguments). A status is an int here; _library.check turns it into an Error.
FUNCTIONS = {
    "tle_version": (c_uint32, []),
    "tle_build_info": (c_char_p, []),
    "tle_status_name": (c_char_p, [c_int32]),
    "tle_status_string": (c_char_p, [c_int32]),
    "tle_last_error": (c_char_p, []),
    "tle_last_native_error": (c_int32, []),
    "tle_device_count": (c_int32, [c_int32, POINTER(c_int32)]),
    "tle_get_device_info": (c_int32, [c_int32, c_int32, POINTER(DeviceInfo)]),
    "tle_create": (c_int32, [POINTER(c_void_p), POINTER(HandleOptions)]),
    "tle_destroy": (None, [c_void_p]),
    "tle_handle_device": (c_int32, [c_void_p, POINTER(DeviceInfo)]),
    "tle_set_log": (c_int32, [c_void_p, c_uint32, LOG_FN, c_void_p]),
    "tle_preload": (c_int32, [c_void_p, c_char_p]),
    "tle_unload": (c_int32, [c_void_p]),
    "tle_memory_info": (c_int32, [c_void_p, POINTER(MemoryUsage)]),
    "tle_variants": (c_int32, [c_void_p, c_char_p, VARIANT_FN, c_void_p]),
    "tle_variant_data": (c_int32, [c_void_p, c_char_p, c_int32, c_void_p, _size]),
    "tle_build_id": (c_int32, [c_void_p, c_char_p]),
    "tle_environment": (c_int32, [c_int32, _text, _text, _text]),
    "tle_alloc": (c_int32, [c_void_p, c_size_t, POINTER(c_void_p)]),
    "tle_free": (c_int32, [c_void_p, c_void_p]),
    "tle_copy": (c_int32, [c_void_p, c_void_p, c_void_p, c_size_t]),
    "tle_synchronize": (c_int32, [c_void_p, c_void_p]),
}


def _functions_of(op, params):
    """The five that every operator has."""
    pointer = POINTER(params)
    return {
        f"tle_{op}": (c_int32, [c_void_p, pointer, c_void_p, c_size_t, c_void_p]),
        f"tle_{op}_workspace_size": (c_int32, [c_void_p, pointer, _size]),
        f"tle_{op}_supported": (c_int32, [c_void_p, pointer, c_char_p, c_size_t]),
        f"tle_{op}_explain": (c_int32, [c_void_p, pointer, c_char_p, c_size_t, _size]),
        f"tle_{op}_variants": (c_int32, [c_void_p, VARIANT_FN, c_void_p]),
    }


FUNCTIONS.update(_functions_of("topk_select", TopkSelectParams))
FUNCTIONS.update(_functions_of("radix_select", RadixSelectParams))

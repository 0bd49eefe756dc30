from collections.abc import Callable
from os import PathLike
from types import TracebackType
from typing import Any, Literal, NamedTuple, Protocol, SupportsIndex, Union
import enum

__version__: str

class Status(enum.IntEnum):
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
    INT32 = 32
    INT64 = 64
    UINT32 = 288
    UINT64 = 320
    FLOAT16 = 528
    FLOAT32 = 544
    FLOAT64 = 576
    BFLOAT16 = 1040

class DeviceKind(enum.IntEnum):
    DEFAULT = 0
    CUDA = 1
    EMU = 2
    NONE = 3

class IndexBase(enum.IntEnum):
    RELATIVE = 0
    ABSOLUTE = 1

class LaunchFlag(enum.IntFlag):
    DEPENDENT = 1

class SelectOrder(enum.IntEnum):
    LARGEST = 0
    SMALLEST = 1

class LogFlag(enum.IntFlag):
    ERROR = 1
    WARN = 2
    CHECK = 4
    DISPATCH = 8
    LOAD = 16
    PROFILE = 32
    ALL = 63

class Part(enum.IntEnum):
    META = 1
    PTX = 2
    TIR = 3
    CUBIN = 4

class Error(RuntimeError):
    status: Status
    native: int
    def __init__(self, status: int, sentence: str, native: int = ...) -> None: ...

class Device(NamedTuple):
    kind: DeviceKind
    ordinal: int
    name: str
    arch: str
    sm_count: int
    driver_version: int
    shared_bytes_per_block: int
    l2_bytes: int
    memory_bytes: int

class Memory(NamedTuple):
    loaded_variants: int
    image_bytes: int
    host_bytes: int
    pack_bytes: int

class Variant(NamedTuple):
    name: str
    op: str
    arch: str
    threads: int
    cluster: tuple[int, int, int]
    shared_bytes: int
    registers: int
    spill_bytes: int
    loaded: bool
    disabled: bool

class Support(NamedTuple):
    status: Status
    reason: str
    def __bool__(self) -> bool: ...

class _DLPackArray(Protocol):
    def __dlpack__(self, *, stream: Any = ...) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, int]: ...

class _HostArray(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

class _CudaStream(Protocol):
    def __cuda_stream__(self) -> tuple[int, int]: ...

class _TorchStream(Protocol):
    @property
    def cuda_stream(self) -> int: ...

class _CupyStream(Protocol):
    @property
    def ptr(self) -> int: ...

_Array = Union[_DLPackArray, _HostArray]
_Stream = Union[int, _CudaStream, _TorchStream, _CupyStream, None]
_Part = Literal["meta", "ptx", "tir", "cubin"]

class Handle:
    device: Device
    def __init__(self, device: object = ..., *, arch: str | None = ...,
                 dispatch: str | PathLike[str] | None = ..., strict: bool | None = ...,
                 log: Callable[[LogFlag, str], object] | None = ..., log_flags: int = ...,
                 emu_checks: int = ..., emu_threads: int = ...) -> None: ...
    @property
    def pointer(self) -> int: ...
    @property
    def memory(self) -> Memory: ...
    @property
    def build_id(self) -> str: ...
    def close(self) -> None: ...
    def __enter__(self) -> Handle: ...
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None: ...
    def __del__(self) -> None: ...
    def preload(self, op: str | None = ...) -> None: ...
    def unload(self) -> None: ...
    def synchronize(self, stream: int = ...) -> None: ...
    def variants(self, op: str | None = ...) -> list[Variant]: ...
    def variant_data(self, name: str, part: _Part | Part) -> bytes: ...
    def supported(self, op: str, **shape: Any) -> Support: ...
    def explain(self, op: str, **shape: Any) -> str: ...

def default_handle(device: object = ...) -> Handle: ...
def device_count(kind: object = ...) -> int: ...
def version() -> tuple[int, int, int]: ...
def build_info() -> str: ...
def library_path() -> str: ...
class Selection(NamedTuple):
    indices: Any
    values: Any
    raw_indices: Any

# The result is an array of the kind of scores, of int32, or a Selection of such.
def topk_select(scores: _Array, k: SupportsIndex, *, lengths: _Array | None = ...,
                row_starts: _Array | None = ..., out: _Array | bool | None = ..., sorted: bool = ...,
                index_base: Literal["relative", "absolute"] | IndexBase = ..., next_n: SupportsIndex | None = ...,
                values: _Array | bool | None = ..., raw_indices: _Array | bool | None = ...,
                offsets: _Array | None = ..., page_table: _Array | None = ..., page_size: int | None = ...,
                row_to_table: _Array | None = ..., dependent: bool = ..., dtype: DType | str | None = ...,
                stream: _Stream = ..., handle: Handle | None = ...) -> Any: ...

class RadixSelection(NamedTuple):
    indices: Any
    values: Any
    payload: Any

# The result is an array of the kind of keys, of int32, or a RadixSelection of such.
def radix_select(keys: _Array, k: SupportsIndex, *, lengths: _Array | None = ..., largest: bool = ...,
                 sorted: bool = ..., payload: _Array | None = ..., out: _Array | bool | None = ...,
                 values: _Array | bool | None = ..., payload_out: _Array | bool | None = ...,
                 dependent: bool = ..., dtype: DType | str | None = ..., stream: _Stream = ...,
                 handle: Handle | None = ...) -> Any: ...

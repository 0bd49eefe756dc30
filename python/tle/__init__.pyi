from collections.abc import Callable
from os import PathLike
from types import TracebackType
from typing import Any, Literal, NamedTuple, Protocol, SupportsInt, TypeVar, Union
import enum

__version__: str

class Status(enum.IntEnum):
    OK: int
    INVALID_ARGUMENT: int
    UNSUPPORTED_SHAPE: int
    UNSUPPORTED_DTYPE: int
    UNSUPPORTED_ARCH: int
    WORKSPACE_TOO_SMALL: int
    NOT_PRELOADED: int
    PACK_NOT_FOUND: int
    PACK_VERSION: int
    DRIVER_NOT_FOUND: int
    DRIVER_TOO_OLD: int
    DRIVER_ERROR: int
    OUT_OF_MEMORY: int
    INTERNAL: int
    NO_DEVICE: int
    NO_VARIANT: int
    PACK_CORRUPT: int
    TABLE_INVALID: int
    EMULATOR_NOT_FOUND: int
    EMULATOR_FAULT: int
    CAPTURE_UNSUPPORTED: int
    NOT_FOUND: int

class DType(enum.IntEnum):
    INT32: int
    INT64: int
    FLOAT16: int
    FLOAT32: int
    BFLOAT16: int

class DeviceKind(enum.IntEnum):
    DEFAULT: int
    CUDA: int
    EMU: int
    NONE: int

class LogFlag(enum.IntFlag):
    ERROR: int
    WARN: int
    CHECK: int
    DISPATCH: int
    LOAD: int
    PROFILE: int
    ALL: int

class Part(enum.IntEnum):
    META: int
    PTX: int
    TIR: int
    CUBIN: int

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
_A = TypeVar("_A", bound=_Array)
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
def topk_select(scores: _A, k: SupportsInt, *, lengths: _Array | None = ...,
                row_starts: _Array | None = ..., out: _Array | None = ..., stream: _Stream = ...,
                handle: Handle | None = ...) -> _A: ...

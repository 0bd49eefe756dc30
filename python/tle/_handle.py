"""Handles: a device with its tables and loaded kernels, and the default one of each device."""
import ctypes
import os
import sys
import threading
from collections import namedtuple

from . import _abi, _shapes
from ._abi import DeviceKind, Part, Status
from ._library import check, lib, refuse

Device = namedtuple("Device", "kind ordinal name arch sm_count driver_version shared_bytes_per_block "
                              "l2_bytes memory_bytes")
Memory = namedtuple("Memory", "loaded_variants image_bytes host_bytes pack_bytes")
Variant = namedtuple("Variant", "name op arch threads cluster shared_bytes registers spill_bytes loaded "
                                "disabled")


class Support(namedtuple("Support", "status reason")):
    """The answer of Handle.supported: true where the call would run, else with the sentence."""
    __slots__ = ()

    def __bool__(self):
        return self.status == Status.OK


def _device(info):
    return Device(DeviceKind(info.kind), info.ordinal, info.name.decode(), info.arch.decode(),
                  info.sm_count, info.driver_version, info.shared_bytes_per_block, info.l2_bytes,
                  info.memory_bytes)


def _parse_device(device):
    """(kind, ordinal) of None, a DeviceKind, or text such as "cuda:1" (also str(torch.device))."""
    if device is None:
        return DeviceKind.DEFAULT, -1
    if isinstance(device, int):
        return DeviceKind(device), -1
    name, _, number = str(device).partition(":")
    kinds = {"cuda": DeviceKind.CUDA, "emu": DeviceKind.EMU, "none": DeviceKind.NONE}
    if name not in kinds or (number and not number.isdecimal()):
        refuse(f"device is '{device}'; devices are 'cuda', 'cuda:N', 'emu' and 'none'")
    return kinds[name], int(number) if number else -1


class Handle:
    """A device with its dispatch tables and loaded kernels; any number of threads may share one.

    Close it, or use it as a context manager, when all work enqueued through it is done and no other
    thread is in a call with it.
    """

    def __init__(self, device=None, *, arch=None, dispatch=None, strict=None, log=None, log_flags=0,
                 emu_checks=0, emu_threads=0):
        self._pointer = None
        self._pid = os.getpid()
        kind, ordinal = _parse_device(device)
        for name, value in (("log_flags", log_flags), ("emu_checks", emu_checks), ("emu_threads", emu_threads)):
            if not 0 <= value < 1 << 32:
                refuse(f"{name} is {value}; it is a number of 32 bits")
        self._log = _abi.LOG_FN(0) if log is None else _abi.LOG_FN(
            lambda flag, line, user: log(_abi.LogFlag(flag), line.decode(errors="replace")))
        options = _abi.HandleOptions(
            ctypes.sizeof(_abi.HandleOptions), kind, ordinal,
            None if dispatch is None else os.fsencode(dispatch),
            None if arch is None else arch.encode(),
            0 if strict is None else 1 if strict else 2, log_flags, self._log, None, emu_checks,
            emu_threads)
        pointer = ctypes.c_void_p()
        check(lib().tle_create(ctypes.byref(pointer), ctypes.byref(options)))
        self._pointer = pointer.value
        self.device = self._ask_device()

    def _ask_device(self):
        info = _abi.DeviceInfo(ctypes.sizeof(_abi.DeviceInfo))
        check(lib().tle_handle_device(self.pointer, ctypes.byref(info)))
        return _device(info)

    @property
    def pointer(self):
        """The tle_handle as a number, for use with other bindings of the C interface."""
        if not self._pointer:
            refuse("handle is closed")
        return self._pointer

    def close(self):
        """Frees the kernels and the device; nothing the second time."""
        pointer, self._pointer = self._pointer, None
        if pointer and os.getpid() == self._pid:  # a forked child has no device to give back
            lib().tle_destroy(pointer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_pointer", None) and not sys.is_finalizing():
            self.close()

    def __repr__(self):
        state = "" if self._pointer else ", closed"
        return f"<tle.Handle {self.device.kind.name.lower()}:{self.device.ordinal} {self.device.arch}{state}>"

    def preload(self, op=None):
        """Loads the kernels of one operator, or all, so that no later call loads anything."""
        check(lib().tle_preload(self.pointer, None if op is None else op.encode()))

    def unload(self):
        """Unloads every kernel; all work enqueued through the handle must be done."""
        check(lib().tle_unload(self.pointer))

    def synchronize(self, stream=0):
        """Waits until all work in the stream is done."""
        check(lib().tle_synchronize(self.pointer, stream))

    @property
    def memory(self):
        usage = _abi.MemoryUsage(ctypes.sizeof(_abi.MemoryUsage))
        check(lib().tle_memory_info(self.pointer, ctypes.byref(usage)))
        return Memory(usage.loaded_variants, usage.image_bytes, usage.host_bytes, usage.pack_bytes)

    @property
    def build_id(self):
        """64 hex digits that identify the handle's set of kernels."""
        text = ctypes.create_string_buffer(_abi.BUILD_ID_SIZE)
        check(lib().tle_build_id(self.pointer, text))
        return text.value.decode()

    def variants(self, op=None):
        """The compiled variants of one operator, or of all."""
        found = []

        def visit(pointer, _):
            v = pointer[0]
            found.append(Variant(v.name.decode(), v.op.decode(), v.arch.decode(), v.threads,
                                 tuple(v.cluster), v.shared_bytes, v.registers, v.spill_bytes,
                                 bool(v.loaded), bool(v.disabled)))
            return 0
        check(lib().tle_variants(self.pointer, None if op is None else op.encode(),
                                 _abi.VARIANT_FN(visit), None))
        return found

    def variant_data(self, name, part):
        """One part of a variant as bytes: "meta", "ptx", "tir" or "cubin"."""
        part = Part[part.upper()] if isinstance(part, str) else Part(part)
        size = ctypes.c_size_t()
        check(lib().tle_variant_data(self.pointer, name.encode(), part, None, ctypes.byref(size)))
        data = ctypes.create_string_buffer(size.value)
        check(lib().tle_variant_data(self.pointer, name.encode(), part, data, ctypes.byref(size)))
        return data.raw[:size.value]

    def supported(self, op, **shape):
        """Whether a call of that shape would run; no memory and no GPU are needed."""
        reason = ctypes.create_string_buffer(1024)
        status = self._ask(op, "supported", shape, reason, len(reason))
        return Support(Status(status), reason.value.decode(errors="replace"))

    def explain(self, op, **shape):
        """Which variant a call of that shape would run, and why."""
        needed = ctypes.c_size_t()
        check(self._ask(op, "explain", shape, None, 0, ctypes.byref(needed)))
        text = ctypes.create_string_buffer(needed.value)
        check(self._ask(op, "explain", shape, text, len(text), None))
        return text.value.decode(errors="replace")

    def _ask(self, op, question, shape, *rest):
        if op not in _shapes.OPS:
            refuse(f"there is no operator '{op}'", Status.NOT_FOUND)
        params = _shapes.OPS[op](**shape)
        return getattr(lib(), f"tle_{op}_{question}")(self.pointer, ctypes.byref(params), *rest)


# ---- default handles ----

_defaults = {}
_defaults_lock = threading.Lock()


def _forget_defaults():
    """In a forked child the parent's devices are gone and its lock may be held."""
    global _defaults_lock
    _defaults_lock = threading.Lock()
    _defaults.clear()


os.register_at_fork(after_in_child=_forget_defaults)


def _current_ordinal():
    """torch's current device where torch has one, else 0."""
    torch = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    return cuda.current_device() if cuda is not None and cuda.is_initialized() else 0


def default_handle(device=None):
    """The process's shared handle of a device, made when it is first asked for and never closed.

    None means what TLE_DEVICE names, else CUDA; "cuda" without a number torch's current device.
    """
    kind, ordinal = _parse_device(device)
    if kind == DeviceKind.DEFAULT:
        kind, _ = _parse_device(os.environ.get("TLE_DEVICE") or "cuda")
    if ordinal < 0:
        ordinal = _current_ordinal() if kind == DeviceKind.CUDA else 0
    return _default(kind, ordinal)


def cuda_handle(ordinal):
    """The default handle of one GPU, by the shortest way."""
    return _defaults.get((DeviceKind.CUDA, ordinal)) or _default(DeviceKind.CUDA, ordinal)


def _default(kind, ordinal):
    handle = _defaults.get((kind, ordinal))
    if handle is None:
        with _defaults_lock:
            handle = _defaults.get((kind, ordinal))
            if handle is None:
                handle = _defaults[kind, ordinal] = Handle(f"{kind.name.lower()}:{ordinal}")
    return handle


def device_count(kind="cuda"):
    """How many devices of a kind there are; raises an Error where the driver is missing."""
    count = ctypes.c_int32()
    check(lib().tle_device_count(_parse_device(kind)[0], ctypes.byref(count)))
    return count.value

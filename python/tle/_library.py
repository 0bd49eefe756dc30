"""Finds and opens libtle.so, once, at the first call that needs it.

It is looked for in this order: inside the package (a wheel brings it), what TLE_LIBRARY names, the
release build of the source tree that the package lies in, the dynamic loader.
"""
import ctypes
import os
import threading

from . import _abi

_lock = threading.Lock()
_loaded = None  # (functions, path)


class Error(RuntimeError):
    """What every failure of the library and of these bindings raises.

    str(error) is the full sentence; status is a Status; native is the driver's or the emulator's own
    code, 0 where none was involved.
    """

    def __init__(self, status, sentence, native=0):
        super().__init__(status, sentence, native)
        self.status = _abi.Status._value2member_map_.get(status, status)
        self.native = native

    def __str__(self):
        return self.args[1]


def refuse(sentence, status=_abi.Status.INVALID_ARGUMENT):
    """Raises an Error of the bindings' own."""
    raise Error(status, sentence)


def _open_bundled(folder):
    """The wheel's library. The third-party libraries beside it are opened first, so that the loader
    finds them by their names wherever the wheel was unpacked."""
    for name in sorted(os.listdir(folder)):
        if ".so" in name and not name.startswith("libtle"):
            ctypes.CDLL(os.path.join(folder, name))
    path = os.path.join(folder, "libtle.so")
    return ctypes.CDLL(path), path


def _build_tree(package):
    root = os.path.dirname(os.path.dirname(package))
    if os.path.exists(os.path.join(root, "include", "tle", "tle.h")):
        return os.path.join(root, "build", "release", "lib", "libtle.so")
    return ""


def _open():
    package = os.path.dirname(os.path.abspath(__file__))
    bundled = os.path.join(package, "_lib")
    if os.path.exists(os.path.join(bundled, "libtle.so")):
        return _open_bundled(bundled)
    named = os.environ.get("TLE_LIBRARY")
    if named:
        return ctypes.CDLL(named), named
    built = _build_tree(package)
    if os.path.exists(built):
        return ctypes.CDLL(built), built
    soname = f"libtle.so.{_abi.VERSION[0]}"
    return ctypes.CDLL(soname), soname


def _bind(cdll, path):
    cdll.tle_version.restype = ctypes.c_uint32
    number = cdll.tle_version()
    found = number >> 16, number >> 8 & 255, number & 255
    if found[0] != _abi.VERSION[0] or found[:2] < _abi.VERSION[:2]:
        refuse("{} is version {}.{}.{}; this package needs {}.{} or a later one of the same major "
               "version".format(path, *found, *_abi.VERSION[:2]), _abi.Status.INTERNAL)
    for name, (result, arguments) in _abi.FUNCTIONS.items():
        function = getattr(cdll, name)
        function.restype, function.argtypes = result, arguments
    return cdll


def lib():
    """The library's functions."""
    global _loaded
    if _loaded is None:
        with _lock:
            if _loaded is None:
                try:
                    cdll, path = _open()
                except OSError as error:
                    refuse(f"libtle.so cannot be opened: {error}; install libtle or set TLE_LIBRARY",
                           _abi.Status.NOT_FOUND)
                _loaded = _bind(cdll, path), path
    return _loaded[0]


def library_path():
    """The file that the library in use was opened from, or its name where the loader found it."""
    lib()
    return _loaded[1]


def check(status):
    """Raises the calling thread's last error unless status is 0."""
    if status:
        functions = lib()
        raise Error(status, functions.tle_last_error().decode(errors="replace"),
                    functions.tle_last_native_error())


def version():
    """The version of the library in use, as three numbers."""
    number = lib().tle_version()
    return number >> 16, number >> 8 & 255, number & 255


def build_info():
    """How the library in use was built, in one line."""
    return lib().tle_build_info().decode()

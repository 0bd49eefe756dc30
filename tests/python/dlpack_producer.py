"""A NumPy array behind DLPack alone: of either protocol, with any device, flags and version it claims."""
import ctypes

import numpy as np

from tle import _dlpack

CODES = {"i": 0, "u": 1, "f": 2}
_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Producer:
    """calls records the arguments of every request."""

    def __init__(self, array, versioned=True, device=(1, 0), flags=0, version=(1, 0), lanes=1, strides=True,
                 dtype=None):
        self.array, self.versioned, self.device = array, versioned, device
        self.flags, self.version, self.lanes = flags, version, lanes
        self.with_strides = strides
        self.dtype = dtype or (CODES[array.dtype.kind], array.itemsize * 8)  # which may be none of NumPy's
        self.calls, self.managed = [], []

    def __dlpack_device__(self):
        return self.device

    def _tensor(self):
        a = self.array
        shape = (ctypes.c_int64 * a.ndim)(*a.shape)
        strides = (ctypes.c_int64 * a.ndim)(*(s // a.itemsize for s in a.strides))
        self.managed += [shape, strides]
        address = a.__array_interface__["data"][0]
        # The address in two parts, which consumers must add.
        return _dlpack.DLTensor(
            address - 4 * 16, _dlpack.DLDevice(*self.device), a.ndim,
            _dlpack.DLDataType(*self.dtype, self.lanes), shape,
            strides if self.with_strides else None, 4 * 16)

    def __dlpack__(self, **words):
        if not self.versioned and "max_version" in words:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        self.calls.append(words)
        if self.versioned:
            managed = _dlpack.DLManagedTensorVersioned(
                _dlpack.DLPackVersion(*self.version), None, None, self.flags, self._tensor())
        else:
            managed = _dlpack.DLManagedTensor(self._tensor(), None, None)
        self.managed.append(managed)
        name = b"dltensor_versioned" if self.versioned else b"dltensor"
        return _new(ctypes.addressof(managed), name, None)


class Space:
    """Just enough of an array namespace to make a result."""
    int32, int64 = np.int32, np.int64

    @staticmethod
    def empty(shape, dtype, device):
        assert device == "here"
        return Producer(np.empty(shape, dtype))


class ArrayApiProducer(Producer):
    """One that is itself an array of that namespace."""

    def __init__(self, array):
        super().__init__(array)
        self._place, self.device = self.device, "here"

    def __dlpack_device__(self):
        return self._place

    def _tensor(self):
        self.device, kept = self._place, self.device
        try:
            return super()._tensor()
        finally:
            self.device = kept

    def __array_namespace__(self):
        return Space

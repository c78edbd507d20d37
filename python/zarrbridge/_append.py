# SPDX-License-Identifier: MIT
"""zarr:append, the connector's operation that gives a program a place at the end of datasets, for h5py's objects."""
import ctypes
import functools

_SUBCLS_DATASET = 4  # H5VL_SUBCLS_DATASET


class _Append(ctypes.Structure):  # zb_hdf5_append
    _fields_ = [("count", ctypes.c_uint64), ("start", ctypes.c_uint64), ("dim", ctypes.c_uint),
                ("with_count", ctypes.c_uint), ("others", ctypes.c_void_p), ("other_dims", ctypes.c_void_p)]


class _Operation(ctypes.Structure):  # H5VL_optional_args_t
    _fields_ = [("number", ctypes.c_int), ("arguments", ctypes.c_void_p)]


_Walk = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p)


class _Error(ctypes.Structure):  # H5E_error2_t
    _fields_ = [("cls", ctypes.c_int64), ("major", ctypes.c_int64), ("minor", ctypes.c_int64),
                ("line", ctypes.c_uint), ("function", ctypes.c_char_p), ("file", ctypes.c_char_p),
                ("text", ctypes.c_char_p)]


@functools.cache
def _hdf5():
    """The HDF5 that h5py uses: its own modules lead to it."""
    import h5py

    hdf5 = ctypes.CDLL(h5py.defs.__file__)
    hdf5.H5VLdataset_optional_op.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint, ctypes.c_int64,
                                             ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
    hdf5.H5Ewalk2.argtypes = [ctypes.c_int64, ctypes.c_int, _Walk, ctypes.c_void_p]
    return hdf5


def _reason():
    """The innermost error of the call that has just failed."""
    found = []

    def take(number, error, context):
        found.append(ctypes.cast(error, ctypes.POINTER(_Error)).contents.text.decode(errors="replace"))
        return 0

    _hdf5().H5Ewalk2(0, 0, _Walk(take), None)
    return found[0] if found else "the connector does not know zarr:append"


def reserve(count, datasets, dims):
    """Makes datasets of one file longer by `count`, each along its dimension, behind what any program has appended.
    Gives where the new elements begin: one place for all."""
    from h5py._objects import phil

    first, *others = datasets
    ids = (ctypes.c_int64 * len(others))(*(one.id.id for one in others))
    other_dims = (ctypes.c_uint * len(others))(*dims[1:])
    request = _Append(count=count, dim=dims[0], with_count=len(others), others=ctypes.addressof(ids),
                      other_dims=ctypes.addressof(other_dims))
    operation = _Operation(arguments=ctypes.addressof(request))
    hdf5 = _hdf5()
    with phil:
        if hdf5.H5VLfind_opt_operation(_SUBCLS_DATASET, b"zarr:append", ctypes.byref(operation)) < 0 or \
           hdf5.H5VLdataset_optional_op(b"", b"reserve", 0, first.id.id, ctypes.addressof(operation), 0, 0) < 0:
            reason = _reason()  # before any other call of HDF5
            raise OSError(f"cannot append to {first.name}: {reason}")
    return request.start

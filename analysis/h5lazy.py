"""Opens an HDF5 file with dimension scales as a lazy xarray Dataset, in hundredths of a second.

xarray's own engines do the same for any netCDF file, but spend a second on the lengths of the unlimited axis of a hundred variables.
"""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core import indexing

# HDF5's own bookkeeping of dimension scales, which netCDF does not show either; the fill value is NaN wherever it could show.
HIDDEN = {"CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST", "_FillValue", "_Netcdf4Dimid", "_Netcdf4Coordinates", "coordinates"}


class _Values(BackendArray):
    """A dataset that is read where it is indexed; texts as str objects."""

    def __init__(self, dataset: h5py.Dataset) -> None:
        self.text = h5py.check_string_dtype(dataset.dtype) is not None
        self.dataset = dataset
        self.shape = dataset.shape
        self.dtype = np.dtype(object) if self.text else dataset.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER_1VECTOR, self._read)

    def _read(self, key: tuple[Any, ...]) -> Any:
        values = self.dataset[key]
        if not self.text:
            return values
        if isinstance(values, bytes):
            return values.decode("utf-8", "replace")
        return np.array([text.decode("utf-8", "replace") for text in values.reshape(-1)], object).reshape(values.shape)


def open_dataset(path: str) -> xr.Dataset:
    """Open the file at `path`: every dataset of its root is a variable, every dimension scale an axis with its coordinate; a variable
    whose only axis is not `unit` is a further coordinate of it. Values are read when they are used; those of one axis are kept.

    Raises OSError, KeyError, ValueError for a file that is not so made. Close the Dataset to close the file.
    """
    file = h5py.File(path, "r")
    try:
        variables = {name: _variable(file, name, file[name]) for name in _names(file) if isinstance(file[name], h5py.Dataset)}
        coordinates = [name for name, variable in variables.items() if variable.ndim == 1 and (name == "unit" or variable.dims != ("unit",))]
        store = xr.Dataset({name: variable for name, variable in variables.items() if name not in coordinates},
                           {name: variables[name] for name in coordinates}, {name: _plain(value) for name, value in file.attrs.items()})
    except BaseException:
        file.close()
        raise
    store.set_close(file.close)
    store.encoding["source"] = path
    return store


def _names(file: h5py.File) -> list[str]:
    """In the order in which they were made, where the file remembers it."""
    names: list[bytes] = []
    tracked = h5py.h5g.open(file.id, b"/").get_create_plist().get_link_creation_order() & h5py.h5p.CRT_ORDER_INDEXED
    file.id.links.iterate(names.append, idx_type=h5py.h5.INDEX_CRT_ORDER if tracked else h5py.h5.INDEX_NAME)
    return [name.decode("utf-8", "replace") for name in names]


def _variable(file: h5py.File, name: str, dataset: h5py.Dataset) -> xr.Variable:
    dims = (name,)
    if "DIMENSION_LIST" in dataset.attrs:
        dims = tuple(file[scales[0]].name[1:] for scales in dataset.attrs["DIMENSION_LIST"])
    elif dataset.attrs.get("CLASS") != b"DIMENSION_SCALE":
        raise ValueError(f"the variable {name} has no dimensions")
    lazy: Any = indexing.LazilyIndexedArray(_Values(dataset))
    if dataset.ndim == 1:
        lazy = indexing.MemoryCachedArray(lazy)
    attributes = {key: _plain(dataset.attrs[key]) for key in dataset.attrs if key not in HIDDEN}
    return xr.Variable(dims, lazy, attributes, fastpath=True)


def _plain(value: Any) -> Any:
    """An attribute as str, number or array."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value.item() if isinstance(value, np.ndarray) and value.size == 1 else value

"""Read a bnsweep store: one loader for scripts, figures and notebooks.

    import bnstore
    store = bnstore.open("table.h5")                                # an xarray Dataset; values are read when they are used
    stale = bnstore.sel(store, arm="adam", bn_momentum=0.03)        # the units with these settings
    stale.acc_eval.mean("check")                                    # [unit]
    bnstore.table(store)                                            # what `bnsweep table` prints, as a pandas frame
    bnstore.checks(store), bnstore.channels(store, "angle"), bnstore.layers(store)      # tidy pandas frames

It works on the published store alone, also while the sweep runs: what is not measured yet is NaN, and `status` says how each unit
stands. Every function takes a Dataset as `open` gave it, or a part of one along `unit`. Nothing is cached: a frame or a table costs
one pass over the variables in it, a block of units at a time.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Sequence
from typing import Any

import needs

needs.modules("numpy", "pandas", "xarray", "h5py")

import h5py
import numpy as np
import pandas as pd
import xarray as xr

import h5lazy

FORMAT_VERSION = 1
STATUS = ("pending", "running", "done", "diverged", "failed")
FAILING = np.float32(0.9)  # a check with a lower acc_eval failed

# The columns along `unit` that are no settings.
OWN_COLUMNS = ("identity", "arm", "status", "attempts", "host", "rank", "started", "seconds", "steps_done", "reason", "weights_init_hash",
               "weights_hash", "statistics_hash")
# Settings that change no number: units that differ in them alone are the same experiment.
PATHS = ("name", "file", "init")
MEASURES = ("rotation", "norm_growth", "acc_eval", "checks_below_90", "acc_train", "acc_reest")

BLOCK_BYTES = 16 << 20  # read together


class StoreError(Exception):
    """What is wrong with a store or a selection, in one line for its user."""


# Opening and selecting


def open(path: str | os.PathLike[str]) -> xr.Dataset:
    """Open the store at `path`, reading no more than its axes.

    Dims: unit, check, sample, channel, layer, reest, order, k, ema (those that the sweep has). `check` and `sample` are training
    steps. Close it with .close(), or use it in a `with` statement. A store that a running sweep replaces meanwhile stays readable
    as it was. Raises StoreError: not there, no HDF5 file, no store, a newer format.
    """
    path = os.fspath(path)
    _refuse_other_files(path)
    try:
        return h5lazy.open_dataset(path)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise StoreError(f"{path}: cannot be read: {_one_line(error)}") from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _refuse_other_files(path: str) -> None:
    if not os.path.exists(path):
        raise StoreError(f"{path}: no such file")
    if os.path.isdir(path):
        raise StoreError(f"{path}: a folder, not a store; a store is the .h5 file that `bnsweep run` writes")
    if not os.access(path, os.R_OK):
        raise StoreError(f"{path}: no permission to read it")
    if not h5py.is_hdf5(path):
        raise StoreError(f"{path}: not an HDF5 file, so no bnsweep store")
    try:
        with h5py.File(path, "r") as file:
            version = file.attrs.get("format_version")
            if version is None or "store_id" not in file.attrs or "unit" not in file:
                raise StoreError(f"{path}: an HDF5 file, but no bnsweep store")
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {_one_line(error)}") from error
    if int(version) != FORMAT_VERSION:
        raise StoreError(f"{path}: format version {int(version)}, this loader knows version {FORMAT_VERSION}")


def settings(store: xr.Dataset) -> list[str]:
    """Give the names of the columns that hold settings, in the store's order. `norm` and `order` are stored as NAME_setting, since
    a variable and an axis have these names; `label` takes that off again."""
    return [str(name) for name, variable in store.data_vars.items() if variable.dims == ("unit",) and name not in OWN_COLUMNS]


def label(column: str) -> str:
    """Give a settings column's name as the sweep file has it; a file, told apart by its hash, is called by its setting."""
    return column.removesuffix("_setting").removesuffix("_hash") if column not in OWN_COLUMNS else column


def column(store: xr.Dataset, name: str) -> str:
    """Give the column along `unit` that holds the setting `name` (sweep file's name or stored name), or one of OWN_COLUMNS.

    Raises StoreError that names the nearest one.
    """
    known = [*OWN_COLUMNS, *settings(store)]
    for candidate in (name + "_setting", name):
        if candidate in known:
            return candidate
    near = difflib.get_close_matches(name, map(label, known), 1)
    raise StoreError(f"no setting '{name}'" + (f"; did you mean '{near[0]}'?" if near else f"; there are {', '.join(map(label, known))}"))


def sel(store: xr.Dataset, **wanted: Any) -> xr.Dataset:
    """Select the units whose settings are as given: sel(store, arm="adam", bn_momentum=[0.03, 0.3], status="done").

    A list or other collection means any of its values; numbers may be given as text; None or NaN means: not read by the unit
    (bn_momentum under a group norm). Lazy. Raises StoreError for an unknown setting, and for a value that no unit has, with those
    that there are.
    """
    mask = np.ones(store.sizes["unit"], bool)
    for name, values in wanted.items():
        mask &= _matching(store, name, values)
    if wanted and not mask.any():
        raise StoreError("no unit has all of " + ", ".join(f"{name} = {_shown(value)}" for name, value in wanted.items()))
    return store.isel(unit=_compact(np.flatnonzero(mask)))


def _shown(value: Any) -> str:
    return " or ".join(map(str, value)) if isinstance(value, (list, tuple, set, np.ndarray)) else str(value)


def _compact(rows: np.ndarray) -> slice | np.ndarray:
    """Evenly spaced rows as a slice, which HDF5 reads much faster than a list."""
    if len(rows) == 0:
        return slice(0, 0)
    if len(rows) == 1:
        return slice(int(rows[0]), int(rows[0]) + 1)
    steps = np.diff(rows)
    return slice(int(rows[0]), int(rows[-1]) + 1, int(steps[0])) if (steps == steps[0]).all() else rows


def _matching(store: xr.Dataset, name: str, wanted: Any) -> np.ndarray:
    values = column_values(store, name)
    mask = np.zeros(len(values), bool)
    for value in wanted if isinstance(wanted, (list, tuple, set, range, np.ndarray)) else [wanted]:
        found = _equal(values, value)
        if len(values) and not found.any():
            there = [str(v) for v in distinct(values)]
            raise StoreError(f"no unit has {name} = {value}; there are " + ", ".join(there[:20]) + (", ..." if len(there) > 20 else ""))
        mask |= found
    return mask


def _equal(values: np.ndarray, wanted: Any) -> np.ndarray:
    if values.dtype == object:
        return values == ("" if wanted is None else str(wanted))
    try:
        number = np.nan if wanted in (None, "", "-") else float(wanted)
    except (TypeError, ValueError):
        return np.zeros(len(values), bool)
    return np.isnan(values.astype(float)) if np.isnan(number) else np.isclose(values.astype(float), number, rtol=1e-9, atol=0)


def column_values(store: xr.Dataset, name: str) -> np.ndarray:
    """Read one column along `unit`, [unit]: text as str objects, `status` as its words, numbers as they are."""
    name = column(store, name)
    values = store[name].values
    if name == "status":
        return np.array(STATUS, object)[values]
    return values


def distinct(values: np.ndarray) -> list[Any]:
    """Give the distinct values of a column, rising, without those of units that do not read it (NaN, "")."""
    return sorted({v for v in values.tolist() if v != "" and v == v})


def status(store: xr.Dataset) -> dict[str, int]:
    """Count the units in each state, {"pending": 3, "running": 1, ...}."""
    counts = np.bincount(store.status.values, minlength=len(STATUS))
    return {name: int(count) for name, count in zip(STATUS, counts)}


def keys(store: xr.Dataset) -> list[str]:
    """Give the columns that tell the rows of one arm apart: bn_momentum, then every other setting that changes a number and that two
    units of one arm have different values of, the seed aside. Those of `bnsweep table`, in its order."""
    arms = store.arm.values
    chosen = ["bn_momentum"] if "bn_momentum" in store else []
    for name in settings(store):
        if name in (*chosen, "seed", *PATHS):
            continue
        values = store[name].values
        if len(values) and _varies(values, arms, digest=name.endswith("_hash")):
            chosen.append(name)
    return chosen


def _varies(values: np.ndarray, arms: np.ndarray, digest: bool) -> bool:
    if values.dtype == object:
        if (values == values[0]).all():
            return False
        read = np.ones(len(values), bool) if digest else values != ""
    else:
        read = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), bool)
        if not read.any() or (values[read] == values[read][0]).all():
            return False
    pairs = set(zip(arms[read].tolist(), values[read].tolist()))
    return len(pairs) > len({arm for arm, _ in pairs})


# Frames


def units(store: xr.Dataset) -> pd.DataFrame:
    """One row a unit, index `unit`: arm, status (its word), every setting as really applied, seconds, hashes, ..."""
    names = ["arm", "status", *settings(store), *(name for name in OWN_COLUMNS if name not in ("arm", "status"))]
    return pd.DataFrame({name: column_values(store, name) for name in names}, index=pd.Index(store.unit.values, name="unit"))


def checks(store: xr.Dataset, *names: str) -> pd.DataFrame:
    """One row a unit and check: unit, arm, the keys, seed, step, and the variables `names` (without: all of dims unit, check)."""
    return tidy(store, *(names or variables(store, ("unit", "check"))))


def channels(store: xr.Dataset, *names: str) -> pd.DataFrame:
    """One row a unit, check and channel: unit, arm, the keys, seed, step, layer, channel (through all layers), index (in its layer),
    and the variables `names` (without: all of dims unit, check, channel; mind their size)."""
    return tidy(store, *(names or variables(store, ("unit", "check", "channel"))))


def traces(store: xr.Dataset) -> pd.DataFrame:
    """One row a unit, trace sample and channel: as `channels`, with lag_trace."""
    return tidy(store, "lag_trace")


def layers(store: xr.Dataset) -> pd.DataFrame:
    """One row a unit, check and layer: unit, arm, the keys, seed, step, layer, and means over the layer's channels of angle, norm
    growth (norm / norm_init), |mean_lag|, var_ratio, |mu_over_sigma| and drift, and acc_swap_layer where the sweep has it."""
    lead = _lead(store)
    parts = []
    for rows in blocks(store, *_of_channels(store)):
        part = store.isel(unit=rows)
        columns = {name: _layer_means(part, name) for name in _of_channels(store)}
        if "acc_swap_layer" in store:
            columns["acc_swap_layer"] = part.acc_swap_layer.values
        parts.append(_stack(lead.iloc[rows], {"step": store.check.values, "layer": store.layer.values}, columns))
    return _join(parts)


def _of_channels(store: xr.Dataset) -> dict[str, str]:
    """Column of `layers` -> the variable it is made of."""
    made = {"angle": "angle", "norm_growth": "norm", "abs_mean_lag": "mean_lag", "var_ratio": "var_ratio",
            "abs_mu_over_sigma": "mu_over_sigma", "drift": "drift"}
    return {name: source for name, source in made.items() if source in store}


def _layer_means(part: xr.Dataset, name: str) -> np.ndarray:
    """[unit, check, layer]"""
    values = part[_of_channels(part)[name]].values.astype(float)
    if name == "norm_growth":
        values = _ratio(values, part.norm_init.values[:, None])
    if name.startswith("abs_"):
        values = abs(values)
    return np.stack([nanmean(values[..., channels_of(part, layer)], -1) for layer in part.layer.values], -1)


def variables(store: xr.Dataset, dims: Sequence[str]) -> list[str]:
    """Give the measured variables with exactly these dims, in the store's order."""
    return [str(name) for name, variable in store.data_vars.items() if variable.dims == tuple(dims)]


def tidy(store: xr.Dataset, *names: str) -> pd.DataFrame:
    """One row an observation of measured variables that share their dims: unit, arm, the keys of the store, seed, a column an axis
    (check and sample: step; channel: layer, channel, index), a column a variable. Rows in which nothing was measured are left out.

    Raises StoreError for a variable that the store has not, and for variables whose dims differ.
    """
    for name in names:
        if name not in store.data_vars or len(store[name].dims) < 2:
            raise StoreError(f"the store has no variable '{name}' of several observations a unit")
    if len({store[name].dims for name in names}) != 1:
        raise StoreError("not on the same axes: " + ", ".join(f"{name} [{', '.join(map(str, store[name].dims))}]" for name in names)
                         if names else "no variables are named")
    lead, axes = _lead(store), {str(dim): store[dim].values for dim in store[names[0]].dims[1:]}
    parts = []
    for rows in blocks(store, *names):
        part = store.isel(unit=rows)
        parts.append(_stack(lead.iloc[rows], axes, {name: part[name].values for name in names}))
    frame = _join(parts)
    if "channel" in axes:
        channel = frame["channel"].to_numpy(int)
        place = list(frame.columns).index("channel")
        frame.insert(place, "layer", store.layer.values[store.channel_layer.values[channel] - 1])
        frame.insert(place + 2, "index", store.channel_index.values[channel])
    return frame.rename(columns={"check": "step", "sample": "step"})


def _lead(store: xr.Dataset) -> pd.DataFrame:
    """What a tidy frame says of a unit."""
    names = ["arm", *keys(store), "seed"]
    frame = pd.DataFrame({name: column_values(store, name) for name in names if name in store})
    frame.insert(0, "unit", store.unit.values)
    return frame


def _stack(lead: pd.DataFrame, axes: dict[str, np.ndarray], columns: dict[str, np.ndarray]) -> pd.DataFrame:
    """columns: [unit, axes ...] each."""
    shape = (len(lead), *(len(values) for values in axes.values()))
    flat = {name: values.reshape(-1) for name, values in columns.items()}
    kept = np.flatnonzero(~np.all([np.isnan(values) for values in flat.values()], axis=0))
    places = np.unravel_index(kept, shape)
    frame = lead.iloc[places[0]].reset_index(drop=True)
    for (name, values), place in zip(axes.items(), places[1:]):
        frame[name] = values[place]
    for name, values in flat.items():
        frame[name] = values[kept]
    return frame


def _join(parts: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(parts, ignore_index=True)


def blocks(store: xr.Dataset, *names: str) -> Iterator[slice]:
    """Yield slices of `unit` so small that BLOCK_BYTES hold one of the variables `names` (keys of `layers` too) of all its units;
    one empty slice for a store without units."""
    made = _of_channels(store)
    bytes_each = max(int(np.prod(store[made.get(name, name)].shape[1:], dtype=np.int64)) for name in names) * 4
    rows = max(1, BLOCK_BYTES // max(1, bytes_each))
    for first in range(0, max(1, store.sizes["unit"]), rows):
        yield slice(first, min(first + rows, store.sizes["unit"]))


# Measures and the table


def channels_of(store: xr.Dataset, layer: str | int) -> slice:
    """Give the channels of a layer: "conv2", or a place such as -1 for the last. Raises StoreError for an unknown one."""
    names = store.layer.values.tolist()
    if isinstance(layer, str):
        if layer not in names:
            raise StoreError(f"no layer '{layer}'; there are {', '.join(names)}")
        layer = names.index(layer)
    places = np.flatnonzero(store.channel_layer.values == range(1, len(names) + 1)[layer])
    return slice(int(places[0]), int(places[-1]) + 1)


def nanmean(values: np.ndarray, axis: int) -> np.ndarray:
    """Mean over an axis in double precision, NaN passed over; NaN without a warning where there is nothing else."""
    missing = np.isnan(values)
    if not missing.any() and values.shape[axis]:
        return values.mean(axis, dtype=float)
    count = values.shape[axis] - missing.sum(axis)
    return np.where(missing, 0, values).sum(axis, dtype=float) / np.where(count, count, np.nan)


def _last(values: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """[unit, check, ...] -> [unit, ...] at the last check that `measured` [unit, check] marks; NaN where it marks none."""
    if values.shape[1] == 0:
        return np.full((len(values), *values.shape[2:]), np.nan)
    place = values.shape[1] - 1 - measured[:, ::-1].argmax(1)
    chosen = values[np.arange(len(values)), place].astype(float)
    chosen[~measured.any(1)] = np.nan
    return chosen


def rotation(store: xr.Dataset) -> np.ndarray:
    """Degrees per 100 steps, [unit, check]: mean over the last convolution's channels of `angle`, scaled to 100 steps."""
    last = channels_of(store, -1)
    parts = [nanmean(store.angle[rows, :, last].values, -1) for rows in blocks(store, "angle")]
    return np.concatenate(parts) * (100 / store.angle_window.values)[:, None]


def norm_growth(store: xr.Dataset, layer: str | int = -1) -> np.ndarray:
    """Growth since initialisation, [unit, check]: mean over a layer's channels of norm / norm_init."""
    chosen = channels_of(store, layer)
    return np.concatenate([nanmean(_ratio(store.norm[rows, :, chosen].values, store.norm_init[rows, chosen].values[:, None]), -1)
                           for rows in blocks(store, "norm")])


def _last_growth(store: xr.Dataset) -> np.ndarray:
    """The last layer's norm_growth at the last check, [unit]."""
    chosen, parts = channels_of(store, -1), []
    for rows in blocks(store, "norm"):
        norms = store.norm[rows, :, chosen].values
        last = _last(norms, ~np.isnan(norms).all(-1))
        parts.append(nanmean(_ratio(last, store.norm_init[rows, chosen].values), -1))
    return np.concatenate(parts)


def _ratio(norm: np.ndarray, norm_init: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return norm.astype(float) / norm_init


def measures(store: xr.Dataset) -> pd.DataFrame:
    """What a unit's checks come to, one row a unit (index `unit`), columns MEASURES, by the definitions of `bnsweep table --help`:
    accuracies and shares as fractions, rotation in degrees per 100 steps; NaN where nothing was measured. Also of units not done."""
    frame = pd.DataFrame(np.nan, index=pd.Index(store.unit.values, name="unit"), columns=list(MEASURES))
    if "angle" in store:
        frame["rotation"] = nanmean(rotation(store), 1)
        frame["norm_growth"] = _last_growth(store)
    if "acc_eval" in store:
        values = store.acc_eval.values
        measured = (~np.isnan(values)).sum(1)
        frame["acc_eval"] = nanmean(values, 1)
        frame["checks_below_90"] = (values < FAILING).sum(1) / np.where(measured, measured, np.nan)
    if "acc_train" in store:
        frame["acc_train"] = nanmean(store.acc_train.values, 1)
    if "acc_reest" in store:
        values = store.acc_reest[..., -1].values
        frame["acc_reest"] = _last(values, ~np.isnan(values))
    return frame


def table(store: xr.Dataset) -> pd.DataFrame:
    """The numbers of `bnsweep table`, columns as its --csv names them: arm, the keys (as the sweep file calls them), every measure with
    its standard deviation over n - 1, the count of units, and of those in each state. A row is an arm with its keys; its units
    differ in their seed; means are over units that are done. By rising rotation, unknown ones last."""
    names = keys(store)
    codes = np.stack([_codes(store[name].values) for name in ("arm", *names)])
    state = store.status.values
    done = measures(store).to_numpy()
    done[state != STATUS.index("done")] = np.nan
    rows = []
    order = np.lexsort((np.arange(codes.shape[1]), *codes[::-1]))
    starts = np.flatnonzero(np.any(np.diff(codes[:, order], axis=1, prepend=-1) != 0, axis=0))
    for members in np.split(order, starts)[1:]:
        row: dict[str, Any] = {label(name): _key_value(store, name, members[0]) for name in ("arm", *names)}
        for i, measure in enumerate(MEASURES):
            values = done[members, i][~np.isnan(done[members, i])]
            row[measure] = values.mean() if len(values) else np.nan
            row[measure + "_sd"] = values.std(ddof=1) if len(values) > 1 else np.nan
        row["units"] = len(members)
        row.update(zip(STATUS, np.bincount(state[members], minlength=len(STATUS)).tolist()))
        rows.append(row)
    head = [label(name) for name in ("arm", *names)] + [m + s for m in MEASURES for s in ("", "_sd")] + ["units", *STATUS]
    frame = pd.DataFrame(rows, columns=head)
    return frame.sort_values("rotation", kind="stable", na_position="last", ignore_index=True)


def _codes(values: np.ndarray) -> np.ndarray:
    """Number the distinct values of a column in their order: NaN and "" first, text by its bytes."""
    if values.dtype == object:
        ranks = {value: rank for rank, value in enumerate(sorted(set(values.tolist()), key=str.encode))}
        return np.array([ranks[value] for value in values.tolist()], int)
    missing = np.isnan(values.astype(float))
    codes = np.zeros(len(values), int)
    codes[~missing] = 1 + np.unique(values[~missing], return_inverse=True)[1]
    return codes


def _key_value(store: xr.Dataset, name: str, row: int) -> Any:
    """What stands under a key: a file by its name instead of its hash."""
    if name.endswith("_hash"):
        path = label(name)
        return os.path.basename(str(store[path].values[row])) if path in store else ""
    value = store[name].values[row]
    return value.item() if isinstance(value, np.generic) else value

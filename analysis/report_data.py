"""What a report is made from: each unit's checks as a few numbers a check, and the rows of the table with their units."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import bnstore
import numpy as np
import pandas as pd
import xarray as xr

Array = np.ndarray


@dataclass
class Histories:
    """What matters of each check, [unit, check] each; NaN: not measured, or the network has no running statistics."""

    steps: Array  # [check]
    layers: list[str]
    acc_train: Array
    acc_eval: Array
    loss: Array
    lr: Array
    reest: Array  # from the most batches
    rotation: Array  # degrees per 100 steps, mean over the last convolution's channels
    growth: Array  # norm / norm_init, mean over the same
    lag: Array  # mean_lag of the channel where it is largest in magnitude, and that channel
    lag_channel: Array
    var_ratio: Array  # of the channel where it is farthest from 1, as a ratio, and that channel
    var_channel: Array
    drift: Array  # sigma per step, median over all channels
    layer_lag: Array  # [unit, check, layer]: largest |mean_lag| in the layer

    def arrays(self) -> dict[str, Array]:
        """Those along unit and check, by name."""
        return {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray) and value.ndim >= 2}


@dataclass
class Row:
    """An arm with its keys; its units differ in their seed."""

    arm: str
    keys: dict[str, Any]  # as the sweep file calls them -> value, None: not read
    units: Array  # positions in the store
    done: int = 0  # of them
    mean: dict[str, float] = field(default_factory=dict)  # of bnstore.MEASURES, over the units that are done
    sd: dict[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        told = [f"{key} {text(value)}" for key, value in self.keys.items() if value is not None]
        return ", ".join([self.arm, *told])


def text(value: Any) -> str:
    """A setting's value, numbers in their shortest form."""
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def histories(store: xr.Dataset) -> Histories:
    shape = (store.sizes["unit"], store.sizes["check"])

    def whole(name: str) -> Array:
        return store[name].values.astype(float) if name in store else np.full(shape, np.nan)

    lag, lag_channel, layer_lag = _lags(store, shape)
    var_ratio, var_channel = _farthest_ratio(store, shape)
    reest = store.acc_reest[..., -1].values.astype(float) if "acc_reest" in store else np.full(shape, np.nan)
    return Histories(steps=store.check.values, layers=[str(layer) for layer in store.layer.values], acc_train=whole("acc_train"),
                     acc_eval=whole("acc_eval"), loss=whole("loss"), lr=whole("lr_applied"), reest=reest, rotation=bnstore.rotation(store),
                     growth=bnstore.norm_growth(store), lag=lag, lag_channel=lag_channel, var_ratio=var_ratio, var_channel=var_channel,
                     drift=_median_drift(store, shape), layer_lag=layer_lag)


def _take(values: Array, place: Array) -> Array:
    return np.take_along_axis(values, place[..., None], -1)[..., 0]


def _argmax(size: Array) -> Array:
    """Place of the largest along the last axis, NaN passed over; 0 where all is NaN."""
    return np.where(np.isnan(size), -1, size).argmax(-1)


def _lags(store: xr.Dataset, shape: tuple[int, int]) -> tuple[Array, Array, Array]:
    layers = store.layer.values.tolist()
    lag, channel = np.full(shape, np.nan), np.full(shape, np.nan)
    by_layer = np.full((*shape, len(layers)), np.nan)
    if "mean_lag" not in store:
        return lag, channel, by_layer
    for rows in bnstore.blocks(store, "mean_lag"):
        values = store.mean_lag[rows].values
        place = _argmax(abs(values))
        lag[rows] = _take(values, place)
        channel[rows] = np.where(np.isnan(lag[rows]), np.nan, place)
        for i, layer in enumerate(layers):
            part = values[..., bnstore.channels_of(store, layer)]
            by_layer[rows, :, i] = abs(_take(part, _argmax(abs(part))))
    return lag, channel, by_layer


def _farthest_ratio(store: xr.Dataset, shape: tuple[int, int]) -> tuple[Array, Array]:
    ratio, channel = np.full(shape, np.nan), np.full(shape, np.nan)
    if "var_ratio" not in store:
        return ratio, channel
    for rows in bnstore.blocks(store, "var_ratio"):
        values = store.var_ratio[rows].values
        with np.errstate(divide="ignore", invalid="ignore"):
            place = _argmax(abs(np.log(values)))
        ratio[rows] = _take(values, place)
        channel[rows] = np.where(np.isnan(ratio[rows]), np.nan, place)
    return ratio, channel


def _median_drift(store: xr.Dataset, shape: tuple[int, int]) -> Array:
    drift = np.full(shape, np.nan)
    for rows in bnstore.blocks(store, "drift") if "drift" in store else ():
        values = store.drift[rows].values
        measured = ~np.isnan(values).all(-1)
        part = drift[rows]
        part[measured] = np.nanmedian(values[measured], -1)
    return drift


def rows(store: xr.Dataset, measures: pd.DataFrame) -> list[Row]:
    """The rows of bnstore.table with their units, by rising rotation, unknown ones last."""
    keys = bnstore.keys(store)
    names = ["arm", *keys]
    columns = pd.DataFrame({name: bnstore.column_values(store, name) for name in names})
    state = bnstore.column_values(store, "status")
    found = []
    for _, members in columns.groupby(names, dropna=False, sort=True):
        units = members.index.to_numpy()
        first = members.iloc[0]
        done = measures.iloc[units[state[units] == "done"]]
        found.append(Row(str(first["arm"]), {bnstore.label(key): _value(store, key, units[0]) for key in keys}, units, len(done),
                         done.mean().to_dict(), done.std(ddof=1).to_dict()))
    rotation = np.array([row.mean["rotation"] for row in found], float)
    return [found[i] for i in np.argsort(rotation, kind="stable")]


def _value(store: xr.Dataset, key: str, unit: int) -> Any:
    """A key's value; a file by its path, since its hash tells a reader nothing."""
    name = bnstore.label(key) if key.endswith("_hash") and bnstore.label(key) in store else key
    value = store[name].values[unit]
    value = value.item() if isinstance(value, np.generic) else value
    return None if value == "" or value != value else value

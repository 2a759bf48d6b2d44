#!/usr/bin/python3
"""How far the running means trail, channel by channel and step by step, as a heat map.

A panel for each arm, one unit in each: the first seed of those with measured traces, at the BN momentum nearest to 0.03 (choose others
with --only seed=1 --only bn_momentum=0.1). Colour: (running mean - batch mean) / batch standard deviation, so that a channel whose
running mean is right scatters about white. Triangles on top mark checks with an evaluation accuracy below 90%.
"""

from __future__ import annotations

import argparse
import sys

import bnstore
import figure
import numpy as np
import xarray as xr
from matplotlib.figure import Figure


def _first_measured(store: xr.Dataset, units: np.ndarray) -> int | None:
    """The first of the units with a trace, or None."""
    for place in units:
        if not np.isnan(store.lag_trace[int(place)].values).all():
            return int(place)
    return None


def _limit(values: np.ndarray) -> float:
    """Where the colours end: all but the furthest hundredth lies within."""
    measured = abs(values[~np.isnan(values)])
    return max(float(np.quantile(measured, 0.99)), 1e-3)


def draw(store: xr.Dataset, options: argparse.Namespace) -> Figure:
    """[units with traces] -> Figure."""
    figure.require(store, "lag_trace")
    store, momentum = figure.one_momentum(store)
    figure.require(store, "lag_trace")
    layer = options.layer or store.layer.values[len(store.layer) // 2]
    channels = bnstore.channels_of(store, layer)
    shown = [(one, place) for one in figure.series(store) if (place := _first_measured(store, one.units)) is not None]
    traces = [store.lag_trace[place, :, channels].values for _, place in shown]
    limit = max(_limit(values) for values in traces)
    made, axes = figure.panels(len(shown), sharex=True, sharey=True)
    steps, count = store["sample"].values, channels.stop - channels.start
    for panel, (one, place), values in zip(axes, shown, traces):
        panel.set_title(f"{one.name}, seed {store.seed.values[place]}", pad=9)
        panel.grid(False)
        image = panel.pcolormesh(_edges(steps), np.arange(count + 1) - 0.5, values.T, cmap="RdBu_r", vmin=-limit, vmax=limit,
                                 rasterized=True)
        if "acc_eval" in store:
            failing = store.check.values[store.acc_eval[place].values < bnstore.FAILING]
            (marks,) = panel.plot(failing, np.full(len(failing), 1.03), linestyle="", marker="v", color="#000000", markersize=3,
                                  clip_on=False, transform=panel.get_xaxis_transform())
            marks.set_in_layout(False)
    made.colorbar(image, ax=made.axes, extend="both", label="lag (batch standard deviations)", aspect=30)
    figure.label(axes, "training steps", f"channel of {layer}")
    made.suptitle(f"Lag of {layer}'s running means by channel over time, {momentum}")
    return made


def _edges(steps: np.ndarray) -> np.ndarray:
    """Edges of cells that end at the samples."""
    return np.concatenate([[2 * steps[0] - steps[1] if len(steps) > 1 else 0], steps])


if __name__ == "__main__":
    layer = ("--layer", {"metavar": "LAYER", "help": "the layer, such as conv2 (default: the middle one)"})
    sys.exit(figure.main(draw, __doc__, layer))

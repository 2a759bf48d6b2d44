#!/usr/bin/python3
"""Lag of the running means against rotation, and against drift with the formula's lines r (1 - m) / m.

If a channel's mean drifts by r standard deviations a step, a running mean of momentum m, which is (1 - m) / m steps old on average,
trails it by r (1 - m) / m. A point is a unit: the medians over channels and checks of |mean_lag| and of drift; its rotation is that of
the last convolution. Colour and line tell the BN momentum, the marker the arm.
"""

from __future__ import annotations

import argparse
import sys

import bnstore
import figure
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D


def medians(store: xr.Dataset, name: str, channels: slice) -> np.ndarray:
    """Median over checks and channels of the variable's size, [unit]."""
    parts = [abs(store[name][rows, :, channels].values) for rows in bnstore.blocks(store, name)]
    with np.errstate(all="ignore"):
        return np.concatenate([_median(part.reshape(len(part), -1)) for part in parts])


def _median(values: np.ndarray) -> np.ndarray:
    result = np.full(len(values), np.nan)
    measured = ~np.isnan(values).all(1)
    result[measured] = np.nanmedian(values[measured], 1)
    return result


def draw(store: xr.Dataset, options: argparse.Namespace) -> Figure:
    """[done units] -> Figure."""
    done = figure.done(store)
    figure.require(done, "mean_lag", "drift", "angle")
    channels = bnstore.channels_of(done, options.layer) if options.layer else slice(None)
    lag, drift = medians(done, "mean_lag", channels), medians(done, "drift", channels)
    rotation = bnstore.nanmean(bnstore.rotation(done), 1)
    series = figure.series(done)
    parts = [part for part in figure.momenta(done) if "none" not in part[0] and not np.isnan(lag[part[1]]).all()]
    made, (left, right) = figure.panels(2, columns=2, height=3.2, sharey=True)
    for i, (_, places) in enumerate(parts):
        for one in series:
            units = np.intersect1d(one.units, places)
            for panel, x in ((left, rotation), (right, drift)):
                panel.plot(x[units], lag[units], linestyle="", marker=one.marker, color=figure.look(i)[0], alpha=0.75, markeredgewidth=0)
        _line(right, float(done.bn_momentum.values[places[0]]), drift, figure.look(i)[0])
    for panel, x in ((left, rotation), (right, drift)):
        figure.log_scale(panel, "x", x)
        figure.log_scale(panel, "y", lag)
    left.set_xlabel("rotation of the last convolution (degrees per 100 steps)")
    right.set_xlabel("drift r (standard deviations per step)")
    left.set_ylabel("|mean_lag| (standard deviations)")
    made.suptitle(f"Lag of the running means against rotation and drift, {options.layer or 'all layers'}")
    handles = [Line2D([], [], color=figure.look(i)[0], label=f"r (1 - m) / m, m = {done.bn_momentum.values[places[0]]:g}")
               for i, (_, places) in enumerate(parts)]
    figure.legend(made, [*handles, *(Line2D([], [], color=figure.GREY, linestyle="", marker=one.marker, label=one.name) for one in series)])
    return made


def _line(panel: Axes, momentum: float, drift: np.ndarray, colour: str) -> None:
    """The formula over the drifts there are."""
    measured = drift[drift > 0]
    if momentum < 1 and len(measured):
        ends = np.array([measured.min(), measured.max()])
        panel.plot(ends, ends * (1 - momentum) / momentum, color=colour, linewidth=0.9)


if __name__ == "__main__":
    sys.exit(figure.main(draw, __doc__, figure.LAYER))

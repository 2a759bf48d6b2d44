#!/usr/bin/python3
"""Learning-rate schedules over time: when in a run is evaluation mode wrong?

A column for each arm, at the BN momentum nearest to 0.03 (choose another with --only bn_momentum=0.1). Above: evaluation accuracy at
every check, a line for each seed; checks below 90% are crosses. Below: the learning rate, as read from the optimizer, on a
logarithmic scale of four decades at most.
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

COLUMNS = 4
DECADES = 1e4  # a cosine ends near 0, which would leave the others no room


def draw(store: xr.Dataset, options: argparse.Namespace) -> Figure:
    """[units with checks] -> Figure."""
    figure.require(store, "acc_eval", "lr_applied")
    store, momentum = figure.one_momentum(store)
    figure.require(store, "acc_eval", "lr_applied")
    rates = store.lr_applied.values
    series = figure.series(store, rates)
    if len(series) > figure.MOST_PANELS:
        raise figure.NoData(f"{len(series)} arms are too many for a picture, {figure.MOST_PANELS} the most: choose some with --only")
    columns = min(COLUMNS, len(series))
    groups = -(-len(series) // columns)
    made = figure.blank(2.7 * groups + 0.9)
    grid = made.add_gridspec(2 * groups, columns, height_ratios=[1.6, 1] * groups)
    first = None
    for i, one in enumerate(series):
        row, column = 2 * (i // columns), i % columns
        above = made.add_subplot(grid[row, column], sharex=first and first[0], sharey=first and first[0])
        below = made.add_subplot(grid[row + 1, column], sharex=above, sharey=first and first[1])
        first = first or (above, below)
        above.set_title(one.name)
        _accuracies(above, store, one)
        _rates(below, store.check.values, rates[one.units], one, rates[rates > 0])
        above.tick_params(labelbottom=False, labelleft=column == 0)
        below.tick_params(labelleft=column == 0)
        if column == 0:
            above.set_ylabel("evaluation accuracy")
            below.set_ylabel("learning rate")
        if i + columns >= len(series):
            below.set_xlabel("training steps")
    made.suptitle(f"Evaluation accuracy and learning rate over time, {momentum}")
    figure.legend(made, [Line2D([], [], color=figure.GREY, label="a seed"),
                         Line2D([], [], color="#000000", linestyle="", marker="x", label="a check below 90%")])
    return made


def _accuracies(panel: Axes, store: xr.Dataset, one: figure.Series) -> None:
    steps = store.check.values
    for values in store.acc_eval.values[one.units]:
        panel.plot(steps, values, color=one.colour, linewidth=0.9, alpha=0.8)
        failing = values < bnstore.FAILING
        panel.plot(steps[failing], values[failing], linestyle="", marker="x", color="#000000", markersize=3.5)
    panel.axhline(float(bnstore.FAILING), color=figure.GREY, linewidth=0.6, linestyle="--")
    figure.percent(panel)


def _rates(panel: Axes, steps: np.ndarray, values: np.ndarray, one: figure.Series, everywhere: np.ndarray) -> None:
    figure.over_time(panel, steps, np.where(values > 0, values, np.nan), one.colour, "")
    panel.set_yscale("log")
    if len(everywhere):
        panel.set_ylim(max(everywhere.min() / 2, everywhere.max() / DECADES), everywhere.max() * 2)


if __name__ == "__main__":
    sys.exit(figure.main(draw, __doc__))

#!/usr/bin/python3
"""Accuracy over time in both modes: where does evaluation mode fall behind training mode?

A panel for each arm: validation accuracy at every check, in training mode (dashed, black) and in evaluation mode with each BN
momentum. Lines are means over seeds, bands reach from the worst to the best.
"""

from __future__ import annotations

import argparse
import sys

import figure
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D


def draw(store: xr.Dataset, options: argparse.Namespace) -> Figure:
    """[units with checks] -> Figure."""
    figure.require(store, "acc_eval", "acc_train")
    steps, evaluation, training = store.check.values, store.acc_eval.values, store.acc_train.values
    series, parts = figure.series(store, evaluation), figure.momenta(store)
    made, axes = figure.panels(len(series), sharex=True, sharey=True)
    for panel, one in zip(axes, series):
        panel.set_title(one.name)
        for i, (_, places) in enumerate(parts):
            units = np.intersect1d(one.units, places)
            figure.over_time(panel, steps, evaluation[units], *figure.look(i))
        figure.over_time(panel, steps, figure.by_seed(store, one, training), "#000000", "", dashed=True)
        figure.percent(panel)
    figure.label(axes, "training steps", "validation accuracy")
    made.suptitle("Validation accuracy over time, in training and in evaluation mode")
    handles = [figure.handle(i, title) for i, (title, _) in enumerate(parts)]
    figure.legend(made, [Line2D([], [], color="#000000", linestyle="--", label="training mode"), *handles], columns=3)
    return made


if __name__ == "__main__":
    sys.exit(figure.main(draw, __doc__))

#!/usr/bin/python3
"""Evaluation accuracy against rotation: does it fall as the weights turn faster?

A panel for each BN momentum. A small point is a seed: its evaluation-mode accuracy and the angle that the last convolution's channels
turn in 100 steps, both averaged over its checks; a large one is the mean over seeds, with a bar from the worst to the best. Hollow:
training mode, on the same images. Only units that are done.
"""

from __future__ import annotations

import argparse
import sys

import bnstore
import figure
import numpy as np
import xarray as xr
from matplotlib.figure import Figure


def draw(store: xr.Dataset, options: argparse.Namespace) -> Figure:
    """[done units] -> Figure."""
    done = figure.done(store)
    figure.require(done, "angle", "acc_eval")
    measures, series = bnstore.measures(done), figure.series(done, done.acc_eval.values)
    rotation, evaluation, training = (measures[name].to_numpy() for name in ("rotation", "acc_eval", "acc_train"))
    parts = figure.momenta(done)
    made, axes = figure.panels(len(parts), sharex=True, sharey=True)
    for panel, (title, places) in zip(axes, parts):
        panel.set_title(title)
        for one in series:
            units = np.intersect1d(one.units, places)
            figure.spread(panel, rotation[units], evaluation[units], one.colour, one.marker)
            figure.hollow(panel, rotation[units], training[units], one.colour, one.marker)
        figure.log_scale(panel, "x", rotation)
        figure.percent(panel)
    figure.label(axes, "rotation (degrees per 100 steps)", "accuracy, mean over checks")
    made.suptitle("Evaluation accuracy against rotation of the last convolution, by BN momentum")
    figure.legend(made, [*(one.handle for one in series), figure.HOLLOW])
    return made


if __name__ == "__main__":
    sys.exit(figure.main(draw, __doc__))

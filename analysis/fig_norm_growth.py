#!/usr/bin/python3
"""Growth of the weights' norms: over time, and against evaluation accuracy, with which it does not line up.

Growth is norm / norm at step 0, averaged over the last convolution's channels (or another layer's). Left: lines are means over seeds,
bands their range; the BN momentum does not matter here. Right: growth at the last check against the mean evaluation accuracy, small
points are seeds, at the BN momentum nearest to 0.03; only units that are done.
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


def draw(store: xr.Dataset, options: argparse.Namespace) -> Figure:
    """[units with checks] -> Figure."""
    figure.require(store, "norm", "acc_eval")
    layer = options.layer or store.layer.values[-1]
    made, (left, right) = figure.panels(2, columns=2, height=3.0)
    growth = bnstore.norm_growth(store, layer)
    series = figure.series(store, growth)
    steps = np.concatenate([[0], store.check.values])
    for one in series:
        values = figure.by_seed(store, one, growth)
        values = values[~np.isnan(values).all(1)]
        figure.over_time(left, steps, np.concatenate([np.ones((len(values), 1)), values], 1), one.colour, one.marker)
    left.set_ylabel(f"norm / norm at step 0, {layer}")
    left.set_xlabel("training steps")
    momentum = _against_accuracy(store, right, layer, series)
    right.set_title(f"at the last check, {momentum}")
    made.suptitle("Norm growth over time, and evaluation accuracy against it")
    figure.legend(made, [one.handle for one in series])
    return made


def _against_accuracy(store: xr.Dataset, panel: Axes, layer: str, series: list[figure.Series]) -> str:
    """The right panel, of done units; give the BN momentum it is for."""
    chosen, momentum = figure.one_momentum(store)
    growth, accuracy = bnstore.norm_growth(chosen, layer), bnstore.measures(chosen).acc_eval.to_numpy()
    last = np.array([row[~np.isnan(row)][-1] if (~np.isnan(row)).any() else np.nan for row in growth])
    done = chosen.status.values == bnstore.STATUS.index("done")
    for one in series:
        units = np.isin(chosen.unit.values, store.unit.values[one.units]) & done
        figure.spread(panel, last[units], accuracy[units], one.colour, one.marker)
    figure.percent(panel)
    panel.set_xlabel("norm / norm at step 0")
    panel.set_ylabel("evaluation accuracy")
    return momentum


if __name__ == "__main__":
    layer = ("--layer", {"metavar": "LAYER", "help": "the layer, such as conv2 (default: the last one)"})
    sys.exit(figure.main(draw, __doc__, layer))

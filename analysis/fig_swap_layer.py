#!/usr/bin/python3
"""Which layer's stale statistics do the damage? Evaluation accuracy with one layer's running statistics replaced by fresh ones.

For each arm, at the BN momentum nearest to 0.03 (choose another with --only bn_momentum=0.1): accuracy as it is, with fresh statistics
in one layer, and in training mode, all at the checks where layers were swapped (failing ones, if swap_layer = failing). Bars are means
over checks and seeds, points are seeds.
"""

from __future__ import annotations

import argparse
import sys

import bnstore
import figure
import numpy as np
import xarray as xr
from matplotlib.figure import Figure


def columns(store: xr.Dataset) -> list[tuple[str, np.ndarray]]:
    """[(name, [unit])]: means over the checks with swaps."""
    swapped = store.acc_swap_layer.values
    measured = ~np.isnan(swapped).all(-1)
    at_swaps = [np.where(measured, store[name].values, np.nan) for name in ("acc_eval", "acc_train")]
    layers = [(f"fresh {layer}", bnstore.nanmean(swapped[..., i], 1)) for i, layer in enumerate(store.layer.values)]
    return [("as it is", bnstore.nanmean(at_swaps[0], 1)), *layers, ("training mode", bnstore.nanmean(at_swaps[1], 1))]


def draw(store: xr.Dataset, options: argparse.Namespace) -> Figure:
    """[units with swaps] -> Figure."""
    figure.require(store, "acc_swap_layer")
    store, momentum = figure.one_momentum(store)
    figure.require(store, "acc_swap_layer")
    bars = columns(store)
    series = figure.series(store, bars[0][1])
    made, (panel,) = figure.panels(1, height=3.0)
    width = 0.84 / len(bars)
    for i, (_, values) in enumerate(bars):
        for place, one in enumerate(series):
            figure.bar(panel, place + (i - (len(bars) - 1) / 2) * width, values[one.units], width, i)
    figure.percent(panel)
    figure.names(panel, series)
    panel.set_ylabel("evaluation accuracy")
    made.suptitle(f"Evaluation accuracy with one layer's statistics replaced by fresh ones, {momentum}")
    figure.legend(made, [figure.patch(i, name) for i, (name, _) in enumerate(bars)], columns=6)
    return made


if __name__ == "__main__":
    sys.exit(figure.main(draw, __doc__))

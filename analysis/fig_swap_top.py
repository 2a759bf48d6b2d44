#!/usr/bin/python3
"""How few channels do the damage? Evaluation accuracy with the first k channels' running statistics replaced by fresh ones.

A panel for each arm, at the BN momentum nearest to 0.03 (choose another with --only bn_momentum=0.1). The channels of the whole network
are ranked by |mean_lag|, by angle, or at random. Lines are means over checks with swaps and over seeds, bands reach from the worst
to the best seed. Dotted: training mode at the same checks.
"""

from __future__ import annotations

import argparse
import sys

import bnstore
import figure
import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D


def draw(store: xr.Dataset, options: argparse.Namespace) -> Figure:
    """[units with swaps] -> Figure."""
    figure.require(store, "acc_swap_top")
    store, momentum = figure.one_momentum(store)
    figure.require(store, "acc_swap_top")
    swapped = store.acc_swap_top.values  # [unit, check, order, k]
    measured = ~np.isnan(swapped).all((2, 3))
    before, training = (bnstore.nanmean(np.where(measured, store[name].values, np.nan), 1) for name in ("acc_eval", "acc_train"))
    curves = np.concatenate([np.repeat(before[:, None, None], len(store.order), 1), bnstore.nanmean(swapped, 1)], -1)
    places = np.arange(1 + len(store.k))
    series = figure.series(store, before)
    made, axes = figure.panels(len(series), sharex=True, sharey=True)
    for panel, one in zip(axes, series):
        panel.set_title(one.name)
        panel.axhline(bnstore.nanmean(training[one.units], 0), color="#000000", linestyle=":", linewidth=1)
        for i in range(len(store.order)):
            figure.over_time(panel, places, curves[one.units, i], *figure.look(i))
        panel.set_xticks(places, ["0", *map(str, store.k.values)])
        figure.percent(panel)
    figure.label(axes, "channels with fresh statistics", "evaluation accuracy")
    made.suptitle(f"Evaluation accuracy against the number of channels with fresh statistics, {momentum}")
    handles = [figure.handle(i, f"ranked by {name}" if name != "random" else "random order") for i, name in enumerate(store.order.values)]
    figure.legend(made, [*handles, Line2D([], [], color="#000000", linestyle=":", label="training mode")])
    return made


if __name__ == "__main__":
    sys.exit(figure.main(draw, __doc__))

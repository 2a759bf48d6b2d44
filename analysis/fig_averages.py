#!/usr/bin/python3
"""What mends stale statistics? Averaged weights (EMA) and re-estimated statistics beside the raw network.

For each arm, at the BN momentum nearest to 0.03 (choose another with --only bn_momentum=0.1), the accuracy of the network as it is, of
it with re-estimated running statistics, and of averaged weights with their own averaged statistics, with the raw network's, and
re-estimated; a panel for each decay of the average. Bars are means over the checks where all of a panel's were measured and over
seeds, points are seeds.
"""

from __future__ import annotations

import argparse
import sys

import bnstore
import figure
import numpy as np
import xarray as xr
from matplotlib.figure import Figure

KINDS = (("acc_eval", "raw network"), ("acc_reest", "raw network, re-estimated"), ("acc_ema", "EMA, own statistics"),
         ("acc_ema_raw", "EMA, raw network's statistics"), ("acc_ema_reest", "EMA, re-estimated"))


def _values(store: xr.Dataset, name: str, ema: int) -> np.ndarray:
    """[unit, check]; of several re-estimates, the one from the most batches."""
    if name not in store:
        return np.full((store.sizes["unit"], store.sizes["check"]), np.nan)
    values = store[name].values
    return values if values.ndim == 2 else values[..., -1] if name == "acc_reest" else values[..., ema]


def _means(store: xr.Dataset, ema: int) -> list[tuple[int, np.ndarray]]:
    """[(kind, [unit])] of the kinds that were measured, over the checks at which they all were."""
    there = [(i, values) for i, (name, _) in enumerate(KINDS) if not np.isnan(values := _values(store, name, ema)).all()]
    common = ~np.any([np.isnan(values) for _, values in there], axis=0)
    return [(i, bnstore.nanmean(np.where(common, values, np.nan), 1)) for i, values in there]


def draw(store: xr.Dataset, options: argparse.Namespace) -> Figure:
    """[units with averages or re-estimates] -> Figure."""
    if "acc_ema" not in store:
        figure.require(store, "acc_reest")
    store, momentum = figure.one_momentum(store)
    figure.require(store, "acc_eval", "acc_ema" if "acc_ema" in store else "acc_reest")
    measured = [_values(store, name, 0) for name in ("acc_ema", "acc_reest")]
    decays = store.ema.values if "acc_ema" in store else [None]
    series = figure.series(store, np.stack(measured, 1))
    made, axes = figure.panels(len(decays), columns=1, sharex=True, sharey=True)
    width = 0.84 / len(KINDS)
    for ema, (panel, decay) in enumerate(zip(axes, decays)):
        for i, values in _means(store, ema):
            for place, one in enumerate(series):
                figure.bar(panel, place + (i - (len(KINDS) - 1) / 2) * width, values[one.units], width, i)
        figure.percent(panel)
        figure.names(panel, series)
        if decay is not None:
            panel.set_title(f"weights averaged with decay {decay:g} (over the last {1 / (1 - decay):.0f} steps)")
    figure.label(axes, "", "evaluation accuracy")
    made.suptitle(f"Evaluation accuracy of averaged weights and of re-estimated statistics, {momentum}")
    figure.legend(made, [figure.patch(i, name) for i, (_, name) in enumerate(KINDS)], columns=3)
    return made


if __name__ == "__main__":
    sys.exit(figure.main(draw, __doc__))

#!/usr/bin/python3
"""The momentum window: how long should the running statistics remember?

A running mean of momentum m errs in two ways. It is old: a mean that drifts by v standard deviations a step is trailed by
v (1 - m) / m. And it is noisy: a batch mean that scatters by s leaves s sqrt(m / (2 - m)). Both together are least near
m* = (4 v^2 / s^2)^(1/3). Upper row: evaluation accuracy against m, small points are seeds. Lower row: the two terms, their
root sum of squares, and the measured error, the root mean square of mean_lag over channels and checks, small points are seeds. Grey:
the age term if a step's drift had nothing to do with the next one's, v (1 - m) / sqrt(m (2 - m)); real drift lies between.

Dotted: m*. v is the root mean square of drift. s comes from lag_trace after the first check, at the
momentum where drift adds least to it. Only units that are done.
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


def mean_squares(store: xr.Dataset, name: str, channels: slice) -> np.ndarray:
    """Mean over checks and channels of the variable's square, [unit]."""
    parts = [store[name][rows, :, channels].values.astype(float) ** 2 for rows in bnstore.blocks(store, name)]
    return np.concatenate([bnstore.nanmean(part.reshape(len(part), -1), 1) for part in parts])


def batch_noise(store: xr.Dataset, channels: slice) -> np.ndarray:
    """Variance s^2 of a batch's mean about the mean it is drawn from, in batch variances, mean over channels: [unit].

    A trace x = (running mean before the update - batch mean) has the variance s^2 2 / (2 - m) of noise. Samples k steps apart differ by
    2 s^2 (2 / (2 - m) - m / (2 - m) (1 - m)^k + m (1 - m)^(k - 1)): the running mean has seen the earlier batch, too. Drift adds to
    both: to the one all that the running mean trails, to the other what the mean moves in k steps. So the smaller is nearer.
    """
    steps = store["sample"].values
    late = np.flatnonzero(steps >= store.check.values[0])
    gap = float(np.diff(steps).min()) if len(steps) > 1 else 1.0
    squares = []
    for rows in bnstore.blocks(store, "lag_trace"):
        trace = store.lag_trace[rows, late, channels].values.astype(float)
        squares.append([bnstore.nanmean(x.reshape(len(x), -1) ** 2, 1) for x in (trace, np.diff(trace, axis=1))])
    whole, differences = np.concatenate(squares, 1)
    m = store.bn_momentum.values
    return np.fmin(whole * (2 - m) / 2, differences / 2 / (2 / (2 - m) - m / (2 - m) * (1 - m) ** gap + m * (1 - m) ** (gap - 1)))


def draw(store: xr.Dataset, options: argparse.Namespace) -> Figure:
    """[done units] -> Figure."""
    done = figure.done(store)
    figure.require(done, "mean_lag", "drift", "lag_trace")
    if len(bnstore.distinct(done.bn_momentum.values)) < 2:
        raise figure.NoData("there is one BN momentum in these units; give several in the sweep file: bn_momentum = 0.01, 0.03, 0.1, 0.3")
    done = done.isel(unit=np.flatnonzero(~np.isnan(done.bn_momentum.values)))
    channels = bnstore.channels_of(done, options.layer) if options.layer else slice(None)
    lag, drift, noise = mean_squares(done, "mean_lag", channels), mean_squares(done, "drift", channels), batch_noise(done, channels)
    series, momentum = figure.series(done), done.bn_momentum.values
    made, top, axes = _axes(len(series))
    accuracy = bnstore.measures(done).acc_eval.to_numpy()
    for one, panel in zip(series, axes):
        v2 = float(bnstore.nanmean(drift[one.units], 0))
        s2 = min(float(bnstore.nanmean(noise[one.units[momentum[one.units] == m]], 0)) for m in bnstore.distinct(momentum[one.units]))
        best = (4 * v2 / s2) ** (1 / 3) if s2 > 0 else np.nan
        _errors(panel, one, momentum, lag, v2, s2)
        panel.axvline(best, color="#000000", linestyle=":", linewidth=1)
        panel.set_title(f"{one.name}: m* = {best:.2g}")
        _accuracy(top, one, momentum, accuracy, best)
    made.suptitle("Evaluation accuracy against BN momentum, with the age and the noise of the running means")
    terms = [Line2D([], [], color="#000000", linestyle="--", label="steady age: v (1 - m) / m"),
             Line2D([], [], color=figure.GREY, linestyle="--", label="age if steps drift anew"),
             Line2D([], [], color="#000000", linestyle="-.", label="noise: s sqrt(m / (2 - m))"),
             Line2D([], [], color="#000000", label="steady age + noise"),
             Line2D([], [], color="#000000", linestyle=":", label="m* (above: bars)")]
    figure.legend(made, [*(one.handle for one in series), *terms])
    return made


def _axes(count: int) -> tuple[Figure, Axes, list[Axes]]:
    """One wide panel over small ones in rows of four."""
    columns = min(count, 4)
    rows = -(-count // columns)
    made = figure.blank(2.6 + 1.7 * rows)
    grid = made.add_gridspec(1 + rows, columns, height_ratios=[1.5, *[1] * rows])
    top = made.add_subplot(grid[0, :])
    axes = []
    for i in range(count):
        axes.append(made.add_subplot(grid[1 + i // columns, i % columns], sharex=top, sharey=axes[0] if axes else None))
        axes[-1].tick_params(labelleft=i % columns == 0)
        if i % columns == 0:
            axes[-1].set_ylabel("error (standard deviations)")
        if i + columns >= count:
            axes[-1].set_xlabel("BN momentum m")
    return made, top, axes


def _accuracy(panel: Axes, one: figure.Series, momentum: np.ndarray, accuracy: np.ndarray, best: float) -> None:
    """The upper panel: a line through the means over seeds."""
    values = bnstore.distinct(momentum[one.units])
    means = []
    for value in values:
        units = one.units[momentum[one.units] == value]
        figure.spread(panel, value, accuracy[units], one.colour, one.marker)
        means.append(bnstore.nanmean(accuracy[units], 0))
    panel.plot(values, means, color=one.colour)
    panel.plot([best], [-0.015], marker="|", markersize=9, markeredgewidth=1.6, color=one.colour)
    panel.set_xscale("log")
    panel.set_xlabel("BN momentum m")
    panel.set_ylabel("evaluation accuracy")
    figure.plain_numbers(panel.xaxis)
    figure.percent(panel)


def _errors(panel: Axes, one: figure.Series, momentum: np.ndarray, lag: np.ndarray, v2: float, s2: float) -> None:
    """A lower panel: the formula's terms, and what was measured."""
    m = np.geomspace(momentum.min(), momentum.max(), 80)
    age, noise = np.sqrt(v2) * (1 - m) / m, np.sqrt(s2 * m / (2 - m))
    panel.plot(m, age, color="#000000", linestyle="--", linewidth=0.8)
    panel.plot(m, np.sqrt(v2 / m / (2 - m)) * (1 - m), color=figure.GREY, linestyle="--", linewidth=0.8)
    panel.plot(m, noise, color="#000000", linestyle="-.", linewidth=0.8)
    panel.plot(m, np.hypot(age, noise), color="#000000")
    for value in bnstore.distinct(momentum[one.units]):
        figure.spread(panel, value, np.sqrt(lag[one.units[momentum[one.units] == value]]), one.colour, one.marker)
    panel.set_yscale("log")
    errors = np.sqrt(lag[lag > 0])
    panel.set_ylim(errors.min() / 3, errors.max() * 10)
    figure.plain_numbers(panel.xaxis)
    figure.plain_numbers(panel.yaxis)


if __name__ == "__main__":
    sys.exit(figure.main(draw, __doc__, figure.LAYER))

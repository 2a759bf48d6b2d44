"""Judges units and rows by their checks: stale, behind for another reason, keeping up, without running statistics, not measured.

The limits are those of `bnsweep show`: a gap between the modes is one from 5 points on, a running mean is far off from half a standard
deviation on, a running variance from a factor of 1.5 on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from report_data import Array, Histories, Row

GAP, LAG, RATIO = 0.05, 0.5, 1.5
OFTEN = 0.1  # of its checks: what happens more rarely makes no arm stale
TRAINED = 0.9  # below this accuracy in training mode the gap says little

# kind -> what it is called; the worst first.
KINDS = {
    "stale": "stale",
    "gap": "gap, little lag",
    "sometimes": "a rare gap",
    "lag": "lags without harm",
    "fresh": "keeps up",
    "none": "nothing to go stale",
    "unmeasured": "no check yet",
}


@dataclass
class Verdict:
    """What the checks of some units come to."""

    checks: int  # made, of all units
    gaps: int  # with a gap between the modes
    stale: int  # with a gap and a lag
    has_lag: bool
    ratio_off: bool  # at a check with a gap
    worst_gap: tuple[int, int]  # unit and check; of the largest gap, |lag|
    worst_lag: tuple[int, int]
    largest_lag: float
    lag_at_gaps: float  # median over the checks with a gap

    @property
    def little_lag(self) -> bool:
        """Too little to be the cause of the gaps."""
        return not self.lag_at_gaps >= LAG / 2

    @property
    def kind(self) -> str:
        if not self.checks:
            return "unmeasured"
        if self.stale and self.stale >= OFTEN * self.checks:
            return "stale"
        if self.gaps:
            return "gap" if self.gaps >= OFTEN * self.checks else "sometimes"
        if not self.has_lag:
            return "none"
        return "lag" if self.largest_lag >= LAG else "fresh"


def judge(h: Histories, units: Array) -> Verdict:
    gap = h.acc_train[units] - h.acc_eval[units]
    lag = abs(h.lag[units])
    wide, far = gap >= GAP, lag >= LAG
    with np.errstate(divide="ignore", invalid="ignore"):
        off = abs(np.log(h.var_ratio[units])) >= np.log(RATIO)

    def worst(values: Array) -> tuple[int, int]:
        unit, check = np.unravel_index(np.where(np.isnan(values), -np.inf, values).argmax(), values.shape)
        return int(units[unit]), int(check)

    largest = lag[~np.isnan(lag)]
    return Verdict(int((~np.isnan(h.acc_eval[units])).sum()), int(wide.sum()), int((wide & far).sum()), len(largest) > 0,
                   bool((wide & off).any()), worst(gap) if gap.size else (0, 0), worst(lag) if lag.size else (0, 0),
                   float(largest.max()) if len(largest) else np.nan, median(lag[wide]))


@dataclass
class Judged:
    """A row with what its checks come to; means are over its checks, also of units that still run."""

    row: Row
    verdict: Verdict
    acc_eval: float
    acc_train: float
    rotation: float
    drift: float
    momentum: float
    reest_before: float  # evaluation mode at the last check where re-estimation was measured, mean over units; and after it
    reest_after: float
    reest_train: float  # training mode there
    trained: float  # training mode at the last check

    @property
    def kind(self) -> str:
        return self.verdict.kind

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def age(self) -> float:
        """Of the running averages, mean, in steps."""
        return (1 - self.momentum) / self.momentum

    @property
    def restored(self) -> bool:
        return self.reest_after >= self.reest_train - GAP


def judged(row: Row, h: Histories, momenta: Array) -> Judged:
    units = row.units
    before, after, there = _at_last(h.reest[units], h.acc_eval[units], h.reest[units], h.acc_train[units])
    (trained,) = _at_last(h.acc_train[units], h.acc_train[units])
    return Judged(row, judge(h, units), mean(h.acc_eval[units]), mean(h.acc_train[units]), mean(h.rotation[units]), mean(h.drift[units]),
                  float(momenta[units[0]]), before, after, there, trained)


def _at_last(measured: Array, *wanted: Array) -> list[float]:
    """Means over units of what stood at each unit's last check where `measured` is a number."""
    there = ~np.isnan(measured)
    units = np.flatnonzero(there.any(1))
    place = there.shape[1] - 1 - there[:, ::-1].argmax(1)
    return [mean(values[units, place[units]]) for values in wanted]


def mean(values: Array) -> float:
    measured = values[~np.isnan(values)]
    return float(measured.mean()) if measured.size else np.nan


def median(values: Array) -> float:
    measured = values[~np.isnan(values)]
    return float(np.median(measured)) if measured.size else np.nan

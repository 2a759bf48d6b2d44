"""Says in plain words which arm's running statistics are stale, why, and what mends it: all of it from what the store measured.

The limits are those of `bnsweep show`: a gap between the modes is one from 5 points on, a running mean is far off from half a standard
deviation on, a running variance from a factor of 1.5 on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import bnstore
import numpy as np
from report_data import Array, Histories, Row, text

GAP, LAG, RATIO = 0.05, 0.5, 1.5
OFTEN = 0.1  # stale at a tenth of its checks or more: an arm is called stale, below: now and then
TRAINED = 0.9  # below this accuracy in training mode the gap says little

# kind -> what it is called; the worst first.
KINDS = {
    "stale": "stale",
    "sometimes": "stale now and then",
    "gap": "gap, but no lag",
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

    @property
    def kind(self) -> str:
        if not self.checks:
            return "unmeasured"
        if not self.has_lag:
            return "none" if not self.gaps else "gap"
        if self.stale:
            return "stale" if self.stale >= OFTEN * self.checks else "sometimes"
        if self.gaps:
            return "gap"
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
                   float(largest.max()) if len(largest) else np.nan)


def mean(values: Array) -> float:
    measured = values[~np.isnan(values)]
    return float(measured.mean()) if measured.size else np.nan


def percent(share: float) -> str:
    return f"{100 * share:.1f}%" if share == share else "not measured"


def count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(parts: Sequence[str], most: int = 6) -> str:
    """a, b and c; or a, b, c and 7 more."""
    if len(parts) > most:
        return ", ".join(parts[:most]) + f" and {len(parts) - most} more"
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


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


@dataclass
class Finding:
    kind: str
    headline: str
    parts: list[tuple[str, list[str]]] = field(default_factory=list)  # a question and the sentences that answer it


def finding(rows: list[Judged], h: Histories, states: dict[str, int], place: dict[str, Array]) -> Finding:
    """The finding at the top. `place`: channel_layer and channel_index, [channel] each."""
    measured = [row for row in rows if row.kind != "unmeasured"]
    checks = sum(row.verdict.checks for row in rows)
    progress = f"{states['done']:,} of {count(sum(states.values()), 'unit')} done"
    if not measured:
        return Finding("unmeasured", "Not enough is measured yet to say anything.",
                       [("How far it is", [f"No unit has reached its first check ({progress})."])])
    stale = sorted((row for row in measured if row.kind == "stale"), key=lambda row: (-row.verdict.stale / row.verdict.checks, row.acc_eval))
    if stale:
        return Finding("stale", f"The running statistics are stale in {by_arm(stale)}.",
                       [("Which", which(stale, measured)), ("Why", why(stale[0], measured, h, place)), ("What fixes it", fixes(stale, measured))])
    worst = max(measured, key=lambda row: np.nan_to_num(_largest_gap(row, h), nan=-1.0))
    facts = [f"{count(checks, 'check')} of {count(len(measured), 'row')} of the table below: the largest gap between training and evaluation "
             f"mode is {100 * _largest_gap(worst, h):.1f} points ({worst.name})."]
    if all(row.kind in ("none", "gap") and not row.verdict.has_lag for row in measured):
        gaps = [row for row in measured if row.kind == "gap"]
        facts.append("These networks have no running statistics: evaluation mode computes what training mode computes.")
        return Finding("gap" if gaps else "none", "A gap without running statistics: look for another cause." if gaps else
                       "Nothing can go stale here: these networks have no running statistics.", [("Measured", facts)])
    facts += others(measured)
    kind = next(kind for kind in KINDS if any(row.kind == kind for row in measured))
    heads = {"sometimes": "Nothing is stale for long, but evaluation mode fails now and then.",
             "gap": "Evaluation mode falls behind, and no running mean is far off: look for another cause.",
             "lag": "Nothing is stale: running means lag in places, but evaluation mode does not suffer."}
    result = Finding(kind, heads.get(kind, "Nothing is stale: evaluation mode keeps up with training mode in every arm."), [("Measured", facts)])
    if kind == "sometimes":
        some = [row for row in measured if row.kind == "sometimes"]
        result.parts += [("Why", why(max(some, key=lambda row: row.verdict.stale / row.verdict.checks), measured, h, place)),
                         ("What fixes it", fixes(some, measured))]
    return result


def _largest_gap(row: Judged, h: Histories) -> float:
    return float((h.acc_train - h.acc_eval)[row.verdict.worst_gap])


def by_arm(rows: Iterable[Judged]) -> str:
    """adam (bn_momentum 0.01 and 0.03) and sgd"""
    arms: dict[str, list[str]] = {}
    for row in rows:
        arms.setdefault(row.row.arm, []).append(row.name.removeprefix(row.row.arm).removeprefix(", "))
    named = []
    for arm, keys in arms.items():
        keys = [key for key in keys if key]
        first = keys[0].rsplit(" ", 1)[0] + " " if keys else ""
        if len(keys) > 1 and all(key.startswith(first) and "," not in key for key in keys):
            keys = [keys[0], *(key.removeprefix(first) for key in keys[1:])]
        named.append(f"{arm} ({listed(keys)})" if keys else arm)
    return listed(named)


def which(stale: list[Judged], measured: list[Judged]) -> list[str]:
    said = [f"{row.name}: stale at {row.verdict.stale:,} of {count(row.verdict.checks, 'check')}; evaluation mode averages "
            f"{percent(row.acc_eval)}, training mode {percent(row.acc_train)} on the same images." for row in stale[:6]]
    if len(stale) > 6:
        said.append(f"{len(stale) - 6} more are marked in the table.")
    return said + others(measured)


def others(measured: list[Judged]) -> list[str]:
    said = []
    for kind, words in (("sometimes", "Stale at fewer than a tenth of their checks: {}."),
                        ("gap", "Evaluation mode falls behind without a running mean far off, so for another reason: {}."),
                        ("lag", "A running mean lags, but evaluation mode does not suffer (yet): {}."), ("fresh", "Keeping up: {}."),
                        ("none", "Without running statistics, so with nothing to go stale: {}.")):
        there = [row for row in measured if row.kind == kind]
        if there:
            said.append(words.format(by_arm(there)))
    return said


def why(row: Judged, measured: list[Judged], h: Histories, place: dict[str, Array]) -> list[str]:
    unit, check = row.verdict.worst_lag
    channel = int(h.lag_channel[unit, check])
    layer = h.layers[int(place["channel_layer"][channel]) - 1]
    said = [f"The weights are good: {row.name} scores {percent(row.acc_train)} when it normalises with the batch's own statistics. What "
            "evaluation mode normalises with instead, the running statistics, describes weights that have moved on."
            if row.acc_train >= TRAINED else
            f"Even in training mode {row.name} scores only {percent(row.acc_train)}: it is hardly trained, so the gap is to be read with care.",
            f"Speed times age: the weights of {h.layers[-1]} turn {row.rotation:.3g}\u00b0 in 100 steps, and at bn_momentum {text(row.momentum)} "
            f"the running averages are {row.age:.2g} steps old on average."]
    if row.drift == row.drift:
        said[-1] += (f" A typical channel's mean moves {row.drift:.2g} standard deviations a step, so its running mean trails by about "
                     f"{row.drift * row.age:.2g}, the fastest channels by several times that.")
    said.append(f"Measured: the running mean of channel {int(place['channel_index'][channel])} of {layer} was {abs(h.lag[unit, check]):.2f} "
                f"standard deviations from the mean its weights produced (unit {unit}, step {h.steps[check]:,}).")
    slow = [other for other in measured if other.kind in ("fresh", "lag", "sometimes") and other.rotation * other.age < row.rotation * row.age]
    if slow:
        least = min(slow, key=lambda other: (list(KINDS).index(other.kind) * -1, other.rotation * other.age))
        said.append(f"For comparison, {least.name} ({KINDS[least.kind]}): {least.rotation:.3g}\u00b0 in 100 steps, averages "
                    f"{least.age:.2g} steps old.")
    return said


def fixes(stale: list[Judged], measured: list[Judged]) -> list[str]:
    return [*_by_reestimating(stale), *_by_momentum(stale, measured), *_by_turning_slower(stale, measured)]


def spread(values: Sequence[float]) -> str:
    low, high = percent(min(values)), percent(max(values))
    return low if low == high else f"{low} to {high}"


def _by_reestimating(stale: list[Judged]) -> list[str]:
    known = [row for row in stale if row.reest_after == row.reest_after]
    said = []
    if known:
        said.append("Re-estimate the statistics before evaluating, with the weights as they are: measured in "
                    f"{'all' if len(known) == len(stale) else 'some'} of them, it takes evaluation mode from "
                    f"{spread([row.reest_before for row in known])} to {spread([row.reest_after for row in known])} at the last check where it was tried.")
        short = [row for row in known if not row.restored]
        if short:
            said.append(f"It does not restore what training mode has ({spread([row.reest_train for row in short])}) in {by_arm(short)}: "
                        "something else is wrong there too.")
    missing = [row for row in stale if row.reest_after != row.reest_after]
    if missing:
        said.append(f"What re-estimating would give is not measured{' in ' + by_arm(missing) if known else ''}: it is the first thing to try "
                    "(reest in [measure]; by default it is measured at the last check).")
    return said


def _by_momentum(stale: list[Judged], measured: list[Judged]) -> list[str]:
    """The same arm with a shorter window."""
    said, arms = [], set()
    for row in stale:
        same = [other for other in measured if _rest(other.row) == _rest(row.row) and other.momentum > row.momentum
                and other.acc_eval > row.acc_eval + GAP]
        if same and row.row.arm not in arms:
            best = max(same, key=lambda other: other.acc_eval)
            arms.add(row.row.arm)
            said.append(f"Shorten the window: bn_momentum {text(best.momentum)} instead of {text(row.momentum)} takes {row.row.arm} from "
                        f"{percent(row.acc_eval)} to {percent(best.acc_eval)} on average" +
                        (", though not out of it." if best.kind == "stale" else "."))
    return said[:3]


def _rest(row: Row) -> tuple[object, ...]:
    return (row.arm, *((key, value) for key, value in row.keys.items() if key != "bn_momentum"))


def _by_turning_slower(stale: list[Judged], measured: list[Judged]) -> list[str]:
    """Other arms with the same window that keep up."""
    momenta = {row.momentum for row in stale}
    good = [row for row in measured if row.momentum in momenta and row.kind in ("fresh", "lag", "sometimes")]
    none = [row for row in measured if row.kind == "none"]
    said = []
    if good:
        best = max(good, key=lambda row: row.acc_eval)
        said.append(f"Turn slower: with the same window, {best.name} averages {percent(best.acc_eval)} in evaluation mode at "
                    f"{best.rotation:.3g}\u00b0 in 100 steps.")
    if none:
        said.append(f"Do without running statistics: {by_arm(none)} has none and averages {spread([row.acc_eval for row in none])}.")
    return said

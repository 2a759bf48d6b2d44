"""Says in plain words which arm's running statistics are stale, why, and what mends it: all of it from what the store measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from report_data import Array, Histories, Row, text
from report_verdicts import GAP, KINDS, LAG, TRAINED, Judged, Verdict

MOST_NAMED = 8  # rows; more are counted
MOST_ARMS = 4  # that get a sentence each


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
class Finding:
    kind: str
    headline: str
    parts: list[tuple[str, list[Said]]] = field(default_factory=list)  # a question and what answers it


Said = tuple[str, str]  # a word or two that lead ("" for none), and a sentence


def finding(rows: list[Judged], h: Histories, states: dict[str, int], places: dict[str, Array]) -> Finding:
    """The finding at the top. `places`: channel_layer and channel_index, [channel] each."""
    measured = [row for row in rows if row.kind != "unmeasured"]
    if not measured:
        return Finding("unmeasured", "Not enough is measured yet to say anything.",
                       [("How far it is", [("", "No unit has reached its first check "
                                            f"({states['done']:,} of {count(sum(states.values()), 'unit')} done).")])])
    kind = next(kind for kind in KINDS if any(row.kind == kind for row in measured))
    worst = max((row for row in measured if row.kind == kind), key=lambda row: (row.verdict.stale / row.verdict.checks, -row.acc_eval))
    ill = [row for row in measured if row.kind == kind and kind in ("stale", "gap", "sometimes")]
    parts = [("Which", which(ill, h) + others([row for row in measured if row not in ill]))]
    if kind in ("stale", "sometimes") and worst.verdict.stale:
        parts += [("Why", why(worst, measured, h, places)), ("What fixes it", fixes(ill, measured))]
    elif kind == "gap":
        parts += [("Why", [("", gap_cause(worst.verdict))]), ("What fixes it", fixes(ill, measured))]
    return Finding(kind, _headline(kind, ill), parts)


def _headline(kind: str, ill: list[Judged]) -> str:
    if kind == "stale" and all(row.trained < TRAINED for row in ill):
        return f"Gaps with lags show in {by_arm(ill)}, but training mode itself is below {percent(TRAINED)} there: too early to call it stale."
    worst = min(ill, key=lambda row: row.acc_eval, default=None)
    if kind == "stale" and worst and len(by_arm_rows(ill)) > 3:
        return f"The running statistics are stale in {len(by_arm_rows(ill))} arms, worst in {worst.name}: evaluation mode averages " \
               f"{percent(worst.acc_eval)} there, training mode {percent(worst.acc_train)}."
    return {"stale": f"The running statistics are stale in {by_arm(ill)}.",
            "gap": f"Evaluation mode falls behind in {by_arm(ill)}, with lags below {LAG} \u03c3.",
            "sometimes": "Nothing is stale for long: evaluation mode falls behind at fewer than a tenth of the checks of any arm.",
            "lag": "Nothing is stale: running means lag in places, but evaluation mode does not suffer.",
            "fresh": "Nothing is stale: evaluation mode keeps up with training mode in every arm.",
            "none": "Nothing can go stale here: these networks have no running statistics."}[kind]


def gap_cause(verdict: Verdict) -> str:
    """What may cause gaps that come without a lag of LAG."""
    if not verdict.has_lag:
        return "These networks have no running statistics, so nothing stale explains the gap: look for another cause."
    said = f"The largest lag of a running mean is {verdict.lag_at_gaps:.2f} \u03c3 at such checks (median)"
    if not verdict.little_lag:
        return said + ", near the limit: most likely the same as staleness, only milder."
    return said + (", but a running variance is off by half or more." if verdict.ratio_off else ": look for another cause.")


def by_arm(rows: Iterable[Judged]) -> str:
    """adam (bn_momentum 0.01 and 0.03) and sgd"""
    return listed([f"{arm} ({listed(_short_keys(there))})" if _short_keys(there) else arm for arm, there in by_arm_rows(rows).items()])


def by_arm_rows(rows: Iterable[Judged]) -> dict[str, list[Row]]:
    """The rows of each arm, as the sweep file has them."""
    arms: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.row.units[0]):
        arms.setdefault(row.row.arm, []).append(row.row)
    return arms


def _short_keys(rows: list[Row]) -> list[str]:
    """What tells rows of one arm apart; a single setting is named once: bn_momentum 0.01, 0.03."""
    told = [row.name.removeprefix(row.arm).removeprefix(", ") for row in rows]
    names = [[key for key, value in row.keys.items() if value is not None] for row in rows]
    if all(len(name) == 1 and name == names[0] for name in names):
        told = [told[0], *(text(row.keys[names[0][0]]) for row in rows[1:])]
    return [one for one in told if one]


def which(ill: list[Judged], h: Histories) -> list[Said]:
    """A sentence for each arm, the worst first."""
    arms: dict[str, list[Judged]] = {}
    for row in sorted(ill, key=lambda row: row.acc_eval):
        arms.setdefault(row.row.arm, []).append(row)
    said = []
    for arm, rows in list(arms.items())[:MOST_ARMS]:
        keys = _short_keys([row.row for row in rows])
        told = [percent(row.acc_eval) + (f" at {key}" if key else "") for row, key in zip(rows, keys or [""] * len(rows))]
        shares = [row.verdict.stale / row.verdict.checks for row in rows]
        stale = "" if not any(shares) else f"; stale at {spread(shares)} of its checks"
        said.append((arm, f"evaluation mode averages {listed(told, 4) if len(rows) <= 4 else spread([row.acc_eval for row in rows])}, training mode "
                     f"{spread([row.acc_train for row in rows])} on the same images{stale}."))
    if len(arms) > MOST_ARMS:
        said.append(("Also", f"{listed(list(arms)[MOST_ARMS:])}; see the table."))
    return said


def others(rows: list[Judged]) -> list[Said]:
    said = []
    for kind, lead, words in (("gap", "Behind with little lag", "{}."),
                              ("sometimes", "A rare gap", "at fewer than a tenth of their checks: {}."),
                              ("lag", "Lagging without harm", "{}."), ("fresh", "Keeping up", "{}."),
                              ("none", "Without running statistics", "{}; evaluation mode computes what training mode computes."),
                              ("unmeasured", "Without a check yet", "{}.")):
        there = [row for row in rows if row.kind == kind]
        if there:
            named = by_arm(there) if len(there) <= MOST_NAMED else f"{len(there)} of the table's rows, in {listed(list(by_arm_rows(there)))}"
            said.append((lead, words.format(named)))
    return said


def why(row: Judged, measured: list[Judged], h: Histories, places: dict[str, Array]) -> list[Said]:
    unit, check = row.verdict.worst_lag
    channel = int(h.lag_channel[unit, check])
    layer = h.layers[int(places["channel_layer"][channel]) - 1]
    said = [("", f"The weights are good: {row.name} scores {percent(row.acc_train)} when it normalises with the batch's own statistics. Evaluation "
             "mode uses the running statistics instead, and those describe weights that have moved on since." if row.acc_train >= TRAINED else
             f"Even in training mode {row.name} scores only {percent(row.acc_train)}: it is hardly trained, so read its gap with care.")]
    cause = f"the weights of {h.layers[-1]} turn {row.rotation:.3g}\u00b0 in 100 steps, and at bn_momentum {text(row.momentum)} the running " \
            f"statistics are {row.age:.2g} steps old on average."
    if row.drift == row.drift:
        cause += f" A typical channel's mean moves {row.drift:.2g} \u03c3 a step, so it would trail by about {row.drift * row.age:.2g} \u03c3; " \
                 "fast channels by more."
    said.append(("Speed times age", cause))
    said.append(("Measured", f"the running mean of {layer}, channel {int(places['channel_index'][channel])}, was "
                 f"{abs(h.lag[unit, check]):.2f} \u03c3 (standard deviations of that channel) from what its weights then produced "
                 f"(unit {unit}, step {h.steps[check]:,})."))
    other = _counterpart(row, measured)
    if other:
        said.append(("In comparison", f"{other.name} ({KINDS[other.kind]}) turns {other.rotation:.3g}\u00b0 in 100 steps, its statistics are "
                     f"{other.age:.2g} steps old."))
    return said


def _counterpart(row: Judged, measured: list[Judged]) -> Judged | None:
    """A row that keeps up better with slower weights or younger statistics, if possible with the same momentum."""
    order = list(KINDS)
    better = [other for other in measured if order.index(other.kind) > order.index(row.kind) and other.rotation * other.age < row.rotation * row.age]
    return max(better, key=lambda other: (other.momentum == row.momentum, other.acc_eval), default=None)


def fixes(ill: list[Judged], measured: list[Judged]) -> list[Said]:
    return [*_by_reestimating(ill), *_by_momentum(ill, measured), *_by_turning_slower(ill, measured)]


def spread(shares: Sequence[float]) -> str:
    low, high = percent(min(shares)), percent(max(shares))
    return low if low == high else f"{low.removesuffix('%')}\u2013{high}"


def _by_reestimating(ill: list[Judged]) -> list[Said]:
    """Re-estimation, where it was measured; else that it was not."""
    known = [row for row in ill if row.reest_after == row.reest_after]
    missing = [row for row in ill if row.reest_after != row.reest_after]
    said = []
    if known:
        short = [row for row in known if not row.restored]
        told = f"measured at the last check where it was tried, it takes evaluation mode from {spread([row.reest_before for row in known])} to " \
               f"{spread([row.reest_after for row in known])} without touching the weights."
        if short:
            told += f" In {by_arm(short)} that is short of training mode's {spread([row.reest_train for row in short])}: something else is " \
                    "wrong there too."
        said.append(("Re-estimate the statistics before evaluating", told))
    if missing:
        said.append(("Re-estimating", f"was not measured{' in ' + by_arm(missing) if known else ''}; it is the first thing to try "
                     "(setting reest, by default at the last check)."))
    return said


def _by_momentum(ill: list[Judged], measured: list[Judged]) -> list[Said]:
    """The same arm with a shorter window."""
    gains: dict[str, str] = {}
    for row in sorted(ill, key=lambda row: row.acc_eval):
        same = [other for other in measured if _rest(other.row) == _rest(row.row) and other.momentum > row.momentum
                and other.acc_eval > row.acc_eval + GAP]
        if same and row.row.arm not in gains:
            best = max(same, key=lambda other: other.acc_eval)
            gains[row.row.arm] = f"{row.row.arm} from {percent(row.acc_eval)} at bn_momentum {text(row.momentum)} to {percent(best.acc_eval)} at " \
                                 f"{text(best.momentum)}{' (still stale)' if best.kind == 'stale' else ''}"
    return [("Shorten the window", f"a larger bn_momentum takes {listed(list(gains.values()), 3)}.")] if gains else []


def _rest(row: Row) -> tuple[object, ...]:
    return (row.arm, *((key, value) for key, value in row.keys.items() if key != "bn_momentum"))


def _by_turning_slower(ill: list[Judged], measured: list[Judged]) -> list[Said]:
    """Another arm with the same window that turns slower and does better; and arms without running statistics."""
    pairs = [(other, row) for row in ill for other in measured if other.momentum == row.momentum and other.rotation < row.rotation
             and other.kind != "stale" and other.acc_eval > row.acc_eval + GAP]
    none = [row for row in measured if row.kind == "none"]
    said = []
    if pairs:
        other, row = max(pairs, key=lambda pair: pair[0].acc_eval - pair[1].acc_eval)
        said.append(("Turn slower", f"with the same window, {other.name} averages {percent(other.acc_eval)} at {other.rotation:.3g}\u00b0 in 100 "
                     f"steps; {row.name} has {percent(row.acc_eval)} at {row.rotation:.3g}\u00b0."))
    if none:
        said.append(("Do without running statistics", f"{by_arm(none)} averages {spread([row.acc_eval for row in none])}."))
    return said

"""The report's warnings: what each row and each unit shows, and what of the sweep as a whole limits what one may conclude."""

from __future__ import annotations

import bnstore
import numpy as np
import xarray as xr
from report_data import Array, Histories
from report_findings import by_arm, count, gap_cause, listed, percent
from report_verdicts import GAP, KINDS, LAG, TRAINED, Judged, Verdict


def of_rows(rows: list[Judged], h: Histories) -> list[tuple[str, str]]:
    """[(kind, text)], the worst kind first."""
    order = list(KINDS)
    ill = [row for row in rows if row.kind in ("stale", "gap", "sometimes", "lag")]
    ill.sort(key=lambda row: (order.index(row.kind), -row.verdict.stale / row.verdict.checks, row.acc_eval))
    return [(row.kind, f"{row.name}: {_row_text(row, h)}") for row in ill]


def _row_text(row: Judged, h: Histories) -> str:
    verdict = row.verdict
    shares = f"of {count(verdict.checks, 'check')}"
    if verdict.stale:
        gap = (h.acc_train - h.acc_eval)[row.row.units]
        first = h.steps[((gap >= GAP) & (abs(h.lag[row.row.units]) >= LAG)).any(0).argmax()]
        would = f"re-estimation gives {percent(row.reest_after)} where evaluation mode has {percent(row.reest_before)}" \
            if row.reest_after == row.reest_after else "what re-estimation would give is not measured"
        return f"lag of {LAG} \u03c3 or more and a train/eval gap at {verdict.stale:,} {shares}, first at step {first:,}: " \
               f"the statistics are stale{' there' if row.kind == 'sometimes' else ''}; {would}."
    if verdict.gaps:
        cause = gap_cause(verdict)
        return f"a train/eval gap at {verdict.gaps:,} {shares}. {cause}"
    return f"a running mean is up to {verdict.largest_lag:.2f} \u03c3 off; evaluation mode does not suffer (yet)."


def of_sweep(store: xr.Dataset, rows: list[Judged]) -> list[str]:
    states = bnstore.status(store)
    said = []
    waiting = states["pending"] + states["running"]
    if waiting:
        said.append(f"The sweep is not complete: {states['running']:,} running and {states['pending']:,} pending of "
                    f"{count(store.sizes['unit'], 'unit')}. Their checks so far count in the findings; the table's means are over units that "
                    "are done.")
    said += [_ended(store, state, states[state]) for state in ("diverged", "failed") if states[state]]
    poor = [row for row in rows if row.trained < TRAINED]
    if poor:
        said.append(f"Hardly trained: training mode itself is below {percent(TRAINED)} at the last check in {by_arm(poor)}. "
                    "There, a gap or its absence says little.")
    if rows and all(len(row.row.units) == 1 for row in rows) and len(rows) > 1:
        said.append("One unit a row: each number is one draw. More seeds show which differences hold.")
    if (bnstore.column_values(store, "probe_writes_stats") == "yes").any():
        said.append("probe_writes_stats = yes in some units: the measurement itself writes the running statistics there.")
    return said


def _ended(store: xr.Dataset, state: str, number: int) -> str:
    """Say which units ended so, and why."""
    units = np.flatnonzero(bnstore.column_values(store, "status") == state)
    reasons = sorted({str(reason) for reason in store["reason"].values[units] if reason})
    arms = sorted({str(arm) for arm in store.arm.values[units]})
    meaning = "left the range of numbers (NaN or infinity), which is a result: its later checks are empty" if state == "diverged" \
        else "failed in every attempt and are not in the means"
    why = f" Reason: {listed(reasons, 3)}." if reasons else ""
    return f"{count(number, 'unit')} {state} (in {listed(arms)}): {meaning}.{why}"


def of_unit(verdict: Verdict, h: Histories, unit: int, places: dict[str, Array]) -> str:
    """One sentence or two for a unit's section."""
    if not verdict.checks:
        return "No check was made yet."
    gap = h.acc_train - h.acc_eval
    at = verdict.worst_gap
    said = f"Largest gap {100 * gap[at]:.1f} points (training mode {percent(h.acc_train[at])}, evaluation mode {percent(h.acc_eval[at])}) " \
           f"at step {h.steps[at[1]]:,}." if gap[at] == gap[at] else ""
    if verdict.has_lag:
        at = verdict.worst_lag
        channel = int(h.lag_channel[at])
        layer = h.layers[int(places["channel_layer"][channel]) - 1]
        said += f" Farthest running mean {h.lag[at]:+.2f} \u03c3 ({layer}, channel {int(places['channel_index'][channel])}) at step " \
                f"{h.steps[at[1]]:,}."
    measured = np.flatnonzero(~np.isnan(h.reest[unit]))
    if measured.size:
        last = measured[-1]
        said += f" Re-estimating gave {percent(h.reest[unit, last])} at step {h.steps[last]:,}, where evaluation mode had " \
                f"{percent(h.acc_eval[unit, last])}."
    elif verdict.gaps:
        said += " What re-estimating would give is not measured."
    return said.strip()

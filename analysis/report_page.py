"""Fills the report's page: the text that stands in it as HTML, everything else as data for its scripts. All text is escaped here."""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import re
from html import escape
from pathlib import Path
from typing import Any

import bnstore
import numpy as np
import report_data
import report_findings as findings
import report_verdicts as verdicts
import report_warnings as warnings
import xarray as xr
from report_data import Array, Histories, text
from report_verdicts import KINDS, Judged

PAGE = Path(__file__).resolve().parent / "page"
SCRIPTS = ("values.js", "selection.js", "chart.js", "plots.js", "table.js", "units.js", "start.js")

# Measured at each check: name in the data -> label, unit, factor for showing.
QUANTITIES = {
    "acc_eval": ("Evaluation-mode accuracy", "%", 100),
    "acc_train": ("Training-mode accuracy", "%", 100),
    "gap": ("Gap, training minus evaluation mode", "points", 100),
    "error": ("Evaluation-mode error", "%", 100),
    "lag": ("Largest lag of a running mean", "\u03c3", 1),
    "rotation": ("Rotation of the last convolution", "\u00b0 per 100 steps", 1),
    "growth": ("Norm growth of the last convolution", "\u00d7", 1),
    "var_ratio": ("Running variance / fresh one, the farthest channel", "\u00d7", 1),
    "drift": ("Drift of a channel's mean, median", "\u03c3 per step", 1),
    "reest": ("Accuracy after re-estimation", "%", 100),
    "loss": ("Training loss", "nat", 1),
    "lr": ("Learning rate", "", 1),
}
# A number for each unit, to set one against another.
MEASURES = {
    "rotation": ("Rotation, mean over checks", "\u00b0 per 100 steps", 1),
    "expected_lag": ("Drift \u00d7 age of the running averages", "\u03c3", 1),
    "norm_growth": ("Norm growth at the last check", "\u00d7", 1),
    "age": ("Age of the running averages, (1 \u2212 m) / m", "steps", 1),
    "largest_lag": ("Largest lag of a running mean", "\u03c3", 1),
    "lr": ("Learning rate", "", 1),
    "acc_eval": ("Evaluation-mode accuracy, mean over checks", "%", 100),
    "gap": ("Gap, mean over checks", "points", 100),
    "checks_below_90": ("Checks below 90%", "%", 100),
    "acc_reest": ("Accuracy after re-estimation", "%", 100),
    "acc_train": ("Training-mode accuracy, mean over checks", "%", 100),
}
# The columns of the table that are numbers: measure -> head, explanation.
COLUMNS = {
    "rotation": ("Rotation", "degrees the last convolution's channels turn in 100 steps, mean over checks"),
    "norm_growth": ("Norm growth", "of the last convolution's weights since step 0, at the last check"),
    "acc_eval": ("Evaluation", "evaluation-mode accuracy, mean over checks"),
    "checks_below_90": ("Below 90%", "share of the checks with evaluation-mode accuracy below 90%"),
    "acc_train": ("Training", "training-mode accuracy, mean over checks"),
    "acc_reest": ("Re-estimated", "accuracy after re-estimating the running statistics, at the last check where it was measured"),
}
PROVENANCE = ("program_version", "git_commit", "engine", "numerics_version", "compiler", "compiler_flags", "blas", "libraries", "instruction_set",
              "store_id", "format_version", "journal_sequence")


def make(store: xr.Dataset, name: str, chart_js: str) -> str:
    """Give the whole page of a store called `name`."""
    measures = bnstore.measures(store)
    h = report_data.histories(store)
    rows = report_data.rows(store, measures)
    momenta = store["bn_momentum"].values.astype(float) if "bn_momentum" in store else np.full(store.sizes["unit"], np.nan)
    judged = [verdicts.judged(row, h, momenta) for row in rows]
    places = {key: store[key].values for key in ("channel_layer", "channel_index")}
    scripts = [chart_js, "\n".join((PAGE / script).read_text(encoding="utf-8") for script in SCRIPTS)]
    style = (PAGE / "report.css").read_text(encoding="utf-8")
    filled = {
        "policy": _policy(style, scripts),
        "style": style,
        "title": escape(f"{store.attrs.get('sweep', name)}: report"),
        "sweep": escape(str(store.attrs.get("sweep", name))),
        "summary": escape(_summary(store, name)),
        "finding": _finding_html(findings.finding(judged, h, bnstore.status(store), places)),
        "warnings": _warnings_html(warnings.of_rows(judged, h), warnings.of_sweep(store, judged)),
        "table": _table_html(judged),
        "provenance": _provenance_html(store, name),
        "data": _json(_data(store, h, judged, measures, momenta, places)),
        "licence": escape((PAGE / "chart.js-licence.txt").read_text(encoding="utf-8")),
        "chart_js": scripts[0],
        "script": scripts[1],
    }
    template = (PAGE / "report.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: filled[match[1]], template)  # one pass: nothing filled in is looked at again


def _policy(style: str, scripts: list[str]) -> str:
    """The browser runs these very scripts and loads nothing, whatever a store's text contains."""
    def allowed(part: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() + "'"
    return f"default-src 'none'; img-src data:; style-src {allowed(style)}; script-src {' '.join(map(allowed, scripts))}; " \
           "base-uri 'none'; form-action 'none'"


def _json(data: Any) -> str:
    """JSON that cannot end its element: no <, ASCII only."""
    return json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


# The text of the page


def _summary(store: xr.Dataset, name: str) -> str:
    states = bnstore.status(store)
    counts = ", ".join(f"{count:,} {state}" for state, count in states.items() if count) or "no units"
    arms = len(set(store.arm.values.tolist()))
    return f"{name}: {findings.count(store.sizes['unit'], 'unit')} of {findings.count(arms, 'arm')} ({counts}), up to " \
           f"{findings.count(store.sizes['check'], 'check')} a unit. {_dates(store)}"


def _dates(store: xr.Dataset) -> str:
    started = store["started"].values[store["started"].values > 0]
    made = f"Report made {_day(datetime.datetime.now(datetime.timezone.utc).timestamp())}."
    return f"Trained from {_day(started.min())} on, the last attempt from {_day(started.max())}. {made}" if started.size else made


def _day(moment: float) -> str:
    return datetime.datetime.fromtimestamp(float(moment), datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def _finding_html(found: findings.Finding) -> str:
    parts = "".join(f"<dt>{escape(question)}</dt><dd>{''.join(map(_said, answers))}</dd>"
                    for question, answers in found.parts if answers)
    return f'<section id="finding" class="finding {found.kind}" aria-labelledby="headline"><p class="kicker">Finding</p>' \
           f'<h2 id="headline">{escape(found.headline)}</h2><dl>{parts}</dl></section>'


def _said(said: findings.Said) -> str:
    lead, sentence = map(escape, said)
    return f"<p><strong>{lead}:</strong> {sentence}</p>" if lead else f"<p>{sentence}</p>"


def _warnings_html(rows: list[tuple[str, str]], sweep: list[str]) -> str:
    items = [f'<li class="{kind}">{_mark(kind)}<span>{escape(said)}</span></li>' for kind, said in rows]
    items += [f'<li class="note"><span class="mark note" aria-hidden="true"></span><span>{escape(said)}</span></li>' for said in sweep]
    if not items:
        return "<p>None.</p>"
    if len(items) <= 12:
        return f"<ul class='warnings'>{''.join(items)}</ul>"
    return f"<ul class='warnings'>{''.join(items[:10])}</ul><details><summary>{len(items) - 10} more</summary>" \
           f"<ul class='warnings'>{''.join(items[10:])}</ul></details>"


def _mark(kind: str) -> str:
    return f'<span class="mark {kind}" aria-hidden="true"></span>'


def _table_html(rows: list[Judged]) -> str:
    keys = list(rows[0].row.keys) if rows else []
    head = [("Arm", "arm of the sweep file; click to show or hide it in the plots", "text"), *((key, "setting", "text") for key in keys),
            ("Verdict", "stale: at a tenth of the checks or more, a gap of 5 points or more and a running mean 0.5 \u03c3 or more off", "number"),
            ("Stale checks", "checks with a gap of 5 points or more and a running mean 0.5 \u03c3 or more off", "number"),
            ("Largest lag", "farthest running mean, in standard deviations of its channel", "number"),
            *((*words, "number") for words in COLUMNS.values()), ("Units", "done, of all", "number")]
    cells = "".join(f'<th scope="col" data-sort="{kind}" title="{escape(told)}"><button type="button">'
                    f'{escape(label).replace("_", "_<wbr>")}</button></th>'
                    for label, told, kind in head)
    body = "".join(_row_html(i, row, keys) for i, row in enumerate(rows))
    return f'<table id="rows"><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>'


def _row_html(place: int, row: Judged, keys: list[str]) -> str:
    verdict, severity = row.verdict, list(KINDS).index(row.kind)
    share = verdict.stale / verdict.checks if verdict.checks else np.nan
    cells = [f'<th scope="row"><button type="button" class="pick" data-row="{place}" aria-pressed="false"><canvas class="swatch" width="68" '
             f'height="28" aria-hidden="true"></canvas><span>{escape(row.row.arm)}</span></button></th>']
    cells += [_cell("-" if row.row.keys[key] is None else text(row.row.keys[key]), row.row.keys[key]) for key in keys]
    cells += [f'<td data-value="{severity}" class="verdict {row.kind}">{_mark(row.kind)}{escape(KINDS[row.kind])}</td>',
              _cell(f"{verdict.stale:,} of {verdict.checks:,}" if verdict.checks else "-", share),
              _cell(f"{verdict.largest_lag:.2f} \u03c3" if verdict.has_lag else "-", verdict.largest_lag)]
    cells += [_measure_cell(row, name) for name in COLUMNS]
    cells.append(_cell(f"{row.row.done:,} of {len(row.row.units):,}", row.row.done))
    return f'<tr data-row="{place}">{"".join(cells)}</tr>'


def _cell(shown: str, value: Any) -> str:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    kept = "" if value is None or value != value else f"{value!r}" if number else str(value)
    return f'<td class="{"number" if number or shown == "-" else "text"}" data-value="{escape(kept)}">{escape(shown)}</td>'


def _measure_cell(row: Judged, name: str) -> str:
    value, sd = row.row.mean[name], row.row.sd[name]
    if value != value:
        return _cell("-", None)
    _, unit, factor = MEASURES[name]
    digits, unit = (1, "%") if factor == 100 else (2, unit[0])
    around = f' <small>\u00b1 {factor * sd:.{digits}f}</small>' if sd == sd else ""
    return f'<td class="number" data-value="{float(value)!r}">{factor * value:.{digits}f}{unit}{around}</td>'


def _provenance_html(store: xr.Dataset, name: str) -> str:
    pairs = [("store", name), *((key.replace("_", " "), str(store.attrs[key])) for key in PROVENANCE if key in store.attrs),
             ("settings", "read back from the running network and optimizer, not copied from the sweep file"), ("dates", _dates(store))]
    hosts = sorted({str(host) for host in store["host"].values if host})
    if hosts:
        pairs.append(("hosts", findings.listed(hosts, 20)))
    items = "".join(f"<dt>{escape(key)}</dt><dd>{escape(value)}</dd>" for key, value in pairs)
    texts = "".join(f"<details><summary>{label}</summary><pre tabindex='0'>{escape(str(store.attrs[key]))}</pre></details>"
                    for key, label in (("ini", "Sweep file, as given"), ("resolved", "Sweep file, resolved: every setting of every arm"),
                                       ("measure", "Measurements")) if key in store.attrs)
    return f'<dl class="pairs">{items}</dl>{texts}'


# The data of the scripts


def _floats(values: Array) -> str:
    """Base64 of little-endian 32-bit floats, in C order: exact, and NaN is one of them."""
    return base64.b64encode(np.ascontiguousarray(values, "<f4").tobytes()).decode()


def _data(store: xr.Dataset, h: Histories, rows: list[Judged], measures: Any, momenta: Array, places: dict[str, Array]) -> dict[str, Any]:
    units = store.sizes["unit"]
    of_unit = np.zeros(units, int)
    for i, row in enumerate(rows):
        of_unit[row.row.units] = i
    judged = [verdicts.judge(h, np.array([unit])) for unit in range(units)]
    with np.errstate(divide="ignore", invalid="ignore"):
        age = (1 - momenta) / momenta
    numbers = {name: measures[name].to_numpy(float) for name in MEASURES if name in measures}
    numbers |= {"age": age, "largest_lag": np.array([verdict.largest_lag for verdict in judged]), "gap": _mean(h.acc_train - h.acc_eval),
                "lr": store["lr"].values.astype(float), "expected_lag": _mean(h.drift) * age}
    channels = [f"{h.layers[int(layer) - 1]}:{int(index)}" for layer, index in zip(places["channel_layer"], places["channel_index"])]
    return {
        "steps": h.steps.tolist(), "layers": h.layers, "channels": channels,
        "histories": {name: _floats(values) for name, values in h.arrays().items()},
        "measures": {name: _floats(values) for name, values in numbers.items()},
        "quantities": QUANTITIES, "measureLabels": MEASURES, "kinds": KINDS,
        "rows": [{"arm": row.row.arm, "name": row.name, "kind": row.kind, "stale": row.verdict.stale / max(1, row.verdict.checks)} for row in rows],
        "unitRow": of_unit.tolist(), "unitKind": [verdict.kind for verdict in judged],
        "unitVerdict": [warnings.of_unit(verdict, h, unit, places) for unit, verdict in enumerate(judged)],
        "unitNumbers": store.unit.values.tolist(),
        "columns": _columns(store), "keys": [bnstore.label(key) for key in bnstore.keys(store)],
        "limits": {"gap": verdicts.GAP, "lag": verdicts.LAG},
    }


def _mean(values: Array) -> Array:
    return bnstore.nanmean(values, 1) if values.shape[1] else np.full(len(values), np.nan)


def _columns(store: xr.Dataset) -> list[dict[str, Any]]:
    """Every column along unit as its distinct texts and an index for each unit; "" where a unit does not read the setting."""
    frame, columns = bnstore.units(store), []
    for name in frame:
        values = frame[name].tolist()
        if name == "started":
            values = [_day(moment) if moment > 0 else "" for moment in values]
        elif name == "seconds":
            values = [f"{moment:.1f}" if moment == moment else "" for moment in values]
        texts = ["" if value != value else text(value) for value in values]
        distinct = list(dict.fromkeys(texts))
        index = {value: i for i, value in enumerate(distinct)}
        columns.append({"name": bnstore.label(name), "own": name in bnstore.OWN_COLUMNS, "about": str(store[name].attrs.get("long_name", "")),
                        "values": distinct, "index": [index[value] for value in texts]})
    return columns

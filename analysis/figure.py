"""What the figures share: their options, colours and markers, how seeds are shown, what is said when there is nothing to draw.

A figure is a script with a function draw(store, options) that returns a matplotlib Figure; `main` does the rest.
"""

from __future__ import annotations

import argparse
import io
import math
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import needs

needs.modules("matplotlib")

import bnstore
import matplotlib
import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator

matplotlib.use("Agg")

# Okabe and Ito (2008): eight colours that colour-blind readers tell apart; without its yellow, which paper swallows.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "h", "*")
HATCHES = ("", "//", "..", "xx", "--", "\\\\", "oo", "++")
FAILING_COLOUR = "#D55E00"
GREY = "#777777"
WIDTH = 7.2  # inches: a page's text
MOST_SERIES, MOST_PANELS, LONGEST_NAME = 24, 12, 40

STYLE = {
    "font.size": 8, "axes.titlesize": 8, "axes.labelsize": 8, "legend.fontsize": 7.5, "xtick.labelsize": 7.5, "ytick.labelsize": 7.5,
    "figure.titlesize": 9.5, "axes.grid": True, "grid.color": "#dddddd", "grid.linewidth": 0.6, "axes.axisbelow": True,
    "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "lines.linewidth": 1.2, "lines.markersize": 4.5,
    "pdf.fonttype": 42, "svg.hashsalt": "bnsweep", "hatch.linewidth": 0.6,
}

# Variable -> what to write into the sweep file so that it is measured.
SWITCHES = {
    "lag_trace": ("trace_every", "trace_every = 10 in [measure] (0 switches it off)"),
    "acc_reest": ("reest_setting", "reest = last, failing or always in [measure]"),
    "acc_swap_layer": ("swap_layer", "swap_layer = last, failing or always in [measure]"),
    "acc_swap_top": ("swap_top", "swap_top = last, failing or always in [measure]"),
    "acc_ema": ("ema_setting", "ema = last, failing or always in [measure]"),
    "acc_ema_raw": ("ema_setting", "ema = last, failing or always in [measure]"),
    "acc_ema_reest": ("ema_setting", "ema = last, failing or always in [measure]"),
    "mean_lag": ("norm_setting", "norm = batch in [network]: other layers keep no running statistics"),
    "drift": ("norm_setting", "norm = batch in [network]: other layers keep no running statistics"),
}


class NoData(bnstore.StoreError):
    """The store has nothing that this figure draws."""


# The program


def main(draw: Callable[[xr.Dataset, argparse.Namespace], Figure], text: str | None, *arguments: tuple[str, dict[str, Any]]) -> int:
    """Run a figure's script: read its options (`arguments` are added to the common ones), draw, save.

    `text` is the script's docstring, its --help. Returns the exit status: 0; 2 with one line on standard error for bad usage, a
    file that is no store, and a store that has nothing to draw; 1 where the pictures cannot be written.
    """
    name = Path(sys.argv[0]).stem.removeprefix("fig_")
    options = parser(name, text, *arguments).parse_args()
    try:
        stem = _stem(options.out)
        with bnstore.open(options.store) as store, matplotlib.rc_context(STYLE):
            chosen = bnstore.sel(store, **dict(options.only)) if options.only else store
            if not chosen.sizes["unit"]:
                raise NoData(f"{options.store}: has no units yet")
            figure = draw(chosen, options)
            footnote(figure, chosen, options.store)
            paths = save(figure, stem, options.vector, options.dpi)
    except bnstore.StoreError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    print("wrote", " and ".join(map(str, paths)))
    return 0


def parser(name: str, text: str | None, *arguments: tuple[str, dict[str, Any]]) -> argparse.ArgumentParser:
    """Make the parser of a figure's options."""
    made = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("store", metavar="STORE", help="the .h5 file of a sweep, also of one that runs")
    made.add_argument("-o", "--out", type=Path, default=Path(name), metavar="STEM", help=f"write STEM.png and STEM.pdf (default: {name})")
    made.add_argument("--only", action="append", type=_setting, metavar="KEY=VALUE[,VALUE]",
                      help="units with this setting, such as arm=adam,sgd or bn_momentum=0.03; several may be given")
    made.add_argument("--vector", choices=("pdf", "svg"), default="pdf", help="the format beside PNG (default: pdf)")
    made.add_argument("--dpi", type=_dpi, default=150, help="dots per inch of the PNG (default: 150)")
    for flag, keywords in arguments:
        made.add_argument(flag, **keywords)
    return made


LAYER = ("--layer", {"metavar": "LAYER", "help": "the channels of one layer, such as conv2 (default: all)"})


def _setting(text: str) -> tuple[str, list[str]]:
    key, equals, values = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"'{text}' is not KEY=VALUE")
    return key, values.split(",")


def _dpi(text: str) -> int:
    if not text.isdigit() or not 20 <= int(text) <= 1200:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 20 to 1200")
    return int(text)


def _stem(path: Path) -> Path:
    """Take a picture's ending off. Raises StoreError for a folder that is not there."""
    if not path.parent.is_dir():
        raise bnstore.StoreError(f"{path.parent}: no such folder to write into")
    return path.with_suffix("") if path.suffix in (".png", ".pdf", ".svg") else path


def save(figure: Figure, stem: Path, vector: str, dpi: int) -> list[Path]:
    """Write STEM.png and STEM.pdf or .svg. Raises OSError."""
    drawn = {}
    for kind, metadata in (("png", {"Software": None}), (vector, {"Date": None} if vector == "svg" else {"CreationDate": None})):
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, dpi=dpi, metadata=metadata)
        drawn[stem.with_name(f"{stem.name}.{kind}")] = buffer.getvalue()
    for path, content in drawn.items():
        part = path.with_name(path.name + ".part")
        part.write_bytes(content)
        os.replace(part, path)
    return list(drawn)


def footnote(figure: Figure, store: xr.Dataset, path: str) -> None:
    """Say at the bottom what the picture was made from, and what of it is not complete."""
    figure.text(0.995, 0.004, plain(f"{os.path.basename(path)}: units {_states(store)}"), ha="right", va="bottom", fontsize=6, color=GREY)


# What a store has


def require(store: xr.Dataset, *names: str) -> None:
    """Raise NoData, which says what to switch on, unless each of these variables is measured somewhere."""
    for name in names:
        if name not in store or not any(~np.isnan(store[name][rows].values).all() for rows in bnstore.blocks(store, name)):
            raise NoData(_missing(store, name))


def _missing(store: xr.Dataset, name: str) -> str:
    path = os.path.basename(str(store.encoding.get("source", "the store")))
    states = _states(store)
    key, advice = SWITCHES.get(name, ("", ""))
    if not advice:
        return f"{path}: {name} is not measured yet (units: {states})"
    now = ", ".join(map(str, bnstore.distinct(store[key].values))) if key in store else ""
    shown = f"; it says {bnstore.label(key)} = {now}" if now else ""
    return f"{path}: {name} is not measured in these units ({states}); the sweep file needs {advice}{shown}"


@dataclass(frozen=True)
class Series:
    """Units that are drawn alike: an arm, with its other settings where they vary, over BN momenta and seeds."""

    name: str
    units: np.ndarray  # places along `unit`
    colour: str
    marker: str

    @property
    def handle(self) -> Line2D:
        """Its entry in a legend."""
        return Line2D([], [], color=self.colour, marker=self.marker, label=self.name)


def done(store: xr.Dataset) -> xr.Dataset:
    """Choose the units that are done. Raises NoData where there are none."""
    places = np.flatnonzero(store.status.values == bnstore.STATUS.index("done"))
    if not len(places):
        raise NoData(f"none of these units is done yet ({_states(store)})")
    return store.isel(unit=places)


def _states(store: xr.Dataset) -> str:
    return ", ".join(f"{count} {state}" for state, count in bnstore.status(store).items() if count)


def series(store: xr.Dataset, values: np.ndarray | None = None) -> list[Series]:
    """Divide the units into series, in the order in which the store has them; those without any of `values` [unit, ...] are left out,
    yet keep their colour. Raises NoData for more than a reader could follow."""
    keys = [name for name in bnstore.keys(store) if name != "bn_momentum"]
    columns = [bnstore.column_values(store, name) for name in ("arm", *keys)]
    members: dict[tuple[Any, ...], list[int]] = {}
    for place, settings in enumerate(zip(*columns)):
        members.setdefault(tuple(None if value != value else value for value in settings), []).append(place)
    if len(members) > MOST_SERIES:
        raise NoData(f"{len(members)} series are too many for a picture, {MOST_SERIES} the most: choose some with --only, by "
                     + ", ".join(map(bnstore.label, ("arm", *keys))))
    named = [Series(_series_name(settings, keys), np.array(places), COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)])
             for i, (settings, places) in enumerate(members.items())]
    return [one for one in named if values is None or not np.isnan(values[one.units]).all()]


def _series_name(values: Sequence[Any], keys: Sequence[str]) -> str:
    settings = [f"{bnstore.label(key)} {number(value)}" for key, value in zip(keys, values[1:]) if value not in (None, "")]
    name = " ".join(", ".join([values[0] or "(no arm)", *settings]).split())
    return plain(name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME // 2] + "…" + name[-LONGEST_NAME // 2 :])


def plain(text: str) -> str:
    """A text that matplotlib shows as it is: no formula begins at a dollar sign, no legend drops it for a leading underscore."""
    return (" " + text if text.startswith("_") else text).replace("$", r"\$")


def number(value: Any) -> str:
    """A setting's value as short as it reads back the same."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def momenta(store: xr.Dataset) -> list[tuple[str, np.ndarray]]:
    """Divide the units by BN momentum: (label, places along `unit`), rising; those without running statistics last."""
    values = store.bn_momentum.values if "bn_momentum" in store else np.full(store.sizes["unit"], np.nan)
    parts = [(f"BN momentum {value:g}", np.flatnonzero(values == value)) for value in bnstore.distinct(values)]
    if np.isnan(values).any():
        parts.append(("no running statistics", np.flatnonzero(np.isnan(values))))
    return parts


def one_momentum(store: xr.Dataset, wanted: float = 0.03) -> tuple[xr.Dataset, str]:
    """Choose the units whose BN momentum is nearest to `wanted` (on a logarithmic scale), and those that have none; and say so."""
    values = store.bn_momentum.values if "bn_momentum" in store else np.full(store.sizes["unit"], np.nan)
    there = bnstore.distinct(values)
    if not there:
        return store, "no running statistics"
    nearest = min(there, key=lambda value: abs(math.log(value / wanted)))
    return store.isel(unit=np.flatnonzero((values == nearest) | np.isnan(values))), f"BN momentum {nearest:g}"


def by_seed(store: xr.Dataset, chosen: Series, values: np.ndarray) -> np.ndarray:
    """The rows of a series in `values` [unit, ...], one for each training run: units that share their weights (seed and hash) once."""
    seeds = zip(store.seed.values[chosen.units], store.weights_hash.values[chosen.units])
    first = list({key: place for key, place in reversed(list(zip(seeds, chosen.units)))}.values())
    return values[sorted(first)]


# Drawing


def blank(height: float, width: float = WIDTH) -> Figure:
    """Make a figure without axes, of so many inches."""
    figure = Figure(figsize=(width, height), layout="constrained")
    _reserve(figure, 0.15)
    return figure


def panels(count: int, columns: int = 3, height: float = 2.2, width: float = WIDTH, **keywords: Any) -> tuple[Figure, list[Axes]]:
    """Make a figure with `count` equal axes, row by row. Raises NoData for more than fit a page."""
    if count > MOST_PANELS:
        raise NoData(f"{count} panels are too many for a picture, {MOST_PANELS} the most: choose some with --only")
    columns = min(columns, count)
    rows = -(-count // columns)
    figure = blank(height * rows + 1.0, width)
    axes = figure.subplots(rows, columns, squeeze=False, **keywords).reshape(-1)
    for spare in axes[count:]:
        spare.set_axis_off()
    return figure, list(axes[:count])


def label(axes: Sequence[Axes], x: str, y: str) -> None:
    """Name what is along the axes, at the lowest panel of each column and the first of each row."""
    columns = axes[0].get_subplotspec().get_gridspec().ncols
    for place, panel in enumerate(axes):
        if place % columns == 0:
            panel.set_ylabel(y)
        if place + columns >= len(axes):
            panel.set_xlabel(x)
            panel.xaxis.set_tick_params(labelbottom=True)


def _reserve(figure: Figure, inches: float) -> None:
    """Keep the axes out of the figure's lowest inches."""
    share = inches / figure.get_figheight()
    figure.get_layout_engine().set(rect=(0, share, 1, 1 - share))


def legend(figure: Figure, handles: Iterable[Any], columns: int = 4) -> None:
    """One legend under all panels, with as many columns as its longest label leaves room for, at most `columns`."""
    handles = list(handles)
    widest = max(len(entry.get_label()) for entry in handles)
    columns = max(1, min(columns, int(figure.get_figwidth() / (0.5 + 0.054 * widest))))
    inches = 0.3 + 0.17 * -(-len(handles) // columns)
    figure.set_figheight(figure.get_figheight() + inches - 0.3)
    _reserve(figure, inches)
    figure.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 0.12 / figure.get_figheight()), ncols=columns)


def look(place: int) -> tuple[str, str]:
    """Colour and marker of what is told apart by its place in a list."""
    return COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]


def handle(place: int, label: str) -> Line2D:
    """Its entry in a legend."""
    colour, marker = look(place)
    return Line2D([], [], color=colour, marker=marker, label=label)


def percent(axes: Axes, which: str = "y") -> None:
    """Show fractions along an axis as percentages, from 0 to 100."""
    axis = axes.yaxis if which == "y" else axes.xaxis
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g}%"))
    (axes.set_ylim if which == "y" else axes.set_xlim)(-0.03, 1.03)


def log_scale(axes: Axes, which: str, values: Iterable[float]) -> None:
    """Make an axis logarithmic where its values span more than a factor of 5, with plain numbers at the ticks."""
    positive = [value for value in values if value > 0]
    if len(positive) < 2 or max(positive) < 5 * min(positive):
        return
    (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    axis = axes.xaxis if which == "x" else axes.yaxis
    if max(positive) < 100 * min(positive):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    plain_numbers(axis)


def plain_numbers(axis: Axis) -> None:
    """Write 0.01 instead of a power at the ticks of a logarithmic axis."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(FuncFormatter(lambda value, _: ""))


def over_time(axes: Axes, steps: np.ndarray, values: np.ndarray, colour: str, marker: str, label: str = "", dashed: bool = False) -> None:
    """Draw values [seed, step]: their mean as a line with markers, their range as a band."""
    measured = ~np.isnan(values).all(0)
    if not measured.any():
        return
    mean = bnstore.nanmean(values, 0)[measured]
    low, high = np.nanmin(values[:, measured], 0), np.nanmax(values[:, measured], 0)
    axes.fill_between(steps[measured], low, high, color=colour, alpha=0.2, linewidth=0)
    axes.plot(steps[measured], mean, color=colour, marker=marker, markevery=max(1, len(mean) // 8), label=label,
              linestyle="--" if dashed else "-")


def spread(axes: Axes, x: np.ndarray | float, y: np.ndarray, colour: str, marker: str) -> None:
    """Draw one value a seed, small and pale; over them their mean with a bar from the least to the greatest."""
    x = np.broadcast_to(x, y.shape)
    measured = ~(np.isnan(x) | np.isnan(y))
    if not measured.any():
        return
    x, y = x[measured], y[measured]
    axes.plot(x, y, linestyle="", marker=marker, color=colour, alpha=0.45, markersize=3, markeredgewidth=0)
    middle = x.mean()
    axes.vlines(middle, y.min(), y.max(), color=colour, linewidth=0.9)
    axes.plot([middle], [y.mean()], linestyle="", marker=marker, color=colour, markeredgecolor="white", markeredgewidth=0.5, markersize=6)


HOLLOW = Line2D([], [], linestyle="", marker="o", color=GREY, markerfacecolor="none", label="hollow: training mode")


def hollow(axes: Axes, x: np.ndarray, y: np.ndarray, colour: str, marker: str) -> None:
    """Draw the mean over seeds as a hollow marker."""
    measured = ~(np.isnan(x) | np.isnan(y))
    if measured.any():
        axes.plot([x[measured].mean()], [y[measured].mean()], linestyle="", marker=marker, color=colour, markerfacecolor="none",
                  markersize=6, markeredgewidth=0.8)


def patch(place: int, label: str) -> Patch:
    """A bar's entry in a legend."""
    return Patch(facecolor=look(place)[0], hatch=HATCHES[place % len(HATCHES)], edgecolor="white", label=label)


def names(axes: Axes, shown: Sequence[Series]) -> None:
    """Write the series' names along x, aslant where they would not fit side by side."""
    texts = [one.name for one in shown]
    aslant = len(texts) * max(map(len, texts), default=0) > 110
    axes.set_xticks(range(len(texts)), texts, rotation=25 if aslant else 0, ha="right" if aslant else "center")
    axes.grid(False, axis="x")


def bar(axes: Axes, x: float, y: np.ndarray, width: float, place: int) -> None:
    """Draw the mean of one value a seed as a bar, and the values as points on it."""
    y = y[~np.isnan(y)]
    if not len(y):
        return
    axes.bar(x, y.mean(), width * 0.94, color=look(place)[0], hatch=HATCHES[place % len(HATCHES)], edgecolor="white", linewidth=0)
    offsets = (np.arange(len(y)) - (len(y) - 1) / 2) * min(width / 4, 0.5 * width / len(y))
    axes.plot(x + offsets, y, linestyle="", marker="o", markersize=2.4, color="#000000", markeredgecolor="white", markeredgewidth=0.4)

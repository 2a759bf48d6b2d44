#!/usr/bin/python3
"""Every figure's script as a user runs it: pictures, labels, and one clear line where there is nothing to draw."""

import runpy
from pathlib import Path

from support import ANALYSIS, changed, main, np, pytest, put, subprocess, sys

import bnstore
import figure
from matplotlib.image import imread

SCRIPTS = sorted(path.stem.removeprefix("fig_") for path in ANALYSIS.glob("fig_*.py"))
# Name -> the switch that the sweep file needs for it (none: drawn from every sweep), and a word of each axis' label.
FIGURES = {
    "averages": ("reest", "", "accuracy"),
    "lag_formula": ("", "degrees per 100 steps", "standard deviations"),
    "lag_trace": ("trace_every", "training steps", "channel of conv2"),
    "modes": ("", "training steps", "accuracy"),
    "momentum": ("trace_every", "BN momentum", "accuracy"),
    "norm_growth": ("", "training steps", "norm at step 0"),
    "rotation": ("", "degrees per 100 steps", "accuracy"),
    "schedules": ("", "training steps", "learning rate"),
    "swap_layer": ("swap_layer", "", "accuracy"),
    "swap_top": ("swap_top", "channels with fresh", "accuracy"),
}
COLOURS = 60  # more than axes, letters and grid alone have


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """run(NAME, ARGUMENT..., write=True): the script's exit status, what it said, and the Figure that it saved, or would have."""
    monkeypatch.chdir(tmp_path)
    saved = []
    save = figure.save

    def run(name, *arguments, write=True):
        saved.clear()
        monkeypatch.setattr(figure, "save", lambda made, *rest: saved.append(made) or (save(made, *rest) if write else []))
        path = str(ANALYSIS / f"fig_{name}.py")
        monkeypatch.setattr(sys, "argv", [path, *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(path, run_name="__main__")
        said = capsys.readouterr()
        return ended.value.code, said.err if ended.value.code else said.out, saved[0] if saved else None

    return run


def refused(result, *words):
    """Status 2, one line with these words, no picture."""
    status, said, made = result
    assert status == 2 and said.count("\n") == 1 and made is None, said
    for word in words:
        assert word in said, said
    assert not list(Path.cwd().glob("*.p*"))


def test_all_are_here():
    assert SCRIPTS == sorted(FIGURES)


@pytest.mark.parametrize("name", SCRIPTS)
def test_picture(run, tiny, name):
    status, said, made = run(name, tiny, "--dpi", 60)
    assert status == 0 and said == f"wrote {name}.png and {name}.pdf\n", said
    picture = imread(f"{name}.png")
    assert picture.shape[:2] == tuple(int(inches * 60) for inches in made.get_size_inches()[::-1])
    assert len(np.unique(picture.reshape(-1, picture.shape[-1]), axis=0)) > COLOURS
    assert Path(f"{name}.pdf").read_bytes().startswith(b"%PDF")
    _, along, up = FIGURES[name]
    assert any(along in axes.get_xlabel() for axes in made.axes)
    assert any(up in axes.get_ylabel() for axes in made.axes)
    assert "accuracy" in made._suptitle.get_text() or "Lag" in made._suptitle.get_text()
    assert any("tiny.h5: units 10 done" == text.get_text() for text in made.texts)
    for axes in made.axes:
        for text in (axes.xaxis.label, axes.yaxis.label, axes.title):
            box = text.get_window_extent()
            assert not text.get_text() or (box.x0 >= -1 and box.y0 >= -1), f"{text.get_text()} leaves the picture"


@pytest.mark.parametrize("name", SCRIPTS)
def test_draws_in_mid_run(run, midrun, name):
    status, said, made = run(name, midrun, write=False)
    assert status == 0, said
    assert any("1 running" in text.get_text() and "1 diverged" in text.get_text() for text in made.texts)


@pytest.mark.parametrize("name", SCRIPTS)
def test_says_which_switch_is_missing(run, plain, name):
    switch, status, said = FIGURES[name][0], *run(name, plain, write=False)[:2]
    assert (status, said.count("\n")) == ((2, 1) if switch else (0, 1)), said
    assert not switch or (f"{switch} =" in said and "plain.h5" in said)


@pytest.mark.parametrize("name", SCRIPTS)
def test_nothing_measured(run, tiny, tmp_path, name):
    def erase(file):
        for dataset in file.parent.values():
            if dataset.ndim > 1:
                dataset[...] = np.nan
        file[...] = 0

    refused(run(name, changed(tiny, tmp_path / "none.h5", status=erase)), " pending)")


def test_bad_usage(run, tiny, tmp_path):
    refused(run("rotation", tmp_path / "none.h5"), "no such file")
    refused(run("rotation", __file__), "not an HDF5 file")
    refused(run("rotation", tiny, "--only", "arm=adamx"), "there are adam, grouped, sgd")
    refused(run("rotation", tiny, "--only", "armm=adam"), "did you mean 'arm'")
    refused(run("rotation", tiny, "-o", tmp_path / "no" / "x"), "no such folder")
    refused(run("lag_trace", tiny, "--layer", "conv9"), "there are conv1, conv2")
    refused(run("momentum", tiny, "--only", "bn_momentum=0.3"), "one BN momentum", "bn_momentum =")
    refused(run("lag_formula", tiny, "--only", "norm=group"), "norm = batch")
    for wrong in ("--only", "arm"), ("--dpi", "0"), ("--vector", "gif"):
        status, said, made = run("rotation", tiny, *wrong)
        assert status == 2 and made is None and wrong[1] in said


def test_group_norm_alone(run, tiny):
    for name in ("rotation", "modes", "norm_growth", "schedules"):
        status, said, made = run(name, tiny, "--only", "norm=group", write=False)
        assert status == 0, said
    assert "no running statistics" in made._suptitle.get_text()


def test_too_many(run, tiny, tmp_path):
    lr = np.arange(1, 11) * 1e-3
    many = changed(tiny, tmp_path / "many.h5", lr=put(slice(None), lr), arm=put(slice(None), "a"))
    assert run("rotation", many, write=False)[0] == 0
    figure_limit, figure.MOST_SERIES = figure.MOST_SERIES, 9
    try:
        refused(run("rotation", many), "10 series are too many", "--only", "lr")
    finally:
        figure.MOST_SERIES = figure_limit


def test_odd_names(run, tiny, tmp_path):
    def rename(dataset):
        dataset[:6] = ["_hidden", "$x_", "two\nlines", "", "ä€", "long" * 30]

    odd = changed(tiny, tmp_path / "o$d_.h5", arm=rename)
    status, said, made = run("rotation", odd, "--dpi", 20, "--vector", "svg", "-o", "$x_.png")
    assert status == 0 and said == "wrote $x_.png and $x_.svg\n", said
    assert len(made.legends[0].get_texts()) == 6 + 2 + 1


def test_rotation_draws_the_table_s_numbers(run, tiny):
    made = run("rotation", tiny, write=False)[2]
    table = bnstore.table(bnstore.open(tiny))
    for row in table[table.bn_momentum == 0.3].itertuples():
        panel = next(axes for axes in made.axes if axes.get_title() == "BN momentum 0.3")
        means = [line.get_xydata()[0] for line in panel.lines if len(line.get_xdata()) == 1]
        assert any(np.allclose(mean, (row.rotation, row.acc_eval)) for mean in means)


def test_batch_noise():
    """s of simulated channels, whose running means follow the module's own formula, within its standard error."""
    sys.path.insert(0, str(ANALYSIS))
    import fig_momentum
    import xarray as xr

    random, s, steps = np.random.default_rng(1), 0.1, 6000
    for m in (0.03, 0.3, 1.0):
        running, trace, batches = np.zeros(64), [], random.normal(0, s, (steps, 64))
        for step, batch in enumerate(batches, 1):
            if step % 10 == 0:
                trace.append(running - batch)
            running = (1 - m) * running + m * batch
        store = xr.Dataset({"lag_trace": (("unit", "sample", "channel"), np.array(trace)[None]), "bn_momentum": ("unit", [m])},
                           {"sample": np.arange(10, steps + 1, 10), "check": [1000], "unit": [0]})
        assert abs(np.sqrt(fig_momentum.batch_noise(store, slice(None))[0]) / s - 1) < 0.02


def test_help_and_program():
    """The script itself, by its shebang."""
    done = subprocess.run([ANALYSIS / "fig_rotation.py", "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "--only KEY=VALUE" in done.stdout and "A panel for each BN momentum" in done.stdout


if __name__ == "__main__":
    main(__file__)

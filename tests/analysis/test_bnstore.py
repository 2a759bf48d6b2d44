#!/usr/bin/python3
"""The loader against h5py's view of the same store, `bnsweep table --csv` and `bnsweep export --csv`."""

from support import ANALYSIS, HEAD, OFF, bnsweep, changed, h5py, main, np, pytest, put, rows, subprocess, sys, train, xarray

import bnstore


def test_axes_and_values(tiny):
    store = bnstore.open(tiny)
    assert dict(store.sizes) == {"unit": 10, "check": 3, "sample": 6, "channel": 10, "layer": 2, "reest": 2, "order": 3, "k": 5, "ema": 2}
    assert store.check.values.tolist() == [10, 20, 30] and store.layer.values.tolist() == ["conv1", "conv2"]
    assert set(store.coords) == {*store.sizes, "channel_layer", "channel_index"}
    with h5py.File(tiny) as file:
        for name in file:
            expected = file[name].asstr()[()] if h5py.check_string_dtype(file[name].dtype) else file[name][()]
            np.testing.assert_array_equal(store[name].values, expected, name)
    assert store.angle.attrs["units"] == "degree" and "long_name" in store.angle.attrs
    assert store.attrs["sweep"] == "tiny" and store.attrs["title"] == "bnsweep store"
    assert list(store.data_vars)[:3] == ["identity", "arm", "status"], "the store's own order"


def test_the_same_as_xarray_s_engine(tiny):
    with xarray.open_dataset(tiny, engine="h5netcdf") as theirs, bnstore.open(tiny) as ours:
        xarray.testing.assert_equal(theirs, ours)


def test_nothing_is_read_before_it_is_used(tiny):
    store = bnstore.open(tiny)
    lag = bnstore.sel(store, arm="adam", bn_momentum=0.3).mean_lag.isel(check=-1)
    assert not store.mean_lag.variable._in_memory and not lag.variable._in_memory
    with h5py.File(tiny) as file:
        chosen = np.flatnonzero((file["arm"].asstr()[()] == "adam") & (file["bn_momentum"][()] == 0.3))
        np.testing.assert_array_equal(lag.values, file["mean_lag"][()][chosen, -1])
    assert not store.mean_lag.variable._in_memory


def test_refusals(tiny, tmp_path):
    def message(path):
        with pytest.raises(bnstore.StoreError) as caught:
            bnstore.open(path)
        assert "\n" not in str(caught.value) and str(path) in str(caught.value)
        return str(caught.value)

    assert "no such file" in message(tmp_path / "none.h5")
    assert "a folder" in message(tmp_path)
    text = tmp_path / "text.h5"
    text.write_text("no HDF5")
    assert "not an HDF5 file" in message(text)
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = 1
    assert "no bnsweep store" in message(tmp_path / "other.h5")
    newer = changed(tiny, tmp_path / "newer.h5")
    with h5py.File(newer, "r+") as file:
        file.attrs["format_version"] = np.int32(2)
    assert "format version 2" in message(newer)
    torn = tmp_path / "torn.h5"
    torn.write_bytes(tiny.read_bytes()[:3000])
    assert "cannot be read" in message(torn)


def test_selecting(tiny):
    store = bnstore.open(tiny)
    with h5py.File(tiny) as file:
        arm, momentum, seed = file["arm"].asstr()[()], file["bn_momentum"][()], file["seed"][()]

    def chosen(**wanted):
        return bnstore.sel(store, **wanted).unit.values.tolist()

    assert chosen() == list(range(10))
    assert chosen(arm="sgd") == np.flatnonzero(arm == "sgd").tolist()
    both = (arm != "grouped") & (momentum == 0.3) & (seed == 1)
    assert chosen(arm=["sgd", "adam"], bn_momentum="0.3", seed=1) == np.flatnonzero(both).tolist()
    assert chosen(norm="group") == chosen(norm_setting="group") == chosen(bn_momentum=None) == np.flatnonzero(arm == "grouped").tolist()
    assert chosen(status="done", lr=3e-3, groups=2) == chosen(arm="grouped")

    def message(**wanted):
        with pytest.raises(bnstore.StoreError) as caught:
            bnstore.sel(store, **wanted)
        return str(caught.value)

    assert "did you mean 'bn_momentum'" in message(bn_momentun=0.3)
    assert "there are adam, grouped, sgd" in message(arm="adamx")
    assert "there are 0.03, 0.3" in message(bn_momentum="much")
    assert "no unit has all" in message(arm="sgd", norm="group")
    assert "no setting 'angle'" in message(angle=3)


def test_units(tiny, midrun):
    frame = bnstore.units(bnstore.open(midrun))
    assert frame.status.tolist()[:5] == ["diverged", "running", "pending", "failed", "done"]
    assert frame.index.name == "unit" and {"arm", "lr", "norm_setting", "weights_hash", "seconds"} <= set(frame.columns)
    assert bnstore.status(bnstore.open(midrun)) == {"pending": 1, "running": 1, "done": 6, "diverged": 1, "failed": 1}
    assert bnstore.status(bnstore.open(tiny))["done"] == 10


EXPORTS = {
    "checks": lambda store: bnstore.checks(store),
    "channels": lambda store: bnstore.channels(store),
    "trace": lambda store: bnstore.traces(store),
    "reest": lambda store: bnstore.tidy(store, "acc_reest"),
    "swap_layer": lambda store: bnstore.tidy(store, "acc_swap_layer"),
    "swap_top": lambda store: bnstore.tidy(store, "acc_swap_top"),
    "ema": lambda store: bnstore.tidy(store, "acc_ema", "acc_ema_raw", "acc_ema_reest"),
}


@pytest.mark.parametrize("block", [1 << 24, 100])
def test_frames_are_what_export_writes(midrun, tmp_path, monkeypatch, block):
    monkeypatch.setattr(bnstore, "BLOCK_BYTES", block)
    bnsweep("export", midrun, "--csv", tmp_path / "csv")
    store = bnstore.open(midrun)
    for name, make in EXPORTS.items():
        frame, expected = make(store), rows((tmp_path / "csv" / f"{name}.csv").read_text())
        assert len(frame) == len(expected) > 0, name
        assert list(frame.columns[:4]) == ["unit", "arm", "bn_momentum", "seed"]
        for column in expected[0]:
            theirs = [row[column] for row in expected]
            if frame[column].dtype == object:
                assert frame[column].tolist() == theirs, (name, column)
            else:
                np.testing.assert_array_equal(frame[column], np.array([float(value or "nan") for value in theirs], frame[column].dtype))


def test_some_variables_of_a_frame(tiny):
    store = bnstore.open(tiny)
    assert list(bnstore.checks(store, "loss").columns) == ["unit", "arm", "bn_momentum", "seed", "step", "loss"]
    assert list(bnstore.channels(store, "angle").columns)[4:] == ["step", "layer", "channel", "index", "angle"]
    for names, said in (("lr",), "no variable 'lr'"), (("angle", "loss"), "not on the same axes: angle .unit, check, channel., loss"), ((), "no var"):
        with pytest.raises(bnstore.StoreError, match=said):
            bnstore.tidy(store, *names)


def test_layers(midrun):
    store = bnstore.open(midrun)
    frame = bnstore.layers(store)
    with h5py.File(midrun) as file:
        for row in frame.sample(12, random_state=1).itertuples():
            check, layer = {10: 0, 20: 1, 30: 2}[row.step], {"conv1": 0, "conv2": 1}[row.layer]
            part = slice(0, 4) if layer == 0 else slice(4, 10)

            def mean(values):
                values = values[part].astype(float)
                return np.nan if np.isnan(values).all() else np.nanmean(values)

            at = row.unit, check
            np.testing.assert_allclose(row.angle, mean(file["angle"][at]), rtol=1e-12)
            np.testing.assert_allclose(row.abs_mean_lag, mean(abs(file["mean_lag"][at])), rtol=1e-12)
            np.testing.assert_allclose(row.norm_growth, mean(file["norm"][at] / file["norm_init"][row.unit].astype(float)), rtol=1e-12)
            np.testing.assert_array_equal(row.acc_swap_layer, file["acc_swap_layer"][row.unit, check, layer])
    with h5py.File(midrun) as file:
        assert len(frame) == 2 * (~np.isnan(file["acc_eval"][()])).sum()


def held_against_the_program(path):
    """The table of the loader is `bnsweep table`'s: same rows, columns, order, numbers."""
    ours, theirs = bnstore.table(bnstore.open(path)), rows(bnsweep("table", "--csv", path))
    assert list(ours.columns) == list(theirs[0]) and len(ours) == len(theirs)
    for column in ours.columns:
        values = [row[column] for row in theirs]
        if ours[column].dtype == object:
            assert ours[column].tolist() == values, column
        else:
            np.testing.assert_allclose(ours[column], [float(value or "nan") for value in values], rtol=1e-9, atol=1e-12, err_msg=column)
    return ours


def test_table(tiny):
    table = held_against_the_program(tiny)
    assert len(table) == 5 and np.isfinite(table.rotation).all() and table.rotation.is_monotonic_increasing
    assert (table.done == 2).all() and np.isnan(table.bn_momentum[table.arm == "grouped"]).all()


@pytest.mark.parametrize("block", [1 << 24, 100])
def test_table_in_mid_run(midrun, monkeypatch, block):
    monkeypatch.setattr(bnstore, "BLOCK_BYTES", block)
    table = held_against_the_program(midrun)
    assert table.done.sum() == 6 and table.rotation.isna().any()


def test_table_by_every_setting_that_varies(folder):
    path = train(HEAD + OFF + "[network]\nchannels = 4-4\n[train]\nbatch = 8\noptimizer = adam\n[grid]\nlr = 1e-3, 1e-2\nsteps = 20, 30\n"
                 "seed = 0..1\n[arm a]\nnorm = batch, layer\n[arm _b.c-1]\nweight_decay = 0.05, 0.1\n", folder / "keys.h5")
    table = held_against_the_program(path)
    assert list(table.columns[:6]) == ["arm", "bn_momentum", "norm", "steps", "lr", "weight_decay"]
    assert bnstore.keys(bnstore.open(path)) == ["bn_momentum", "norm_setting", "steps", "lr", "weight_decay"]
    held_against_the_program(changed(path, path.with_name("odd.h5"), arm=put(slice(0, 5), "ä, \"$x_\"")))


def test_table_of_nothing(plain, tmp_path):
    for name, state in ("diverged", 3), ("failed", 4), ("pending", 0):
        nothing = {} if name == "diverged" else dict.fromkeys(("acc_eval", "acc_train", "angle", "norm"), put(slice(None), np.nan))
        table = held_against_the_program(changed(plain, tmp_path / f"{name}.h5", status=put(slice(None), state), **nothing))
        assert table.rotation.isna().all() and table[name].sum() == 10


def test_a_part_of_a_store(tiny):
    store = bnstore.open(tiny)
    whole = bnstore.measures(store)
    part = bnstore.sel(store, seed=1, arm=["adam", "grouped"])
    np.testing.assert_array_equal(bnstore.measures(part), whole.loc[part.unit.values])
    assert bnstore.table(part).units.tolist() == [1, 1, 1]


def test_one_line_for_missing_packages():
    """An interpreter without the packages is told which ones to install."""
    code = "import sys; sys.path[:] = [sys.argv[1], *(path for path in sys.path if 'packages' not in path)]; import bnstore"
    done = subprocess.run([sys.executable, "-B", "-c", code, ANALYSIS], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert "python3-h5py" in done.stderr and "python3-xarray" in done.stderr


if __name__ == "__main__":
    main(__file__)

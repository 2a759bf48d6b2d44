#!/bin/sh
# A store opens in xarray (both engines), ncdump and h5dump, with named dimensions and the right values.
set -eu
make_store=${BNSWEEP_BIN:?}/../tests/store/make_store
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$make_store" "$folder/s.h5"

for tool in ncdump h5dump /usr/bin/python3; do
    command -v "$tool" >/dev/null || { echo "no $tool: skipped"; exit 77; }
done
/usr/bin/python3 -c 'import xarray, h5netcdf, netCDF4' 2>/dev/null || { echo "no xarray with both engines: skipped"; exit 77; }

ncdump "$folder/s.h5" >"$folder/dump"
grep -q 'unit = UNLIMITED ; // (4 currently)' "$folder/dump"
grep -q 'acc_swap_top(unit, check, order, k)' "$folder/dump"
grep -q 'double batch_mean(unit, step, channel)' "$folder/dump"
ncdump -h "$folder/s.h5" | grep -q 'float weights(unit, check, parameter)'
ncdump -v batch_var "$folder/s.h5" | grep -q '^ batch_var ='
if grep -E 'phony|NIL' "$folder/dump"; then
    echo "a dimension without a name, or a text that was never written"
    exit 1
fi
h5dump "$folder/s.h5" >"$folder/h5dump"
grep -q 'DATASET "lag_trace"' "$folder/h5dump"

/usr/bin/python3 - "$folder/s.h5" <<'EOF'
import sys
import warnings

import h5netcdf
import netCDF4
import numpy as np
import xarray as xr

warnings.simplefilter("error")
for engine in "h5netcdf", "netcdf4":
    with xr.open_dataset(sys.argv[1], engine=engine) as store:
        assert set(store.dims) == {"unit", "check", "sample", "channel", "layer", "reest", "order", "k", "ema", "step",
                                   "parameter"}, store.dims
        assert store["unit"].values.tolist() == [0, 1, 2, 3]
        assert store["check"].values.tolist() == [100, 200, 300]
        assert store["layer"].values.tolist() == ["conv1", "conv2"]
        assert store["order"].values.tolist() == ["lag", "angle", "random"]
        assert store["channel_layer"].values.tolist() == [1, 1, 2, 2, 2]
        assert "channel_layer" in store["angle"].coords
        assert store["arm"].values.tolist() == ["arm 0", "arm 1", "arm 0", "arm 1"]
        assert store["note"].values.tolist() == ["", "größer", "", ""]
        assert store["host"].values.tolist() == ["node1", "", "node1", ""]
        assert store["reason"].values.tolist() == [""] * 4
        assert store["norm_setting"].values.tolist() == ["group", "batch", "group", "batch"]
        assert store["status"].values.tolist() == [2, 0, 2, 0]
        assert store["status"].attrs["flag_meanings"].split()[2] == "done"
        assert store["seed"].values.dtype == np.int64 and store["seed"].values.tolist() == [7, 1, 7, 3]
        assert store["lr"].values[0] == 0.125 and store["lr"].values[1] == 0.2
        assert store["started"].values[0] == 1.75e9 and np.isnan(store["started"].values[1])
        assert store["seconds"].values[0] == 12.5
        assert store["norm"].dtype == np.float32
        assert store["norm"].dims == ("unit", "check", "channel")
        assert np.isnan(store["norm"].values[1]).all() and np.isnan(store["norm"].values[3]).all()
        assert np.isfinite(store["lr_applied"].values[[0, 2]]).all()
        assert store["angle"].attrs["units"] == "degree"
        kept = store["batch_mean"]
        assert kept.dtype == np.float64 and kept.dims == ("unit", "step", "channel") and store["step"].values.tolist() == [*range(1, 8)]
        assert kept.isel(unit=0, step=6, channel=1) == np.float64(np.float32(360.001)) + 2.0**-40
        assert kept.isel(unit=[1, 2, 3]).isnull().all() and store["batch_var"].isel(unit=[1, 2, 3]).isnull().all()
        assert store["weights"].dims == ("unit", "check", "parameter") and store["weights"].dtype == np.float32
        assert store["weights"].isel(unit=0, check=2, parameter=4) == np.float32(420.004)
        assert store.attrs["ini"] == "[sweep]\nname = small\n"
        swap = store["acc_swap_top"].sel(unit=2, check=300, order="angle")
        assert swap.dims == ("k",) and swap.notnull().any()
        store.load()
        text = str(store)
        assert "phony" not in text
    print(engine, "reads the store")
EOF

#!/bin/bash
# An mpirun that stays although it has no ranks any more, or never had any, does not hold up `bnsweep run -j` for ever: 10 s, all at once.
# `long`: nor does one that never has any and that nobody stops: 60 s.
. "$(dirname "$0")/support.sh"
tiny >tiny.ini
mkdir lost never
printf '%s\n' '#!/bin/bash' 'sleep 1 &' 'wait' 'exec sleep 1000' >lost/mpirun
printf '%s\n' '#!/bin/bash' 'touch "$0.started.$PPID"' 'exec sleep 1000' >never/mpirun
chmod +x lost/mpirun never/mpirun

declare -A process
begin() { # CASE FAKE
    PATH=$folder/$2:$PATH "$bnsweep" run tiny.ini -o "$1.h5" -j 2 >"log.$1" 2>&1 &
    process[$1]=$!
}
expect_end() { # CASE STATUS MESSAGE
    wait "${process[$1]}"
    rc=$?
    cp "log.$1" log
    expect_rc "$2" "$1"
    expect_log "$3"
}

begin lost lost
begin stopped never
[ "${1:-}" != long ] || begin waiting never
until [ -e "never/mpirun.started.${process[stopped]}" ]; do sleep 0.05; done
kill -TERM "${process[stopped]}"
expect_end stopped 75 "stopped before all ranks had ended in good order"
expect_end lost 1 "mpirun had lost its ranks and did not end"
[ "${1:-}" != long ] || expect_end waiting 1 "mpirun started no rank within 60 s"

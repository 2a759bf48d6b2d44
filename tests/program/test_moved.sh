#!/bin/bash
# A sweep goes on where its store is moved or copied to, with its journal and its states, on other numbers of ranks, on paths with spaces
# and letters beyond ASCII.
. "$(dirname "$0")/support.sh"
. "$(dirname "$0")/lost.sh"
prepare

# Killed, so that the journal holds what the store has not, and moved.
here="a b/über größe"
there="ελλη νικά"
mkdir -p "$here" "$there"
begin "$bnsweep" run sweep.ini -o "$here/store één.h5" --state-every 0.2
await_state "$here/store één.h5"
kill_sweep
[ -s "$here/store één.h5.journal" ] || fail "there is no journal to be moved"
expect_nobody_left "killed"
cp -r "$here" copy
for part in "" .journal .state; do
    mv "$here/store één.h5$part" "$there/moved $part.tmp"
    mv "$there/moved $part.tmp" "$there/moved.h5$part"
done
complete "$there/moved.h5" "moved" 3
[ "$(value "$there/moved.h5" "s['attempts'][:].max()")" = 2 ] || fail "moved: no unit went on"
complete "copy/store één.h5" "copied" 4
run 1 sweep.ini -o whole.h5
expect_log "nothing to do"

# The sweep file and the store have such names, and -j passes them on.
mkdir "Ärger mit Leerzeichen"
cp sweep.ini "Ärger mit Leerzeichen/süß ß.ini"
run 1 "Ärger mit Leerzeichen/süß ß.ini" -o "Ärger mit Leerzeichen/ö ö.h5" -j 2
expect_rc 0 "-j with such names"
expect_same "Ärger mit Leerzeichen/ö ö.h5" "-j with such names"

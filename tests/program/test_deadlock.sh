#!/bin/bash
# Long (10 s of waiting): an mpirun that stays although all its ranks have ended does not hold up `bnsweep run -j` for ever.
. "$(dirname "$0")/support.sh"
tiny >tiny.ini
mkdir fake
cat >fake/mpirun <<'END'
#!/bin/bash
sleep 1 &
wait
exec sleep 1000
END
chmod +x fake/mpirun
PATH=$folder/fake:$PATH timeout 300 "$bnsweep" run tiny.ini -j 2 >log 2>&1
rc=$?
expect_rc 1 "an mpirun that does not end"
expect_log "had lost its ranks and did not end"

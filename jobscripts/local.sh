#!/bin/bash
# A sweep on this machine, to the end: jobscripts/local.sh FILE.ini [options of bnsweep run], for instance -j 8 (default: all cores).
# Ranks that were lost (out of memory, kill -9, a full disk) are started again and go on. Ctrl-C, TERM and USR1 stop it in good order: the
# states are saved, and the same command goes on. The store decides how it ends; exit status 0: it has everything; 1: everything but
# units that failed; 2: the sweep was refused; 75: something is left, run it again.
set -u
program=${BNSWEEP:-$(dirname "$0")/../build/release/src/bnsweep} # the built program
[ -x "$program" ] || program=bnsweep
starts=${BNSWEEP_STARTS:-8} # in a row, of ranks that were lost within ten minutes
pause=${BNSWEEP_PAUSE:-10}  # seconds before the second start, twice as many before each further one, up to 300
grace=${BNSWEEP_GRACE:-120} # seconds from the stop signal until what still runs is ended by force
arguments=("$@")

say() { echo "$(date +%FT%T) local.sh: $*" >&2; }
[ $# -gt 0 ] || { say "usage: jobscripts/local.sh FILE.ini [options of bnsweep run]"; exit 2; }
[[ " $* " == *" -j"* ]] || arguments+=(-j "$(nproc)")

launch() {
  trap '' USR1 # inherited: too early a signal would end what has no handler for it yet
  exec "$program" run "${arguments[@]}"
}

# Start it and wait for its end; hand a stop signal on, again and again, since ranks that are being started may miss it.
run() {
  local began=$SECONDS stopped=''
  launch &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    sleep 1 &
    wait $! # ends early on a signal
    [ -n "$stop" ] || continue
    stopped=${stopped:-$SECONDS}
    kill -USR1 "$pid" 2>/dev/null
    [ $((SECONDS - stopped)) -lt "$grace" ] && continue
    say "it does not stop"
    kill -TERM "$pid" 2>/dev/null
    sleep 5
    kill -KILL "$pid" 2>/dev/null
  done
  wait "$pid"
  status=$?
  lasted=$((SECONDS - began))
}

stop=
trap 'stop=yes' USR1 TERM INT

start=0
while [ -z "$stop" ]; do
  start=$((start + 1))
  run
  rest=$("$program" run --left "${arguments[@]}")
  outcome=$?
  [ -z "$rest" ] && [ "$outcome" -eq 1 ] && outcome=75 # a file system in trouble: try again
  [ "$outcome" -ne 75 ] && exit "$outcome"             # nothing is left that could be trained, or the sweep is refused
  [ "$status" -eq 2 ] && exit 2                        # refused: so it would be again
  [ "$status" -eq 75 ] && exit 75                      # in good order: stopped, or at --deadline
  [ -n "$stop" ] && break
  say "start $start ended with $status after $lasted s: ${rest:-the store cannot be read}"
  [ "$lasted" -ge 600 ] && start=1
  [ "$start" -lt "$starts" ] || { say "$start starts have failed: giving up"; break; }
  seconds=$((pause << (start - 1)))
  sleep $((seconds < 300 ? seconds : 300)) &
  wait $!
done
exit 75

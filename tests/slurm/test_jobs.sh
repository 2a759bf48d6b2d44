#!/bin/bash
# Jobs over two nodes through jobscripts/slurm.sbatch, with mpirun and with srun, undisturbed and stopped by USR1; what is refused.
. "$(dirname "$0")/support.sh"

submit plain.h5
await_end COMPLETED 0:0
expect_complete plain.h5 "mpirun"
[ "$(value plain.h5 "len(set(s['rank'][:]))")" -ge 2 ] || fail "only one worker trained"

# USR1, as before a time limit: states are saved, the job queues itself again and goes on.
for launcher in mpirun srun; do
    jobs=0
    export BNSWEEP_LAUNCHER=$launcher
    hold_back
    submit $launcher.h5
    await_state $launcher.h5
    scancel --signal=USR1 --batch "$job"
    await '[ "$(field Restarts)" = 1 ]'
    let_go
    [ "$(value $launcher.h5 "(s['status'][:] == 2).sum()")" -lt $units ] || fail "it was done before it was stopped"
    grep -q "$launcher ended with 75" "log.$job" || fail "$launcher did not end with 75"
    await_end COMPLETED 0:0
    expect_complete $launcher.h5 "$launcher, USR1, requeue"
done

# Several managers on one store are refused before anything is made: srun without PMIx.
cat >refused.sbatch <<'SCRIPT'
#!/bin/bash
for mpi in pmi2 none; do
    srun --mpi=$mpi -n 4 -c 1 "$BNSWEEP" run sweep.ini -o refused.h5 >refused.$mpi 2>&1
    echo "$mpi $?" >>refused.codes
done
"$BNSWEEP" run sweep.ini -o refused.h5 >refused.single 2>&1
echo "single $?" >>refused.codes
SCRIPT
submit_script --nodes=2 --ntasks-per-node=2 --mem-per-cpu=100 --time=5 refused.sbatch
await_end COMPLETED 0:0
[ "$(tr '\n' ' ' <refused.codes)" = "pmi2 2 none 2 single 2 " ] || fail "not all were refused with 2: $(cat refused.codes)"
for mpi in pmi2 none single; do
    grep -q 'srun --mpi=pmix' refused.$mpi || fail "$mpi: the refusal does not say how to start: $(cat refused.$mpi)"
done
[ -z "$(find . -name 'refused.h5*')" ] || fail "a refused run made something: $(find . -name 'refused.h5*')"
echo "refused: pmi2, none, singleton"

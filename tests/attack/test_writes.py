#!/usr/bin/python3
"""A run's processes end before, half-way through or after a call that changes a file: of store, journal, or a saved state. What was
recorded stays, the next run goes on by itself to the bits of an undisturbed one. `long`: 300 such calls; else 9, a third of them
among the `write`s, with which states are written. `seed=N` repeats one. tests/store/test_crash_points.c does every call of the store's
writer."""
import collections

from support import LONG, Calls, Place, check, recorded, run, seed_from_arguments

POINTS = 300 if LONG else 9
STATES = ["--state-every", "0.05"]


def main():
    place = Place(steps=2000, every=200, trace=50)
    random = seed_from_arguments()
    ended, codes, lost = collections.Counter(), collections.Counter(), 0
    try:
        place.make_whole()
        shim = Calls(place, *STATES)
        calls, kinds = shim.of_a_run()
        print(f"a run makes {calls} calls: {kinds}", flush=True)
        for number in range(POINTS):
            home = place.folder / f"w{number}"
            home.mkdir()
            store, how, only = home / "s.h5", ["before", "half", "after"][number % 3], "write" if number // 3 % 3 == 0 else ""
            at = random.randrange(1, (kinds["write"] // 2 if only else calls) + 1)
            found = shim.run(store, at, how, only)
            check(found.returncode in (0, -9), f"{only or 'call'} {at} ({how}): exit status {found.returncode}: {found.stdout}{found.stderr}")
            codes[found.returncode] += 1
            ended[shim.counts()[2]] += 1
            known = recorded(store)
            again = run(place.ini, store)
            check(again.returncode == 0, f"{only or 'call'} {at} ({how}): the next run does not go on: {again.stdout}{again.stderr}")
            lost += len(known - recorded(store))
            check(not lost, f"{only or 'call'} {at} ({how}): {lost} records lost")
            place.is_whole(store)
        ended.pop(None, 0)  # a shorter run than the counted one
        check(ended["write"] > 0 and sum(ended.values()) >= POINTS // 2, f"hardly any call was met: {ended}")
        print(f"{sum(ended.values())} processes ended at a call ({dict(ended)}), {codes[-9]} of them rank 0; nothing recorded was lost, "
              f"every store as undisturbed")
    finally:
        place.remove()


main()

#!/usr/bin/python3
"""A run's processes end before, half-way through or after a call that changes a file: of store, journal, or a saved state. What was
recorded stays, the next run goes on by itself to the bits of an undisturbed one. `long`: 300 such calls; else 9. `seed=N` repeats one.
tests/store/test_crash_points.c does every call of the store's writer."""
import collections
import struct

from support import LONG, SHIM, Place, call, check, recorded, run, seed_from_arguments

POINTS = 300 if LONG else 9
CALLS = ["write", "pwrite", "copy_file_range", "rename", "unlink", "ftruncate", "fallocate", "fsync", "fdatasync"]
STATES = ["--state-every", "0.05"]


class Shim:
    """tests/support/crash_shim.c, and what it counts."""

    def __init__(self, place):
        self.counter = place.folder / "counter"

    def run(self, place, store, at, how):
        self.counter.write_bytes(bytes(4096))
        return call("run", place.ini, "-o", store, *STATES, environment={
            "LD_PRELOAD": str(SHIM), "CRASH_COUNTER": str(self.counter), "CRASH_BELOW": str(store.parent.resolve()),
            "CRASH_AT": str(at), "CRASH_HOW": how})

    def counts(self):
        numbers = struct.unpack_from(f"<{len(CALLS) + 2}I", self.counter.read_bytes())
        return numbers[0], dict(zip(CALLS, numbers[1:])), CALLS[numbers[-1] - 1] if numbers[-1] else None


def main():
    place = Place(steps=12000, every=1200, trace=300)
    random = seed_from_arguments()
    ended, codes, lost = collections.Counter(), collections.Counter(), 0
    try:
        place.make_whole()
        shim = Shim(place)
        home = place.folder / "counted"
        home.mkdir()
        check(shim.run(place, home / "s.h5", 0, "none").returncode == 0, "a run whose calls are counted")
        calls, kinds, _ = shim.counts()
        check(kinds["write"] > 0 and kinds["fdatasync"] > 0, f"no states or no commits among the calls: {kinds}")
        print(f"a run makes {calls} calls: {kinds}", flush=True)
        for number in range(POINTS):
            home = place.folder / f"w{number}"
            home.mkdir()
            store, at, how = home / "s.h5", random.randrange(1, calls + 1), ["before", "half", "after"][number % 3]
            found = shim.run(place, store, at, how)
            check(found.returncode in (0, -9), f"call {at} ({how}): exit status {found.returncode}: {found.stdout}{found.stderr}")
            codes[found.returncode] += 1
            ended[shim.counts()[2]] += 1
            known = recorded(store)
            again = run(place.ini, store)
            check(again.returncode == 0, f"call {at} ({how}): the next run does not go on: {again.stdout}{again.stderr}")
            lost += len(known - recorded(store))
            check(not lost, f"call {at} ({how}): {lost} records lost")
            place.is_whole(store)
        ended.pop(None, 0)  # a shorter run than the counted one
        check(sum(ended.values()) >= POINTS // 2, f"hardly any call was met: {ended}")
        print(f"{sum(ended.values())} processes ended at a call ({dict(ended)}), {codes[-9]} of them rank 0; nothing recorded was lost, "
              f"every store as undisturbed")
    finally:
        place.remove()


main()

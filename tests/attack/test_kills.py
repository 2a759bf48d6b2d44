#!/usr/bin/python3
"""kill -9 at random moments: rank 0, a worker rank, a training process, a publishing one, all at once. After each, what was recorded is
still there; at the end the store is, bit for bit, that of an undisturbed run. `long`: 200 kills; else 10. `seed=N` repeats one."""
import collections
import time

from support import LONG, Job, Place, check, recorded, seed_from_arguments

KILLS = 200 if LONG else 8
VICTIMS = ["rank0", "rank0", "worker", "worker", "child", "all"]
PUBLISHERS = 20 if LONG else 0  # of the kills: the first publishing process of a run comes after 10 s
STEPS = 40000 if LONG else 8000  # a third of a millisecond each, or more: 13 or 2.6 seconds a trajectory
MOST_CHILDREN = 2  # a trajectory fails after three crashes in one run


class Attack:
    def __init__(self, place, random):
        self.place, self.random = place, random
        self.slow = place.hold_back(300)
        self.kills, self.stores, self.known, self.runs = collections.Counter(), 0, set(), 0

    def store(self):
        return self.place.folder / f"s{self.stores}.h5"

    def look(self):
        now = recorded(self.store())
        check(self.known <= now, f"lost: {sorted(self.known - now, key=str)[:5]}")
        self.known = now

    def complete(self):
        self.place.is_whole(self.store())
        self.stores += 1
        self.known = set()

    def pause(self, job, for_publisher):
        """Wait a random time, and for a publishing process where that is to be killed; False where the run has ended."""
        until = time.monotonic() + self.random.uniform(0.02, 2)
        while not job.ended() and time.monotonic() < until:
            time.sleep(0.01)
        while for_publisher and not job.ended() and not any(kind == "publisher" for kind, _ in job.processes()):
            time.sleep(0.002)
        return not job.ended()

    def one_run(self):
        """From a start to an end by itself or by kills."""
        job = Job(self.place.ini, self.store(), self.random.choice([1, 3]), "--state-every", "0.1", environment=self.slow)
        self.runs += 1
        children, killed = 0, None
        publisher = self.random.random() < 2 * PUBLISHERS / KILLS and self.kills["publisher"] < PUBLISHERS
        while killed in (None, "child", "publisher"):
            if not self.pause(job, publisher):
                break
            victim = "publisher" if publisher else self.random.choice(VICTIMS)
            if victim == "child" and children == MOST_CHILDREN:
                victim = "all"
            if job.kill(victim):
                self.kills[victim] += 1
                killed = victim
                children += victim == "child"
                publisher = False
        code = job.wait()
        # With what mpirun ends whose ranks were killed is its own affair; but ours must not call it a failure.
        check(code == 0 if killed in (None, "child", "publisher") else code not in (1, 2, 3), f"exit status {code} after {killed} was killed:\n{job.output()}")
        self.look()
        if code == 0:
            self.complete()
        if LONG:
            print(f"{sum(self.kills.values())} kills in {self.runs} runs, {self.stores} stores completed", flush=True)


def main():
    place = Place(steps=STEPS, every=500, trace=50)
    random = seed_from_arguments()
    try:
        place.make_whole()
        attack = Attack(place, random)
        while sum(attack.kills.values()) < KILLS:
            attack.one_run()
        job = Job(place.ini, attack.store(), 1)
        check(job.wait() == 0, f"the last run:\n{job.output()}")
        attack.look()
        attack.complete()
        if Job.deadlocks:
            print(f"{Job.deadlocks} times mpirun did not end by itself after its ranks had")
        print(f"{sum(attack.kills.values())} kills ({dict(attack.kills)}) in {attack.runs} runs; "
              f"{attack.stores} stores completed, all as undisturbed; nothing lost, nothing twice")
    finally:
        place.remove()


main()

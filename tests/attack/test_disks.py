#!/usr/bin/python3
"""Full disks, file systems that turn read-only, folders that are removed or moved during a run, jumping clocks, damaged journals, two runs
at once, readers, strange paths: a clear message and status 1 with all that was recorded intact, and the next run goes on by itself to the
bits of an undisturbed one. `long` does more of each; `seed=N` repeats one."""
import errno
import os
import resource
import shutil
import subprocess
import time

import h5py

from support import CLOCK, LONG, PACE, Calls, Job, Place, call, check, recorded, run, seed_from_arguments

FULL, READ_ONLY = os.strerror(errno.ENOSPC), os.strerror(errno.EROFS)
STATES = ["--state-every", "0.1"]
SLOW = 10000  # microseconds a step, where a run is held back: 40 s in all at one rank, 20 at three
counts = {}


def count(what, n=1):
    counts[what] = counts.get(what, 0) + n


class Tmpfs:
    """A small file system on `folder`; it goes with the block."""

    def __init__(self, folder, size):
        self.folder, self.size = folder, size

    def __enter__(self):
        self.folder.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.size}", "none", self.folder], check=True)
        return self

    def grow(self, size):
        subprocess.run(["mount", "-o", f"remount,size={size}", self.folder], check=True)

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", self.folder], check=True)


def go_on(place, store, known, what):
    """The trouble is over: nothing recorded is gone, and one more run completes the store."""
    check(known <= recorded(store), f"{what}: lost {len(known - recorded(store))} records")
    found = run(place.ini, store)
    check(found.returncode == 0, f"{what}: the next run does not go on: {found.stdout}{found.stderr}")
    place.is_whole(store)


def stopped_well(found, said, what):
    """Status 1 and a message that says why."""
    check(found.returncode == 1, f"{what}: exit status {found.returncode}: {found.stdout}{found.stderr}")
    check(said in found.stdout + found.stderr, f"{what}: nothing is said of '{said}': {found.stdout}{found.stderr}")


def full_from_the_start(place, random):
    """Too small for the store, the journal, a published store, the states."""
    sizes = [40, 400, 1000, 1600] if not LONG else [random.randrange(8, 4000) for _ in range(40)]
    for size in sizes:
        with Tmpfs(place.folder / "small", f"{size}k") as disk:
            store = disk.folder / "s.h5"
            found = run(place.ini, store, *STATES)
            if found.returncode != 0:
                stopped_well(found, FULL, f"{size} KB")
                count("stopped by a small disk")
            known = recorded(store)
            disk.grow("64m")
            go_on(place, store, known, f"{size} KB")
            count("small disks")


def end(place, job):
    """Let a run in trouble go on to its end; its exit status."""
    place.let_go()
    return job.wait()


def full_during_the_run(place, random):
    for _ in range(2 if not LONG else 20):
        with Tmpfs(place.folder / "filling", "16m") as disk:
            store = disk.folder / "s.h5"
            job = Job(place.ini, store, random.choice([1, 3]), *STATES, environment=place.hold_back(SLOW))
            job.await_moment(store.exists, f"there was {store}")
            time.sleep(random.uniform(0, 2))
            filler = disk.folder / "filler"
            with open(filler, "wb", buffering=0) as file:
                try:
                    while True:
                        file.write(bytes(4096))
                except OSError:
                    pass
            code = end(place, job)
            text = job.output()
            check(code in (0, 1), f"a disk that fills: exit status {code}: {text}")
            check(code == 0 or FULL in text, f"a disk that fills: the message does not say so: {text}")
            count("stopped by a filling disk", code)
            known = recorded(store)
            filler.unlink()
            go_on(place, store, known, "a disk that fills")
            count("filling disks")


def calls_fail(place, random):
    """Every call that changes a file fails from some call on: as of a file system that turns read-only, or breaks."""
    calls = Calls(place, *STATES)
    most, _ = calls.of_a_run()
    for number in range(3 if not LONG else 60):
        store = place.folder / f"failing{number}.d" / "s.h5"
        store.parent.mkdir()
        at, how = random.randrange(1, most), random.choice([errno.EROFS, errno.EIO])
        found = calls.run(store, at, how)
        if found.returncode != 0:
            stopped_well(found, os.strerror(how), f"calls fail from {at} on")
            count("stopped by failing calls")
        go_on(place, store, recorded(store), f"calls fail from {at} on")
        count("runs with failing calls")


def files_of_limited_size(place):
    """As `ulimit -f`, but from some moment on, since MPI would not start with such limits: a write beyond it is an error as on a full
    disk, and not the end of the process by a signal."""
    for ranks in (1, 3):
        store = place.folder / f"limited{ranks}.h5"
        job = Job(place.ini, store, ranks, *STATES, environment=place.hold_back(SLOW))
        job.await_records(store)
        for kind, pid in job.processes():
            if kind == "rank0":
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
        code, text = end(place, job), job.output()
        check(code == 1 and os.strerror(errno.EFBIG) in text, f"a limit on the size of files: exit status {code}: {text}")
        go_on(place, store, recorded(store), "a limit on the size of files")
        count("limits on the size of files")


def read_only_from_the_start(place):
    with Tmpfs(place.folder / "fixed", "16m") as disk:
        store = disk.folder / "s.h5"
        subprocess.run(["mount", "-o", "remount,ro", disk.folder], check=True)
        stopped_well(run(place.ini, store), READ_ONLY, "a read-only disk")
        subprocess.run(["mount", "-o", "remount,rw", disk.folder], check=True)
        go_on(place, store, set(), "a read-only disk")
        subprocess.run(["mount", "-o", "remount,ro", disk.folder], check=True)
        for command in ("status", "verify", "table"):
            check(call(command, store).returncode == 0, f"{command} of a store on a read-only disk")
        count("read-only disks")


def folder_goes(place, moved):
    home, away = place.folder / "home", place.folder / "away"
    home.mkdir()
    store = home / "s.h5"
    job = Job(place.ini, store, 1, *STATES, environment=place.hold_back(SLOW))
    job.await_records(store)
    known = recorded(store)
    if moved:
        home.rename(away)
    else:
        shutil.rmtree(home)
    code, text = end(place, job), job.output()
    check(code == 1, f"the folder goes: exit status {code}: {text}")
    check("no longer there" in text, f"the folder goes: the message does not say so: {text}")
    if moved:
        go_on(place, away / "s.h5", known, "a folder that was moved")
        shutil.rmtree(away)
    else:
        home.mkdir()
        go_on(place, store, set(), "a folder that was removed")
        shutil.rmtree(home)
    count("folders that went")


def clock_jumps(place, random):
    for jump in (-7200, 7200) if not LONG else (-7200, 7200, -1, 1e8, -1e9):
        store = place.folder / f"clock{jump}.h5"
        environment = place.hold_back(600)  # each training process lasts for 1.2 s or more
        environment.update(LD_PRELOAD=f"{CLOCK}:{PACE}", CLOCK_JUMP=str(jump), CLOCK_AFTER=str(random.uniform(0.1, 1)))
        deadline = ["--deadline", str(int(time.time()) + 36000)] if jump < 36000 else []  # it may jump before the run looks at it
        found = call("run", place.ini, "-o", store, *deadline, *STATES, environment=environment)
        check(found.returncode == 0, f"the clock jumps by {jump}: {found.stdout}{found.stderr}")
        place.is_whole(store)
        count("clocks that jump")


def killed_journal(place):
    """A store and its journal as a killed run leaves them."""
    store = place.folder / "killed.h5"
    job = Job(place.ini, store, 1, environment=place.hold_back(SLOW))
    job.await_records(store, 20)
    job.kill("all")
    job.wait()
    place.let_go()
    return store.read_bytes(), open(f"{store}.journal", "rb").read()


def journals(place, random, store_bytes, journal_bytes):
    """Cut anywhere: cut further, and gone on from. With a flipped bit: the same, or refused until it is repaired."""
    store = place.folder / "journal.d" / "s.h5"
    for number in range(6 if not LONG else 100):
        store.parent.mkdir()
        store.write_bytes(store_bytes)
        changed, cut = bytearray(journal_bytes), number % 2
        at = random.randrange(len(changed))
        if cut:
            del changed[max(at, 48):]
        else:
            changed[at] ^= 1 << random.randrange(8)
        open(f"{store}.journal", "wb").write(changed)
        found = run(place.ini, store)
        if found.returncode != 0 and not cut:
            stopped_well(found, "bnsweep repair", f"bit flipped in byte {at}")
            check(open(f"{store}.journal", "rb").read() == changed, "the refused journal was changed")
            fixed = call("repair", store)
            check(fixed.returncode == 0, f"repair: {fixed.stdout}{fixed.stderr}")
            check(open(f"{store}.journal.damaged", "rb").read() == changed, "repair did not keep the damaged journal")
            os.unlink(f"{store}.journal.damaged")
            count("journals repaired")
            found = run(place.ini, store)
        check(found.returncode == 0, f"journal {'cut' if cut else 'flipped'} at byte {at}: {found.stdout}{found.stderr}")
        place.is_whole(store)
        shutil.rmtree(store.parent)
        count("damaged journals")


def other_journals(place, journal_bytes):
    """Of another store, and of a newer program: refused, untouched, and the message says what to do."""
    store = place.folder / "other.h5"
    shutil.copy(place.whole, store)
    for what, said, code in (("another store", "belongs to another store", 2), ("a newer version", "version", 1)):
        changed = bytearray(journal_bytes)
        if what == "a newer version":
            changed[8] += 1  # its checksum is wrong then: tests/store/test_journal.c has one that is right
            said = "header is damaged"
        open(f"{store}.journal", "wb").write(changed)
        found = run(place.ini, store)
        check(found.returncode == code and said in found.stderr + found.stdout, f"{what}: {found.returncode}: {found.stderr}")
        check(open(f"{store}.journal", "rb").read() == changed, f"the journal of {what} was changed")
        os.unlink(f"{store}.journal")
        count("journals refused")
    place.is_whole(store)


def runs_at_once(place):
    store = place.folder / "shared.h5"
    environment = place.hold_back(SLOW)
    jobs = [Job(place.ini, store, 1, environment=environment) for _ in range(3)]
    while sum(job.ended() for job in jobs) < 2:
        time.sleep(0.02)
    place.let_go()
    codes = []
    for job in jobs:
        codes.append(job.wait())
        text = job.output()
        check(codes[-1] == 0 or (codes[-1] == 1 and "being written by another run (host " in text), f"two at once: {codes[-1]}: {text}")
    check(sorted(codes) == [0, 1, 1], f"of three runs at once: {codes}")
    place.is_whole(store)
    count("runs at once", len(jobs))


def readers(place):
    """Somebody has the store open while another is put in its place: he keeps his, the run goes on."""
    store = place.folder / "read.h5"
    job = Job(place.ini, store, 1, *STATES, environment=place.hold_back(SLOW))
    held, commands = [], 0
    while not job.ended():
        if os.path.exists(store):
            held.append(h5py.File(store))
            for command in ("status", "verify"):
                found = call(command, store)
                check(found.returncode in (0, 3) and "damaged" not in found.stdout, f"{command} during a run: {found.stdout}{found.stderr}")
                commands += 1
            if len(held) == 5:
                place.let_go()
        time.sleep(0.1)
    check(len(held) >= 5, f"the run ended before five readers had come: {job.output()}")
    check(job.wait() == 0, f"with readers: {job.output()}")
    for file in held:
        check(file["status"].shape == (4,), "a reader lost its store")
        file["angle"][:]
        file.close()
    place.is_whole(store)
    count("readers", len(held) + commands)


def strange_paths(place):
    home = place.folder / "with blanks, 'quotes' and größe 数据"
    home.mkdir()
    for ranks in (1, 3):
        store = home / f"s {ranks} ü.h5"
        job = Job(place.ini, store, ranks, *STATES, environment=place.hold_back(SLOW))
        job.await_records(store)
        job.kill("all")
        job.wait()
        place.let_go()
        known = recorded(store)
        check(call("status", store).returncode == 0, "status of a store on a strange path")
        go_on(place, store, known, "a strange path")
        count("strange paths")
    link = place.folder / "link.h5"
    link.symlink_to(home / "behind a link.h5")
    check(run(place.ini, link).returncode == 0 and link.is_symlink(), "a link to a store that is not there yet")
    place.is_whole(home / "behind a link.h5")
    count("links")


def main():
    place = Place(steps=2000, every=200, trace=50)
    random = seed_from_arguments()
    mounts = os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "none", place.folder], capture_output=True).returncode == 0
    try:
        if mounts:
            place.write_ini()
        place.make_whole()
        if mounts:
            full_from_the_start(place, random)
            full_during_the_run(place, random)
            read_only_from_the_start(place)
        else:
            print("not root, or no right to mount: small disks are left out")
        files_of_limited_size(place)
        calls_fail(place, random)
        folder_goes(place, moved=False)
        folder_goes(place, moved=True)
        clock_jumps(place, random)
        store_bytes, journal_bytes = killed_journal(place)
        journals(place, random, store_bytes, journal_bytes)
        other_journals(place, journal_bytes)
        runs_at_once(place)
        readers(place)
        strange_paths(place)
        print(", ".join(f"{n} {what}" for what, n in counts.items()) + "; nothing recorded was lost, every store as undisturbed")
    finally:
        if mounts:
            subprocess.run(["umount", "-l", place.folder])
        place.remove()


main()

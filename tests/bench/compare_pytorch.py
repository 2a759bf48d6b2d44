#!/usr/bin/python3
"""Time bnsweep and PyTorch side by side: one core, one thread, the experiment's network, a step of 128 images and a check of 4,000.

The two take turns on one core, so that both see the same neighbours on a shared machine; what is printed are medians over the turns and
ratios. Usage: tests/bench/compare_pytorch.py [--program build/release/src/bnsweep] [--rounds 5] [--seconds 5] [--core N] [--json FILE]
"""

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import time

BATCH, IMAGES, CLASSES = 128, 4000, 10
# PyTorch as the experiment's listing runs it; and where memory is kept, not returned to the system and faulted in again at each step.
MODES = {
    "pytorch": ("PyTorch, default", {}),
    "pytorch-best": ("PyTorch, channels last, memory kept",
                     {"MALLOC_MMAP_THRESHOLD_": "4294967296", "MALLOC_TRIM_THRESHOLD_": "68719476736", "MALLOC_TOP_PAD_": "268435456"}),
}
MEASURES = {
    "step": "training step, processor ms",
    "step_wall": "training step, wall ms",
    "evaluation": "evaluation mode, 4,000 images, processor ms",
    "training_mode": "training mode, 4,000 images, processor ms",
}


def torch_turn(mode, seconds):
    """In a process of its own: time PyTorch and print the measures as JSON."""
    import torch
    import torch.nn.functional as F
    from torch import nn

    torch.set_num_threads(1)
    torch.manual_seed(0)
    best = mode == "pytorch-best"
    layout = torch.channels_last if best else torch.contiguous_format
    templates = torch.randn(CLASSES, 3, 32, 32)

    def batch(n):
        y = torch.randint(0, CLASSES, (n,))
        return (0.6 * templates[y] + torch.randn(n, 3, 32, 32)).contiguous(memory_format=layout), y

    def block(cin, cout):
        return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout, momentum=0.03), nn.ReLU())

    net = nn.Sequential(block(3, 32), nn.MaxPool2d(2), block(32, 64), nn.MaxPool2d(2), block(64, 64), nn.AdaptiveAvgPool2d(1),
                        nn.Flatten(), nn.Linear(64, CLASSES)).to(memory_format=layout)
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)

    def step():
        x, y = batch(BATCH)
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def accuracy(x, y, size):
        with torch.no_grad():
            return sum((net(a).argmax(1) == b).sum().item() for a, b in zip(x.split(size), y.split(size))) / len(y)

    def timed(work):
        cpu, wall = time.process_time(), time.perf_counter()
        work()
        return 1e3 * (time.process_time() - cpu), 1e3 * (time.perf_counter() - wall)

    for _ in range(3):
        step()
    steps, started = [], time.perf_counter()
    while len(steps) < 5 or time.perf_counter() - started < seconds:
        steps.append(timed(step))
    x, y = batch(IMAGES)
    net.eval()
    evaluation, _ = timed(lambda: accuracy(x, y, BATCH if best else IMAGES))
    net.train()
    training_mode, _ = timed(lambda: accuracy(x, y, IMAGES))
    print(json.dumps({"step": statistics.median(cpu for cpu, _ in steps), "step_wall": statistics.median(wall for _, wall in steps),
                      "evaluation": evaluation, "training_mode": training_mode, "version": torch.__version__}))


def run(command, **environment):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ, OMP_NUM_THREADS="1", **environment))
    if done.returncode:
        sys.exit(f"{command[0]} ended with status {done.returncode}")
    return json.loads(done.stdout)


def bnsweep_turn(arguments):
    found = run([arguments.program, "bench", "--json", "--seconds", str(arguments.seconds), "--set", f"batch={BATCH}", "--set",
                 f"val_size={IMAGES}"])
    check = {name: found["check"][name]["median"] for name in ("training_mode", "evaluation_mode")}
    return found, {"step": found["step"]["cpu_ms"]["median"], "step_wall": found["step"]["wall_ms"]["median"],
                   "evaluation": check["evaluation_mode"], "training_mode": check["training_mode"]}


def processor():
    with open("/proc/cpuinfo") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown processor")


def print_table(turns, titles):
    print(f"| {'median (least to most)':43} | " + " | ".join(f"{title:35}" for title in titles.values()) + " |")
    print("|---|" + "---|" * len(titles))
    for measure, text in MEASURES.items():
        middle = {who: statistics.median(turn[measure] for turn in turns[who]) for who in titles}
        cells = []
        for who in titles:
            values = [turn[measure] for turn in turns[who]]
            cell = f"{middle[who]:.0f} ({min(values):.0f} to {max(values):.0f})"
            cells.append(cell if who == "bnsweep" else f"{cell}, {middle[who] / middle['bnsweep']:.2f} x")
        print(f"| {text:43} | " + " | ".join(f"{cell:35}" for cell in cells) + " |")


def main():
    cores = sorted(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/src/bnsweep")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each (5)")
    parser.add_argument("--seconds", type=float, default=5, help="of steps a turn (5)")
    parser.add_argument("--core", type=int, default=cores[-1], help="the core all run on (the last)")
    parser.add_argument("--json", help="write all turns there")
    parser.add_argument("--turn", choices=MODES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    try:
        import torch  # noqa: F401
    except ImportError:
        sys.exit(f"{sys.executable} has no PyTorch; on Debian: apt-get install python3-torch, and run this with /usr/bin/python3")
    if arguments.turn:
        torch_turn(arguments.turn, arguments.seconds)
        return
    if not os.access(arguments.program, os.X_OK):
        sys.exit(f"there is no program {arguments.program}; build it (cmake --preset release && cmake --build --preset release) or name it "
                 "with --program")
    if arguments.core not in cores:
        sys.exit(f"core {arguments.core} is not ours; there are: {cores}")
    os.sched_setaffinity(0, {arguments.core})
    titles = {"bnsweep": "bnsweep", **{mode: title for mode, (title, _) in MODES.items()}}
    turns = {who: [] for who in titles}
    for number in range(max(1, arguments.rounds)):
        found, turn = bnsweep_turn(arguments)
        turns["bnsweep"].append(turn)
        for mode, (_, environment) in MODES.items():
            turns[mode].append(run([sys.executable, os.path.abspath(__file__), "--turn", mode, "--seconds", str(arguments.seconds)],
                                   **environment))
        print(f"round {number + 1}: " + ", ".join(f"{who} {turns[who][-1]['step']:.0f} ms a step" for who in titles), file=sys.stderr)
    load = "load " + " ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"{datetime.date.today()}, {processor()}, core {arguments.core}, {len(turns['bnsweep'])} turns each; {load}")
    print("A shared, noisy machine: its ratios say more than its times.\n")
    print(f"bnsweep {found['program']['program_version']}: engine {found['engine']}; {found['program']['blas']}; "
          f"{found['program']['instruction_set']}; {found['program']['compiler_flags']}")
    print(f"PyTorch {turns['pytorch'][0]['version']}, one thread\n")
    print_table(turns, titles)
    print(f"\nOne core: {found['machine']['fma_gflops']:.0f} GFLOP/s ({found['machine']['fma_instructions']}), "
          f"{found['machine']['triad_gbytes']:.0f} GB/s. \"x\": PyTorch's time over bnsweep's, above 1 where bnsweep is faster.")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(turns, file, indent=1)


main()

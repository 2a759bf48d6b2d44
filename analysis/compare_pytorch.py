#!/usr/bin/python3
"""Train the experiment's network in PyTorch and in bnsweep, on the same images from the same weights, and lay the traces over each other.

PyTorch makes the images and the first weights; bnsweep reads both (data = file, init = FILE). A picture shows loss, accuracies in both
modes, the running mean of the channel where they differ most and the weights' norms; a table prints the largest differences. PyTorch runs
once more in float64: rounding alone takes its own two traces as far apart as that, since training amplifies it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import needs

needs.modules("numpy", "pandas", "xarray", "h5py", "matplotlib", "torch")

import bnstore
import h5py
import matplotlib
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

matplotlib.use("Agg")
import figure
import matplotlib.pyplot as plt

CLASSES, EPOCH = 10, 64  # batches in the data file; then it starts again
ROUNDING = 1e-7  # the store's numbers are float32
PROGRAM = Path(__file__).resolve().parent.parent / "build" / "release" / "src" / "bnsweep"
Trace = dict[str, np.ndarray]
PER_CHECK = {"loss": "training loss", "acc_train": "accuracy in training mode", "acc_eval": "accuracy in evaluation mode"}
PER_CHANNEL = {"running_mean": "running mean", "running_var": "running variance", "norm": "norm of the weights"}


# Data and first weights


def images(count: int, templates: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    labels = random.integers(0, CLASSES, count)
    return (0.6 * templates[labels] + random.standard_normal((count, *templates.shape[1:]))).astype("f4"), labels.astype("i4")


def write_data(path: Path, options: argparse.Namespace) -> Trace:
    """The task of the experiment, ten templates in noise: train_x [n, c, h, w], train_y [n], val_x, val_y."""
    random = np.random.default_rng(options.seed)
    templates = random.standard_normal((CLASSES, 3, options.image, options.image))
    data: Trace = {}
    for part, count in (("train", options.batch * min(EPOCH, options.steps)), ("val", options.val_size)):
        data[f"{part}_x"], data[f"{part}_y"] = images(count, templates, random)
    data["val_y"][0] = CLASSES - 1  # the file's classes are counted by the largest label
    with h5py.File(path, "w") as file:
        for name, values in data.items():
            file[name] = values
    return data


def network(options: argparse.Namespace) -> nn.Sequential:
    """Blocks of convolution, batch norm and ReLU, pooled between, then a linear classifier on the mean over pixels."""
    widths = [int(width) for width in options.channels.split("-")]
    layers: list[nn.Module] = []
    for i, (before, width) in enumerate(zip([3, *widths], widths)):
        layers += [nn.MaxPool2d(2)] if i else []
        layers.append(nn.Sequential(nn.Conv2d(before, width, 3, padding=1, bias=False), nn.BatchNorm2d(width, momentum=options.bn_momentum), nn.ReLU()))
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(widths[-1], CLASSES))


def blocks(net: nn.Sequential) -> list[nn.Sequential]:
    return [layer for layer in net if isinstance(layer, nn.Sequential)]


def write_weights(path: Path, net: nn.Sequential) -> None:
    with h5py.File(path, "w") as file:
        for i, block in enumerate(blocks(net), 1):
            file[f"conv{i}.weight"] = block[0].weight.detach().numpy()
        file["linear.weight"], file["linear.bias"] = net[-1].weight.detach().numpy(), net[-1].bias.detach().numpy()


# PyTorch


def optimizer_of(net: nn.Module, options: argparse.Namespace) -> torch.optim.Optimizer:
    if options.optimizer == "sgd":
        return torch.optim.SGD(net.parameters(), options.lr, momentum=options.momentum, weight_decay=options.weight_decay)
    kind = torch.optim.AdamW if options.optimizer == "adamw" else torch.optim.Adam
    return kind(net.parameters(), options.lr, weight_decay=options.weight_decay)


def project(convolutions: list[nn.Conv2d], before: list[torch.Tensor]) -> None:
    """Take the radial part out of each output channel's update."""
    with torch.no_grad():
        for convolution, old in zip(convolutions, before):
            update, unit = (convolution.weight - old).flatten(1), F.normalize(old.flatten(1), dim=1)
            update -= (update * unit).sum(1, keepdim=True) * unit
            convolution.weight.copy_(old + update.view_as(old))


def check(net: nn.Sequential, x: torch.Tensor, y: torch.Tensor) -> dict[str, Any]:
    """Measure; the pass in training mode leaves the running statistics as they were."""
    kept = {name: value.clone() for name, value in net.state_dict().items()}
    with torch.no_grad():
        train = (net(x).argmax(1) == y).double().mean().item()
        net.load_state_dict(kept)
        net.eval()
        evaluation = (net(x).argmax(1) == y).double().mean().item()
    net.train()
    norms = [block[1] for block in blocks(net)]
    return {"acc_train": train, "acc_eval": evaluation, "running_mean": torch.cat([norm.running_mean for norm in norms]).numpy(),
            "running_var": torch.cat([norm.running_var for norm in norms]).numpy(),
            "norm": torch.cat([block[0].weight.detach().flatten(1).norm(dim=1) for block in blocks(net)]).numpy()}


def by_pytorch(net: nn.Sequential, data: Trace, options: argparse.Namespace, dtype: torch.dtype) -> Trace:
    """Train a copy of `net`: [check] and [check, channel] arrays by the store's names."""
    copy = network(options).to(dtype)
    copy.load_state_dict(net.state_dict())
    x, y = torch.tensor(data["train_x"]).to(dtype), torch.tensor(data["train_y"]).long()
    val_x, val_y = torch.tensor(data["val_x"]).to(dtype), torch.tensor(data["val_y"]).long()
    optimizer, convolutions = optimizer_of(copy, options), [block[0] for block in blocks(copy)]
    losses, rows, batches = [], [], len(x) // options.batch
    for step in range(options.steps):
        if options.schedule == "cosine":
            optimizer.param_groups[0]["lr"] = options.lr / 2 * (1 + np.cos(np.pi * step / options.steps))
        part = slice(step % batches * options.batch, (step % batches + 1) * options.batch)
        loss = F.cross_entropy(copy(x[part]), y[part])
        optimizer.zero_grad()
        loss.backward()
        before = [convolution.weight.detach().clone() for convolution in convolutions] if options.radial == "project" else []
        optimizer.step()
        project(convolutions, before)
        losses.append(loss.item())
        if (step + 1) % options.check_every == 0:
            rows.append({"loss": np.mean(losses[-options.check_every:]), **check(copy, val_x, val_y)})
    return {name: np.array([row[name] for row in rows], float) for name in rows[0]}


# bnsweep


def by_bnsweep(folder: Path, options: argparse.Namespace) -> tuple[Trace, list[str]]:
    """The same by the program; also the names of the channels."""
    own = {"optimizer": options.optimizer, "lr": options.lr, "schedule": options.schedule, "radial": options.radial,
           "weight_decay": options.weight_decay, "bn_momentum": options.bn_momentum, "steps": options.steps, "batch": options.batch}
    if options.optimizer == "sgd":
        own["momentum"] = options.momentum
    train = "\n".join(f"{name} = {value}" for name, value in own.items())
    (folder / "compare.ini").write_text(f"""\
[sweep]
name = compare
[task]
data = file
file = data.h5
[network]
channels = {options.channels}
init = init.h5
[train]
{train}
[measure]
first_check = {options.check_every}
check_every = {options.check_every}
angle_window = {options.check_every}
val_size = {options.val_size}
trace_every = 0
reest = never
""")
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    done = subprocess.run([options.program, "run", folder / "compare.ini", "-o", folder / "compare.h5"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env=environment)
    if done.returncode:
        raise SystemExit(f"{done.stdout}compare_pytorch.py: {options.program} ended with status {done.returncode}")
    with bnstore.open(folder / "compare.h5") as store:
        names = [f"{store.layer.values[layer - 1]}, channel {index}" for layer, index in zip(store.channel_layer.values, store.channel_index.values)]
        return {name: store[name].values[0].astype(float) for name in (*PER_CHECK, *PER_CHANNEL)}, names


# What comes out


def difference(one: Trace, other: Trace, name: str) -> np.ndarray:
    """[check]: largest difference over the quantity's largest magnitude at that check."""
    apart, size = abs(one[name] - other[name]), abs(other[name])
    if apart.ndim == 2:
        apart, size = apart.max(1), size.max(1)
    apart = apart / np.maximum(size, 1e-30)
    return np.where(apart < ROUNDING, 0, apart)


def print_table(ours: Trace, single: Trace, double: Trace, steps: np.ndarray) -> None:
    pairs = {"bnsweep, PyTorch float64": (ours, double), "PyTorch float32, float64": (single, double), "bnsweep, PyTorch float32": (ours, single)}
    print("Largest difference over the quantity's largest value, at the first check (step "
          f"{steps[0]}) and at the check where it is largest\n\n{'':28}" + "".join(f"{name:>32}" for name in pairs))
    for name, label in {**PER_CHECK, **PER_CHANNEL}.items():
        print(f"{label:28}" + "".join(f"{apart[0]:18.1e} {apart.max():7.1e} @{steps[apart.argmax()]:<4}"
                                      for apart in (difference(*pair, name) for pair in pairs.values())))


def draw(ours: Trace, single: Trace, double: Trace, steps: np.ndarray, channels: list[str], options: argparse.Namespace) -> plt.Figure:
    looks = {"bnsweep": (ours, figure.COLOURS[0], "-", 1.4), "PyTorch, float32": (single, figure.COLOURS[1], "--", 1.4),
             "PyTorch, float64": (double, figure.COLOURS[6], ":", 1.1)}
    apart = abs(ours["running_mean"] - single["running_mean"]) / np.sqrt(single["running_var"])
    channel = int(apart.max(0).argmax())
    panels = [("loss", "training loss (nat)", slice(None)), ("acc_train", "accuracy, training mode", slice(None)),
              ("acc_eval", "accuracy, evaluation mode", slice(None)), ("running_mean", f"running mean, {channels[channel]}", channel), ("norm", "norm, mean over the last convolution", None)]
    last = slice(-int(options.channels.split("-")[-1]), None)
    drawn, axes = plt.subplots(2, 3, figsize=(10, 5.4), constrained_layout=True)
    for ax, (name, label, part) in zip(axes.flat, panels):
        for who, (trace, colour, dash, width) in looks.items():
            values = trace[name][:, last].mean(1) if part is None else trace[name][:, part] if trace[name].ndim == 2 else trace[name]
            ax.plot(steps, values, dash, color=colour, linewidth=width, label=who)
        ax.set(title=label, xlabel="step")
    axes.flat[0].legend(frameon=False)
    last_ax = axes.flat[5]
    for i, name in enumerate(("loss", "acc_eval", "running_mean", "norm")):
        for trace, dash in ((ours, "-"), (single, "--")):
            values = difference(trace, double, name)
            last_ax.semilogy(steps, np.where(values > 0, values, np.nan), dash, color=figure.COLOURS[i], marker=figure.MARKERS[i],
                             markersize=2.5, linewidth=0.9, label={**PER_CHECK, **PER_CHANNEL}[name] if trace is ours else None)
    last_ax.set(title="relative difference from PyTorch's float64\n(solid bnsweep, dashed PyTorch's float32)", xlabel="step")
    last_ax.legend(frameon=False, fontsize=6)
    drawn.suptitle(f"{options.optimizer}, lr {options.lr:g}, bn_momentum {options.bn_momentum:g}, batch {options.batch}, images of "
                   f"{options.image} x {options.image}")
    return drawn


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--optimizer", choices=("sgd", "adam", "adamw"), default="adam")
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--momentum", type=float, default=0.9, help="SGD's")
    parser.add_argument("--weight-decay", type=float, default=0.0)
    parser.add_argument("--radial", choices=("keep", "project"), default="keep")
    parser.add_argument("--schedule", choices=("constant", "cosine"), default="constant")
    parser.add_argument("--bn-momentum", type=float, default=0.03)
    parser.add_argument("--channels", default="32-64-64")
    parser.add_argument("--image", type=int, default=32, help="height and width, pixels")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--check-every", type=int, default=10)
    parser.add_argument("--val-size", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--program", type=Path, default=PROGRAM)
    parser.add_argument("-o", "--out", type=Path, default=Path("compare_pytorch.png"), help="the picture (compare_pytorch.png)")
    options = parser.parse_args()
    if options.steps < options.check_every or options.check_every < 1:
        parser.error("--steps must hold at least one --check-every")
    if not os.access(options.program, os.X_OK):
        parser.error(f"there is no program {options.program}; build it or name it with --program")
    return options


def main() -> int:
    options = parse()
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    net = network(options)
    steps = np.arange(options.check_every, options.steps + 1, options.check_every)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = write_data(folder / "data.h5", options)
        write_weights(folder / "init.h5", net)
        ours, channels = by_bnsweep(folder, options)
    single, double = (by_pytorch(net, data, options, dtype) for dtype in (torch.float32, torch.float64))
    ours = {name: values[: len(steps)] for name, values in ours.items()}
    print_table(ours, single, double, steps)
    with plt.rc_context(figure.STYLE):
        draw(ours, single, double, steps, channels, options).savefig(options.out, dpi=150)
    print(f"\nwrote {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""How far PyTorch's float32 gradient is from its float64 one, on the input that the test core.gradient_accuracy_double leaves behind.

    gradient_pytorch.py build/release/tests/core/gradient_accuracy.bin

Also says how far our double gradient is from PyTorch's float64 one: the two must agree. Needs PyTorch (apt-get install python3-torch).
"""
import sys

import numpy as np
import torch

IMAGES, CHANNELS, CLASSES, EPS = 8, (3, 32, 64, 64), 10, 1e-5


def read(path):
    """Return the tensors in the file's order as {name: array}, images [n, h, w, c], and our gradient under the same names."""
    shapes = {}
    for block in (1, 2, 3):
        shapes[f"conv{block}.weight"] = (3, 3, CHANNELS[block - 1], CHANNELS[block])
        shapes[f"norm{block}.weight"] = shapes[f"norm{block}.bias"] = (CHANNELS[block],)
    shapes["linear.weight"], shapes["linear.bias"] = (CHANNELS[-1], CLASSES), (CLASSES,)
    size = sum(int(np.prod(shape)) for shape in shapes.values())
    data = open(path, "rb").read()
    weights = np.frombuffer(data, np.float32, size)
    images = np.frombuffer(data, np.float32, IMAGES * 32 * 32 * 3, 4 * size).reshape(IMAGES, 32, 32, 3)
    gradient = np.frombuffer(data, np.float64, size, 4 * (size + images.size))
    named, ours, at = {}, {}, 0
    for name, shape in shapes.items():
        count = int(np.prod(shape))
        named[name], ours[name] = (array[at:at + count].reshape(shape) for array in (weights, gradient))
        at += count
    return named, images, ours


def to_torch(name, array, dtype):
    """Our layout to PyTorch's: [3][3][in][out] to [out][in][3][3], [in][out] to [out][in]."""
    order = (3, 2, 0, 1) if array.ndim == 4 else (1, 0) if array.ndim == 2 else (0,)
    return torch.tensor(np.ascontiguousarray(array.transpose(order)), dtype=dtype)


def gradient(named, images, dtype):
    weights = {name: to_torch(name, array, dtype).requires_grad_() for name, array in named.items()}
    x = torch.tensor(np.ascontiguousarray(images.transpose(0, 3, 1, 2)), dtype=dtype)
    for block in (1, 2, 3):
        x = torch.nn.functional.conv2d(x, weights[f"conv{block}.weight"], padding=1)
        x = torch.nn.functional.batch_norm(x, None, None, weights[f"norm{block}.weight"], weights[f"norm{block}.bias"], True, eps=EPS)
        x = torch.relu(x)
        if block < 3:
            x = torch.nn.functional.max_pool2d(x, 2)
    logits = torch.nn.functional.linear(x.mean((2, 3)), weights["linear.weight"], weights["linear.bias"])
    torch.nn.functional.cross_entropy(logits, torch.arange(IMAGES) % CLASSES).backward()
    return {name: tensor.grad.double() for name, tensor in weights.items()}


def main():
    torch.set_num_threads(1)
    named, images, ours = read(sys.argv[1])
    exact, single = gradient(named, images, torch.float64), gradient(named, images, torch.float32)
    worst = agreement = 0
    for name, tensor in exact.items():
        largest = tensor.abs().max()
        worst = max(worst, error := float((single[name] - tensor).abs().max() / largest))
        agreement = max(agreement, float((to_torch(name, ours[name], torch.float64) - tensor).abs().max() / largest))
        print(f"{name:14} PyTorch float32's error {error:.2g}")
    print(f"worst {worst:.2g}; our double gradient differs from PyTorch's float64 one by {agreement:.2g}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Compare the GPU embedding, layer by layer, with torch in double precision.

usage: torch_check.py FOLDER [--device cpu|cuda]

FOLDER holds what cuda_dump_embedding wrote. Prints one line per tap and a summary per dump; exits
with 1 when a bound of the specification is missed, with 77 (skipped) without torch. Nothing of
diarist is used here but the dumped numbers: batch norms are torch's own, not folded.
"""

import argparse
import json
import sys
from pathlib import Path

try:
    import numpy as np
    import torch
    import torch.nn.functional as nn
except ImportError as error:
    print(f"skipped: {error}; run this where torch is installed")
    sys.exit(77)

# Precision: largest relative error of a layer, smallest cosine of an embedding.
BOUNDS = {"exact": (1e-4, 0.99999), "fast": (1e-2, 0.9999), "tf32": (None, 0.999)}
BLOCKS = [3, 4, 6, 3]
JUMP = 10  # a tap whose error is so many times that of the tap before is marked


def read_safetensors(file: Path) -> dict[str, np.ndarray]:
    """Every f32 tensor of a file, by name."""
    raw = np.memmap(file, dtype=np.uint8, mode="r")
    length = int(raw[:8].view("<u8")[0])
    header = json.loads(raw[8 : 8 + length].tobytes())
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if entry["dtype"] != "F32":
            raise ValueError(f"{file}: {name} is {entry['dtype']}, F32 expected")
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        values = np.frombuffer(raw[begin:end].tobytes(), dtype="<f4")
        tensors[name] = values.reshape(entry["shape"])
    return tensors


class Network:
    """The WeSpeaker ResNet34 out of its checkpoint."""

    def __init__(self, checkpoint: dict[str, np.ndarray], device: str):
        self.tensors = {
            name: torch.from_numpy(values.copy()).to(device, torch.float64)
            for name, values in checkpoint.items()
        }

    def conv(self, x, name: str, norm: str, stride: int = 1):
        weight = self.tensors[f"{name}.weight"]
        y = nn.conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2)
        return nn.batch_norm(
            y,
            self.tensors[f"{norm}.running_mean"],
            self.tensors[f"{norm}.running_var"],
            self.tensors[f"{norm}.weight"],
            self.tensors[f"{norm}.bias"],
            eps=1e-5,
        )

    def taps(self, features, masks):
        """Yields (name, tensor) in the order of the network."""
        x = features.transpose(1, 2).unsqueeze(1)  # [n, 1, band, frame]
        x = torch.relu(self.conv(x, "resnet.conv1", "resnet.bn1"))
        yield "stem", x
        for layer, count in enumerate(BLOCKS, start=1):
            for block in range(count):
                path = f"resnet.layer{layer}.{block}"
                tap = f"layer{layer}.{block}"
                first = layer > 1 and block == 0
                hidden = self.conv(x, f"{path}.conv1", f"{path}.bn1", 2 if first else 1)
                hidden = torch.relu(hidden)
                yield f"{tap}.hidden", hidden
                if first:
                    x = self.conv(x, f"{path}.shortcut.0", f"{path}.shortcut.1", 2)
                    yield f"{tap}.shortcut", x
                x = torch.relu(self.conv(hidden, f"{path}.conv2", f"{path}.bn2") + x)
                yield tap, x
        pooled = self.pool(x, masks)
        yield "pooled", pooled
        head = self.tensors["resnet.seg_1.weight"], self.tensors["resnet.seg_1.bias"]
        yield "embeddings", nn.linear(pooled, *head)

    @staticmethod
    def pool(x, masks):
        """Weighted mean and deviation over time: [n, speakers, 2 * channels * bands]."""
        rows = x.flatten(1, 2).unsqueeze(1)  # [n, 1, channel * band, time]
        frames = rows.shape[-1]
        nearest = torch.arange(frames, device=x.device) * masks.shape[-1] // frames
        w = masks[:, :, nearest].unsqueeze(2)  # [n, speakers, 1, time]
        v1 = w.sum(-1) + 1e-8
        v2 = (w * w).sum(-1)
        mean = (w * rows).sum(-1) / v1
        deviation = rows - mean.unsqueeze(-1)
        variance = (w * deviation * deviation).sum(-1) / (v1 - v2 / v1 + 1e-8)
        return torch.cat([mean, variance.sqrt()], dim=-1)


def relative_error(got: np.ndarray, wanted: np.ndarray) -> tuple[float, float]:
    """Largest difference over the largest magnitude, and that magnitude; NaN counts as infinite."""
    scale = float(np.abs(wanted).max())
    difference = float(np.abs(got.reshape(wanted.shape).astype(np.float64) - wanted).max())
    error = difference / max(scale, 1e-30)
    return (error if np.isfinite(error) else float("inf")), scale


def worst_cosine(got: np.ndarray, wanted: np.ndarray) -> float:
    a = got.reshape(-1, got.shape[-1]).astype(np.float64)
    b = wanted.reshape(-1, wanted.shape[-1])
    cosines = (a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1))
    return float(cosines.min())  # NaN stays NaN and fails


def check(file: Path, wanted: dict[str, np.ndarray]) -> bool:
    layer_bound, cosine_bound = BOUNDS[file.stem.split("_")[0]]
    got = read_safetensors(file)
    ok, before, worst = True, None, (0.0, "")
    print(f"\n{file.stem}\n  {'tap':20} {'error':>10} {'scale':>10} {'relative':>10}")
    for name, reference in wanted.items():
        if name not in got:
            print(f"  {name:20} is missing")
            ok = False
            continue
        error, scale = relative_error(got[name], reference)
        marks = []
        if before and error > JUMP * before:
            marks.append(f"over {JUMP} times the tap before")
        if layer_bound is not None and not error < layer_bound:
            marks.append("TOO LARGE")
            ok = False
        print(f"  {name:20} {error * scale:10.2e} {scale:10.2e} {error:10.2e}  {', '.join(marks)}")
        before, worst = error, max(worst, (error, name))
    for name in ("embeddings", "alone"):
        cosine = worst_cosine(got[name], wanted["embeddings"]) if name in got else float("nan")
        passed = cosine >= cosine_bound
        ok = ok and passed
        print(f"  {name}: worst cosine 1 - {1 - cosine:.2e}{'' if passed else '  TOO SMALL'}")
    print(f"  {'passed' if ok else 'FAILED'}: worst layer {worst[1]} with {worst[0]:.2e}")
    return ok


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", default="cpu", help="where torch works, in doubles")
    arguments = parser.parse_args()
    dumps = sorted(
        file
        for file in arguments.folder.glob("*_*.safetensors")
        if file.stem.split("_")[0] in BOUNDS
    )
    if not dumps:
        print(f"{arguments.folder}: no dumps; run cuda_dump_embedding first")
        return 1
    device = arguments.device
    network = Network(read_safetensors(arguments.folder / "weights.safetensors"), device)
    inputs = read_safetensors(arguments.folder / "inputs.safetensors")
    features, masks = (
        torch.from_numpy(inputs[name].copy()).to(device, torch.float64)
        for name in ("features", "masks")
    )
    with torch.no_grad():
        wanted = {name: x.cpu().numpy() for name, x in network.taps(features, masks)}
    print(f"torch {torch.__version__} on {device}, {len(features)} chunks, {len(wanted)} taps")
    results = {file.stem: check(file, wanted) for file in dumps}
    failed = [name for name, ok in results.items() if not ok]
    print(f"\n{len(results) - len(failed)} of {len(results)} dumps keep to their bounds", end="")
    print(f"; failed: {', '.join(failed)}" if failed else "")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

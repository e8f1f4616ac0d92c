"""Makes a model folder of speakrs 0.7.0 out of a bundle and the weights it was made of.

    speakrs_models.py BUNDLE RESNET34.safetensors OUT

BUNDLE is diarist's folder of community-1; the weights have the checkpoint's names, with batch
norms, which speakrs wants folded. Needs numpy and safetensors.
"""

import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

HIDDEN = 128


def onnx_gates(rows):
    """Gates in the order of ONNX: input, output, forget, cell; torch has them as i, f, g, o."""
    i, f, g, o = (rows[k * HIDDEN : (k + 1) * HIDDEN] for k in range(4))
    return np.concatenate([i, o, f, g])


def segmentation(bundle):
    """Tensors as speakrs expects them; the generated ones are known by their rising numbers."""
    of = load_file(bundle / "segmentation.safetensors")
    tensors, number = {}, 100

    def add(kind, tensor):
        nonlocal number
        tensors[f"onnx::{kind}_{number}"] = np.ascontiguousarray(tensor, dtype=np.float32)
        number += 1

    for layer in range(4):
        ends = [f"_l{layer}", f"_l{layer}_reverse"]
        add(
            "LSTM",
            [
                np.concatenate([onnx_gates(of[f"lstm.bias_{part}{end}"]) for part in ("ih", "hh")])
                for end in ends
            ],
        )
        add("LSTM", [onnx_gates(of[f"lstm.weight_ih{end}"]) for end in ends])
        add("LSTM", [onnx_gates(of[f"lstm.weight_hh{end}"]) for end in ends])
    for name in ("linear.0", "linear.1", "classifier"):
        add("MatMul", of[f"{name}.weight"].T)
        tensors[f"{name}.bias"] = of[f"{name}.bias"]
    tensors.update({name: value for name, value in of.items() if name.startswith("sincnet.")})
    bank = "sincnet.conv1d.0.filterbank."
    for name in ("low_hz_", "band_hz_"):
        tensors[bank + name] = tensors[bank + name].reshape(40, 1)
    n = (2 * np.pi * np.arange(-125, 0) / 16000).astype(np.float32).reshape(1, 125)
    tensors.setdefault(bank + "n_", n)
    tensors.setdefault(bank + "window_", np.hamming(251)[:125].astype(np.float32))
    tensors["onnx::Div_90"] = tensors[bank + "n_"] / 2
    return tensors


def embedding(checkpoint):
    of = load_file(checkpoint)
    tensors = {name: of[name] for name in ("resnet.seg_1.weight", "resnet.seg_1.bias")}
    for name, weight in of.items():
        if not name.endswith(".weight") or weight.ndim != 4:
            continue
        conv = name.removesuffix(".weight")
        norm = conv[:-1] + "1" if "shortcut" in conv else conv.replace("conv", "bn")
        scale = of[f"{norm}.weight"] / np.sqrt(of[f"{norm}.running_var"].astype(np.float64) + 1e-5)
        tensors[name] = (weight * scale[:, None, None, None]).astype(np.float32)
        bias = of[f"{norm}.bias"] - of[f"{norm}.running_mean"] * scale
        tensors[f"{conv}.weight_bias"] = bias.astype(np.float32)
    return tensors


def main(bundle, checkpoint, out):
    out.mkdir(parents=True, exist_ok=True)
    for name, tensors in (
        ("segmentation-3.0", segmentation(bundle)),
        ("wespeaker-multimask-tail", embedding(checkpoint)),
    ):
        whole = {key: np.ascontiguousarray(value) for key, value in tensors.items()}
        save_file(whole, out / f"{name}.safetensors")
    plda, transform = np.load(bundle / "plda.npz"), np.load(bundle / "xvec_transform.npz")
    for source, names in ((plda, ("mu", "tr", "psi")), (transform, ("mean1", "mean2", "lda"))):
        for name in names:
            np.save(out / f"plda_{name}.npy", source[name])
    (out / "wespeaker-voxceleb-resnet34.min_num_samples.txt").write_text("400\n")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*map(Path, sys.argv[1:]))

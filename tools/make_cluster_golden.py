#!/usr/bin/env python3
"""Writes the expected values of tests/unit/cluster and tests/unit/timeline.

Inputs come from a generator spelled out below; the expected values from scipy (linkage,
assignment), scikit-learn (k-means), NumPy (order among equal values) and the executable
specification (everything else). The tests themselves need no Python.

usage: make_cluster_golden.py PROTOTYPE_FOLDER [--tests FOLDER]
needs: numpy, scipy, scikit-learn
"""

import argparse
import os
import pathlib
import sys
import types

DISABLED = "X86_V3 X86_V4"  # NumPy's vector sorts order equal values differently on each machine


class Dice:
    """A 64-bit linear congruential generator (Knuth's MMIX constants), upper bits only."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % n

    def array(self, shape, low, high):
        count = int(np.prod(shape))
        return np.array([low + self.below(high - low + 1) for _ in range(count)]).reshape(shape)


def clouds(dice, rows, dim, centres, spread):
    """Rows around a few centres, as small integers."""
    middle = dice.array((centres, dim), -60, 60)
    which = dice.array((rows,), 0, centres - 1)
    return (middle[which] + dice.array((rows, dim), -spread, spread)).astype(np.int8)


def linkage_cases(out):
    import scipy.cluster.hierarchy as hierarchy

    dice = Dice(1)
    number = 0
    shapes = [
        (2, 2, 1),
        (3, 2, 1),
        (7, 1, 3),
        (12, 2, 2),
        (20, 2, 3),
        (30, 3, 1),
        (40, 2, 4),
        (40, 3, 2),
        (25, 2, 60),
        (40, 6, 60),
        (33, 1, 9),
    ]
    # Larger ones leave gaps that are closed, and fill several strips of distances.
    for rows, dim, high in [s for s in shapes for _ in range(3)] + [(300, 2, 9), (420, 4, 3)]:
        x = dice.array((rows, dim), 0, high).astype(np.int8)
        tree = hierarchy.linkage(x.astype(np.float64), "centroid")
        out["rows%d" % number] = x
        out["tree%d" % number] = tree
        cuts = np.array([0.0, 0.5, 1.0, 0.25 * high, 0.5 * high])
        out["cuts%d" % number] = cuts
        out["labels%d" % number] = np.stack(
            [hierarchy.fcluster(tree, cut, "distance") - 1 for cut in cuts]
        ).astype(np.int32)
        number += 1
    out["cases"] = np.array(number)


def assignment_cases(out):
    from scipy.optimize import linear_sum_assignment

    dice = Dice(2)
    number = 0
    for rows, columns, high in [
        (3, 1, 3),
        (3, 2, 1),
        (3, 2, 4),
        (3, 3, 1),
        (3, 3, 3),
        (3, 4, 2),
        (3, 7, 1),
        (3, 12, 2),
        (3, 12, 99),
        (1, 5, 2),
        (5, 5, 2),
        (8, 6, 2),
        (6, 9, 1),
    ]:
        scores = dice.array((40, rows, columns), 0, high).astype(np.int8)
        chosen = np.full((40, rows), -1, np.int8)
        for i, score in enumerate(scores):
            r, c = linear_sum_assignment(score.astype(np.float64), maximize=True)
            chosen[i, r] = c
        out["scores%d" % number] = scores
        out["chosen%d" % number] = chosen
        number += 1
    out["cases"] = np.array(number)


def kmeans_cases(out):
    from sklearn.cluster import KMeans

    dice = Dice(3)
    number = 0
    for rows, dim, centres, spread in [
        (12, 4, 3, 20),
        (60, 8, 4, 40),
        (150, 12, 5, 50),
        (200, 16, 2, 60),
        (90, 6, 9, 30),
        (300, 10, 6, 60),
    ]:
        x = clouds(dice, rows, dim, centres, spread)
        out["rows%d" % number] = x
        ks = [1, 2, 3, 5, 8, min(rows, 12)]
        out["k%d" % number] = np.array(ks)
        out["labels%d" % number] = np.stack(
            [
                KMeans(n_clusters=k, n_init=3, random_state=42).fit_predict(x.astype(np.float32))
                for k in ks
            ]
        ).astype(np.int32)
        number += 1
    out["cases"] = np.array(number)


def vbx_cases(out, dp):
    dice = Dice(4)
    number = 0
    for rows, dim, centres, initial in [(40, 8, 3, 6), (70, 12, 2, 9), (25, 6, 4, 4), (5, 6, 1, 1)]:
        x = clouds(dice, rows, dim, centres, 30) / 16.0
        phi = np.sort(dice.array((dim,), 4, 160) / 16.0)[::-1].copy()
        labels = dice.array((rows,), 0, initial - 1)
        labels[:initial] = np.arange(initial)
        _, gamma, pi, elbo = dp.vbx(x, phi, labels, dp.Params())
        out.update(
            {
                "x%d" % number: x,
                "phi%d" % number: phi,
                "labels%d" % number: labels.astype(np.int32),
                "gamma%d" % number: gamma,
                "pi%d" % number: pi,
                "elbo%d" % number: elbo,
            }
        )
        number += 1
    out["cases"] = np.array(number)


def recording(dice, chunks, dim, voices, spread, twins=False):
    """Hard activity and embeddings of a made-up conversation: windows of 10 s every second."""
    turns = []
    at = 0
    while at < 59 * (chunks + 10):
        length = 20 + dice.below(240)
        turns.append((at, at + length, dice.below(voices)))
        at += length - 40 + dice.below(90)
    middle = dice.array((voices, dim), -50, 50)
    seg = np.zeros((chunks, 589, 3), np.uint8)
    emb = np.zeros((chunks, 3, dim), np.int8)
    for c in range(chunks):
        slots = []
        for start, end, voice in turns:
            a, b = max(start - 59 * c, 0), min(end - 59 * c, 589)
            if b <= a:
                continue
            if voice not in slots:
                if len(slots) == 3:
                    continue
                slots.append(voice)
            seg[c, a:b, slots.index(voice)] = 1
        busy = seg[c].sum(axis=1) > 2
        seg[c, busy, 2] = 0
        for s in range(3):
            voice = slots[s] if s < len(slots) else 0
            emb[c, s] = middle[voice] + dice.array((dim,), -spread, spread)
        if twins and c % 3 == 0:  # identical masks and embeddings, as looped audio gives them
            emb[c, 1] = emb[c, 0]
            seg[c, :, 1] = seg[c, :, 0]
            seg[c, :, 2] = 0
    return seg, emb


HINTS = [
    (0, 0, 0),
    (1, 0, 0),
    (2, 0, 0),
    (3, 0, 0),
    (5, 0, 0),
    (0, 3, 0),
    (0, 0, 2),
    (0, 0, 1),
    (0, 2, 4),
]


def speaker_cases(out, dp, cluster31, preset):
    dice = Dice(5)
    number = 0
    for chunks, voices, spread, missing, twins in [
        (25, 2, 20, 0, False),
        (40, 4, 30, 6, False),
        (60, 3, 60, 4, False),
        (12, 1, 25, 2, False),
        (30, 3, 25, 0, True),
        (90, 5, 45, 9, False),
    ]:
        dim = 24
        seg, emb = recording(dice, chunks, dim, voices, spread, twins)
        holes = np.zeros((chunks, 3), np.uint8)
        for _ in range(missing):
            holes[dice.below(chunks), dice.below(3)] = 1
        real = emb.astype(np.float32)
        real[holes == 1] = np.nan
        out["seg%d" % number] = np.packbits(seg)
        out["emb%d" % number] = emb
        out["holes%d" % number] = holes
        trained = len(dp.training_subset(seg.astype(np.float32), real)[0])
        for i, (num, low, high) in enumerate(HINTS):
            if max(num, low) > trained:
                continue
            p = dp.Params(
                num_speakers=num or None, min_speakers=low or None, max_speakers=high or None
            )
            name = "%d_%d" % (number, i)
            r = cluster31.diarize(seg, real, p)
            out["old_hard" + name] = r.hard.astype(np.int8)
            out["old_rttm" + name] = np.frombuffer(r.rttm.encode(), np.uint8)
            out["old_exclusive" + name] = np.frombuffer(r.rttm_exclusive.encode(), np.uint8)
            want, lo, hi = dp.bounds(p)
            text, info = preset.diarize(seg.astype(np.float32), real, "audio", want, lo, hi)
            out["open_hard" + name] = info["hard"].astype(np.int8)
            out["open_rttm" + name] = np.frombuffer(text.encode(), np.uint8)
            if "centroids" in info:
                out["open_centroids" + name] = info["centroids"]
        number += 1
    out["cases"] = np.array(number)
    out["hints"] = np.array(HINTS)


def rank_cases(out):
    dice = Dice(6)
    number = 0
    for columns, high in [
        (2, 1),
        (3, 2),
        (7, 3),
        (16, 2),
        (17, 1),
        (17, 4),
        (18, 2),
        (23, 3),
        (33, 1),
        (40, 6),
        (60, 2),
        (61, 9),
        (128, 3),
        (300, 2),
    ]:
        values = dice.array((10, columns), 0, high).astype(np.uint8)
        out["values%d" % number] = values
        out["order%d" % number] = np.argsort(-values.astype(np.float32), axis=-1).astype(np.int16)
        number += 1
    out["cases"] = np.array(number)


def segment_cases(out, dp):
    dice = Dice(7)
    number = 0
    for frames, columns, longest in [(594, 3, 90), (900, 13, 200), (300, 30, 60)]:
        binary = np.zeros((frames, columns), np.uint8)
        for k in range(columns):
            at = dice.below(60)
            while at < frames:
                end = at + 1 + dice.below(longest)
                binary[at:end, k] = 1
                at = end + 1 + dice.below(longest // (1 + k % 4))
        out["binary%d" % number] = np.packbits(binary)
        out["shape%d" % number] = np.array([frames, columns])
        for i, gap in enumerate([0.0, 0.3, 1.0]):
            segments = dp.segments_of(binary.astype(np.float32), gap)
            text = dp.rttm(segments, dp.speaker_names(segments), "audio")
            out["rttm%d_%d" % (number, i)] = np.frombuffer(text.encode(), np.uint8)
        number += 1
    out["cases"] = np.array(number)


def column_cases(out, dp):
    """Reconstruction with many clusters."""
    dice = Dice(8)
    number = 0
    for chunks, clusters in [(15, 5), (20, 19), (20, 40)]:
        seg, _ = recording(dice, chunks, 1, 9, 1)
        hard = dice.array((chunks, 3), -1, clusters - 1)
        hard[hard < 0] = -2
        count = dp.count_speakers(seg.astype(np.float32))
        binary, _ = dp.reconstruct(seg.astype(np.float32), hard, count.astype(np.int8))
        out["seg%d" % number] = np.packbits(seg)
        out["hard%d" % number] = hard.astype(np.int32)
        out["count%d" % number] = count
        out["binary%d" % number] = np.packbits(binary.astype(np.uint8))
        out["columns%d" % number] = np.array(binary.shape[1])
        number += 1
    out["cases"] = np.array(number)


def load_prototype(folder):
    sys.path.insert(0, folder)
    import cluster31
    import diarize_post

    # preset.py takes its names from a module that needs torch; its clustering does not.
    stub = types.ModuleType("nets_torch")
    stub.np, stub.dp = np, diarize_post
    stub.__all__ = ["np", "dp"]
    sys.modules["nets_torch"] = stub
    import preset

    return diarize_post, cluster31, preset


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prototype")
    parser.add_argument(
        "--tests", default=str(pathlib.Path(__file__).resolve().parent.parent / "tests")
    )
    options = parser.parse_args()
    dp, cluster31, preset = load_prototype(options.prototype)
    unit = pathlib.Path(options.tests) / "unit"
    for path, fill in [
        ("cluster/data/linkage.npz", linkage_cases),
        ("cluster/data/assignment.npz", assignment_cases),
        ("cluster/data/kmeans.npz", kmeans_cases),
        ("cluster/data/vbx.npz", lambda out: vbx_cases(out, dp)),
        ("cluster/data/speakers.npz", lambda out: speaker_cases(out, dp, cluster31, preset)),
        ("timeline/data/rank.npz", rank_cases),
        ("timeline/data/segments.npz", lambda out: segment_cases(out, dp)),
        ("timeline/data/columns.npz", lambda out: column_cases(out, dp)),
    ]:
        out = {}
        fill(out)
        np.savez_compressed(unit / path, **out)
        print(path, os.path.getsize(unit / path), "bytes")


if __name__ == "__main__":
    if os.environ.get("NPY_DISABLE_CPU_FEATURES") != DISABLED:
        os.environ["NPY_DISABLE_CPU_FEATURES"] = DISABLED
        os.execv(sys.executable, [sys.executable] + sys.argv)
    import numpy as np

    main()

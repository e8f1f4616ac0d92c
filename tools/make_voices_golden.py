#!/usr/bin/env python3
"""Write expected scores and names of enrolled voices, from NumPy and SciPy.

usage: make_voices_golden.py tests/unit/voices/data/naming.json

Scores are cosines with the mean of a voice's samples at length 1. Names come from SciPy's
assignment over what a name is worth: nothing unless the voice is the speaker's best, reaches the
threshold, is ahead of the next by the margin, and the speaker says enough.
"""

import json
import sys
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist


def single(values: np.ndarray) -> np.ndarray:
    """Rounded as a library stores numbers."""
    return values.astype(np.float32).astype(np.float64)


def make_case(rng: np.random.Generator, voices: int, speakers: int, dim: int) -> dict:
    people = rng.normal(size=(voices + 2, dim))
    samples = [
        single(people[v] * rng.uniform(0.1, 9) + 0.5 * rng.normal(size=(rng.integers(1, 4), dim)))
        for v in range(voices)
    ]
    who = rng.integers(0, voices + 2, size=speakers)
    vectors = single(people[who] + 0.5 * rng.normal(size=(speakers, dim)))
    seconds = np.round(rng.uniform(0, 20, size=speakers), 3)
    threshold, margin, least = 0.6, 0.1, 3.0
    means = [np.mean([single(s / np.linalg.norm(s)) for s in group], axis=0) for group in samples]
    scores = 1 - cdist(vectors, np.array(means), "cosine")
    worth = np.zeros_like(scores)
    for row, line in enumerate(scores):
        ranked = np.sort(line)[::-1]
        clear = len(ranked) == 1 or ranked[0] - ranked[1] >= margin
        if ranked[0] >= threshold and clear and seconds[row] >= least:
            worth[row, np.argmax(line)] = 1 + ranked[0]
    names = [None] * speakers
    for row, column in zip(*linear_sum_assignment(worth, maximize=True), strict=True):
        if worth[row, column] > 0:
            names[row] = f"voice {column}"
    return {
        "threshold": threshold,
        "margin": margin,
        "min_seconds": least,
        "voices": [
            {"name": f"voice {v}", "samples": group.tolist()} for v, group in enumerate(samples)
        ],
        "speakers": [
            {"embedding": vector.tolist(), "seconds": float(length)}
            for vector, length in zip(vectors, seconds, strict=True)
        ],
        "scores": scores.tolist(),
        "names": names,
    }


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    rng = np.random.default_rng(8)
    sizes = [(1, 1, 3), (3, 2, 4), (2, 5, 4), (4, 4, 6), (6, 9, 5), (8, 8, 16), (5, 12, 4)]
    cases = [make_case(rng, *size) for size in sizes]
    lines = ",\n".join(json.dumps(case) for case in cases)
    Path(sys.argv[1]).write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks what `diarist score` and `diarist diff` say beyond pyannote.metrics, on random cases.

    check_scoring.py --program build/release/bin/diarist [--seed N] [--count N] [PART...]

Parts:
  md-eval     DER by the rules of NIST's md-eval, worked out instant by instant
  bootstrap   intervals: scipy.stats.bootstrap on the same resamples
  compare     permutation test: every swap written out; sign test: scipy.stats.binomtest
  diff        seconds by kind of change, worked out on a grid of milliseconds
Packages: tools/requirements-test.txt.
"""

import argparse
import itertools
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from scipy import stats
from scipy.optimize import linear_sum_assignment

TOLERANCE = 1e-9


class Program:
    """Runs diarist on turns {uri: [(start, end, label), ...]} kept in a folder."""

    def __init__(self, path, folder):
        self.path, self.folder = path, pathlib.Path(folder)

    def write(self, name, turns):
        path = self.folder / name
        path.write_text(
            "".join(
                f"SPEAKER {uri} 1 {s!r} {e - s!r} <NA> <NA> {label} <NA> <NA>\n"
                for uri, lines in turns.items()
                for s, e, label in lines
            )
        )
        return str(path)

    def json(self, *arguments):
        command = [self.path, *map(str, arguments), "--json"]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return json.loads(output)


def ends(turns):
    """What RTTM carries: start and duration, added again."""
    return {u: [(s, s + (e - s), name) for s, e, name in lines] for u, lines in turns.items()}


def random_turns(draw, speakers, count, length, digits=None):
    lines = []
    for _ in range(count):
        start, span = draw.uniform(0, length), draw.uniform(0.05, 6)
        if digits is not None:
            start, span = round(start, digits), round(span, digits)
        lines.append((start, start + span, draw.choice(speakers)))
    return lines


def apart(lines):
    """Without overlaps of a speaker with himself, and without his touching turns."""
    kept = []
    for start, end, name in sorted(lines):
        if all(other != name or e + 1e-3 < start for _, e, other in kept):
            kept.append((start, end, name))
    return kept


# --- md-eval -----------------------------------------------------------------------------------


def talking(lines, time):
    return {name for start, end, name in lines if start < time < end}


def md_eval(reference, hypothesis, uem, collar, skip_overlap):
    """Seconds (total, missed, false alarm, confusion) as md-eval-22 defines them: speakers are
    paired over the UEM, then collars and overlaps are cut away and the rest is scored."""
    if uem is None:
        uem = [(min(s for s, _, _ in reference), max(e for _, e, _ in reference))]
    edges = [t for s, e, _ in reference + hypothesis for t in (s, e)]
    edges += [t for region in uem for t in region]
    edges += [t + sign * collar for s, e, _ in reference for t in (s, e) for sign in (-1, 1)]
    edges = sorted(set(edges))
    stretches = []
    for a, b in itertools.pairwise(edges):
        middle = (a + b) / 2
        if any(s < middle < e for s, e in uem):
            said, heard = talking(reference, middle), talking(hypothesis, middle)
            scored = all(abs(middle - t) > collar for s, e, _ in reference for t in (s, e))
            scored = scored and not (skip_overlap and len(said) > 1)
            stretches.append((b - a, said, heard, scored))
    names = [sorted({line[2] for line in side}) for side in (reference, hypothesis)]
    together = np.zeros([len(side) for side in names])
    for seconds, said, heard, _ in stretches:
        for r in said:
            for h in heard:
                together[names[0].index(r), names[1].index(h)] += seconds
    rows, columns = linear_sum_assignment(-together)
    partner = {names[0][r]: names[1][h] for r, h in zip(rows, columns, strict=True)}
    total = missed = false_alarm = confusion = 0.0
    for seconds, said, heard, scored in stretches:
        if scored:
            right = sum(partner.get(r) in heard for r in said)
            total += seconds * len(said)
            missed += seconds * max(0, len(said) - len(heard))
            false_alarm += seconds * max(0, len(heard) - len(said))
            confusion += seconds * (min(len(said), len(heard)) - right)
    return {"total": total, "missed": missed, "false_alarm": false_alarm, "confusion": confusion}


def check_md_eval(program, draw, count):
    paired_otherwise = 0
    for _ in range(count):
        length = draw.choice([6, 20, 40])
        reference = apart(random_turns(draw, "ABCD", draw.randint(1, 12), length))
        hypothesis = random_turns(draw, "wxyz", draw.randint(0, 12), length)
        uem = None
        command = []
        if draw.random() < 0.6:
            uem = []
            for _ in range(draw.randint(1, 3)):
                start = draw.uniform(0, length)
                uem.append((start, start + draw.uniform(1, length)))
            path = program.folder / "md.uem"
            path.write_text("".join(f"a 1 {s!r} {e!r}\n" for s, e in uem))
            command += ["--uem", path]
        collar = draw.choice([0.0, 0.1, 0.25, 1.0])
        command += ["--collar", collar]
        skip_overlap = draw.random() < 0.4
        command += ["--skip-overlap"] if skip_overlap else []
        sides = [ends({"a": reference}), ends({"a": hypothesis})]
        files = [program.write(f"md{i}.rttm", {"a": lines["a"]}) for i, lines in enumerate(sides)]
        wanted = md_eval(sides[0]["a"], sides[1]["a"], uem, collar, skip_overlap)
        got = program.json("score", *files, *command, "--md-eval")["total"]
        other = program.json("score", *files, *command)["total"]
        paired_otherwise += abs(other["confusion"] - got["confusion"]) > TOLERANCE
        for key, value in wanted.items():
            assert abs(value - got[key]) < 1e-8, (key, value, got, sides, command)
    return f"{count} cases, confusion is another without --md-eval in {paired_otherwise}"


# --- bootstrap ---------------------------------------------------------------------------------


class SplitMix(np.random.RandomState):
    """The generator of docs/scoring.md in the place of scipy's."""

    def start(self, seed):
        self.splitmix = seed
        return self

    def next(self):
        mask = (1 << 64) - 1
        self.splitmix = (self.splitmix + 0x9E3779B97F4A7C15) & mask
        z = self.splitmix
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    def randint(self, low, high=None, size=None, dtype=None):
        assert low == 0 and len(size) == 2
        numbers = [((self.next() >> 32) * high) >> 32 for _ in range(size[0] * size[1])]
        return np.array(numbers).reshape(size)


def random_system(draw, reference, quality):
    """Turns near the reference: boundaries moved, names changed, turns dropped."""
    result = {}
    for uri, lines in reference.items():
        shift = draw.uniform(0, quality)
        result[uri] = apart(
            [
                (max(0.0, s + draw.gauss(0, shift)), e, name if draw.random() > shift else "z")
                for s, e, name in lines
                if draw.random() > shift / 2
            ]
        )
        result[uri] = [line for line in result[uri] if line[1] > line[0]]
    return {uri: lines for uri, lines in result.items() if lines}


def random_reference(draw, recordings):
    return {
        f"rec{i:03d}": apart(random_turns(draw, "ABC", draw.randint(2, 25), 40, 3))
        for i in range(recordings)
    }


def interval_problem(got, wanted):
    for key, value in (
        ("low", wanted.confidence_interval.low),
        ("high", wanted.confidence_interval.high),
        ("standard_error", wanted.standard_error),
    ):
        if not abs(got[key] - value) < TOLERANCE:
            return f"{key}: scipy {value!r}, diarist {got[key]!r}"
    return None


def rate(wrong, total, axis=-1):
    # Rounded: resamples that are the sample in another order must tie with it.
    return np.round(wrong.sum(axis=axis) / total.sum(axis=axis), 13)


def check_bootstrap(program, draw, count):
    kinds = {"bca": "BCa", "percentile": "percentile"}
    worst_fallback = 0
    for number in range(count):
        reference = random_reference(draw, draw.choice([2, 3, 7, 30]))
        hypothesis = random_system(draw, reference, 0.5)
        second = random_system(draw, reference, 0.6)
        files = [
            program.write(f"boot{i}.rttm", side)
            for i, side in enumerate((reference, hypothesis, second))
        ]
        method = list(kinds)[number % 2]
        seed, level, resamples = draw.randrange(2**63), draw.choice([0.8, 0.95]), 400
        report = program.json(
            "score",
            files[0],
            files[1],
            "--bootstrap",
            resamples,
            "--seed",
            seed,
            "--level",
            level,
            "--interval",
            method,
        )
        two = program.json("score", files[0], files[2])
        parts = np.array(
            [
                (
                    f["missed"] + f["false_alarm"] + f["confusion"],
                    f["total"],
                    f["jer"] * f["scored_speakers"],
                    f["scored_speakers"],
                )
                for f in report["files"]
            ]
        ).T
        others = np.array(
            [(f["missed"] + f["false_alarm"] + f["confusion"], f["total"]) for f in two["files"]]
        ).T

        both = program.json(
            "score",
            files[0],
            files[1],
            "--compare",
            files[2],
            "--bootstrap",
            resamples,
            "--seed",
            seed,
            "--level",
            level,
            "--interval",
            method,
        )
        for got, data, statistic in (
            (report["intervals"]["der"], parts[:2], rate),
            (report["intervals"]["jer"], parts[2:], rate),
            (
                both["comparison"]["difference"],
                [*parts[:2], *others],
                lambda a, b, c, d, axis=-1: rate(a, b, axis) - rate(c, d, axis),
            ),
        ):
            wanted = stats.bootstrap(
                tuple(data),
                statistic,
                paired=True,
                vectorized=True,
                n_resamples=resamples,
                confidence_level=level,
                method=kinds[method],
                random_state=SplitMix().start(seed),
            )
            if np.isnan(wanted.confidence_interval.low):
                worst_fallback += 1
                assert got["method"] == "percentile", got
                continue
            assert got["method"] == method, got
            problem = interval_problem(got, wanted)
            assert problem is None, (problem, seed, level, method)
    return f"{3 * count} intervals, {worst_fallback} without BCa"


# --- compare -----------------------------------------------------------------------------------


def check_compare(program, draw, count):
    for number in range(count):
        recordings = draw.choice([1, 2, 5, 9, 12])
        reference = random_reference(draw, recordings)
        first = random_system(draw, reference, 0.5)
        second = random_system(draw, reference, draw.choice([0.5, 0.7]))
        if number % 3 == 0:  # some recordings the same
            for uri in list(reference)[: recordings // 2]:
                second[uri] = first.get(uri, [])
        files = [
            program.write(f"cmp{i}.rttm", side) for i, side in enumerate((reference, first, second))
        ]
        report = program.json("score", files[0], files[1], "--compare", files[2], "--bootstrap", 50)
        other = program.json("score", files[0], files[2])
        wrong = [
            {f["uri"]: f["missed"] + f["false_alarm"] + f["confusion"] for f in side["files"]}
            for side in (report, other)
        ]
        total = report["total"]["total"]
        differences = [wrong[0][uri] - wrong[1][uri] for uri in wrong[0]]
        got = report["comparison"]
        assert abs(got["difference"]["estimate"] - sum(differences) / total) < TOLERANCE

        observed, extreme, swaps = abs(sum(differences)), 0, 0
        for signs in itertools.product((1, -1), repeat=len(differences)):
            swapped = abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
            extreme += swapped >= observed - 1e-9
            swaps += 1
        assert got["every_permutation"] and swaps % got["permutations"] == 0, got
        assert abs(got["permutation_p"] - extreme / swaps) < TOLERANCE, (got, differences)

        better = sum(d < -1e-9 for d in differences)
        worse = sum(d > 1e-9 for d in differences)
        assert (got["first_better"], got["second_better"]) == (better, worse), got
        p = stats.binomtest(better, better + worse).pvalue if better + worse else 1.0
        assert abs(got["sign_p"] - p) < TOLERANCE, (got, p)
    # More recordings than can be enumerated: the sampled p must lie near scipy's, which samples
    # too. Both have a standard error of sqrt(p (1 - p) / 20000), at most 0.0036.
    reference = random_reference(draw, 40)
    first, second = (random_system(draw, reference, q) for q in (0.5, 0.53))
    files = [
        program.write(f"cmp{i}.rttm", side) for i, side in enumerate((reference, first, second))
    ]
    report = program.json("score", files[0], files[1], "--compare", files[2], "--bootstrap", 20000)
    other = program.json("score", files[0], files[2])
    wrong = [
        np.array([f["missed"] + f["false_alarm"] + f["confusion"] for f in side["files"]])
        for side in (report, other)
    ]
    wanted = stats.permutation_test(
        wrong,
        lambda a, b, axis=-1: a.sum(axis=axis) - b.sum(axis=axis),
        vectorized=True,
        permutation_type="samples",
        n_resamples=20000,
        rng=np.random.default_rng(1),
    ).pvalue
    got = report["comparison"]
    assert not got["every_permutation"]
    assert abs(got["permutation_p"] - wanted) < 0.02, (got, wanted)
    return f"{count} cases; of 40 recordings p {got['permutation_p']:.4f}, scipy {wanted:.4f}"


# --- diff --------------------------------------------------------------------------------------


def check_diff(program, draw, count):
    """Per millisecond: voices in both, gone, come. Who changes and who appears or vanishes follows
    from their numbers; boundaries are told apart by hand-made cases in the unit test."""
    for _ in range(count):
        length = draw.choice([5, 20])
        before = apart(random_turns(draw, "ABC", draw.randint(0, 8), length, 2))
        after = apart(random_turns(draw, "xyz", draw.randint(0, 8), length, 2))
        files = [
            program.write("diff0.rttm", {"a": before}),
            program.write("diff1.rttm", {"a": after}),
        ]
        report = program.json("diff", *files, "--top", 0)
        if not before or not after:
            names = {}
        else:
            mapping = report["recordings"][0]["mapping"]
            names = {pair["after"]: pair["before"] for pair in mapping if pair["before"]}
        same = swapped = gone_alone = come_alone = 0
        for step in range(int((length + 8) * 100)):
            time = step / 100 + 0.005
            a = talking(before, time)
            b = {names.get(name, "+" + name) for name in talking(after, time)}
            gone, come = len(a - b), len(b - a)
            same += len(a & b)
            swapped += min(gone, come)
            gone_alone += gone - min(gone, come)
            come_alone += come - min(gone, come)
        got = report["seconds"]
        assert abs(got["same"] - same / 100) < 1e-6, (got, same, before, after)
        changed = {"both": 0.0, "gone": 0.0, "come": 0.0}
        for change in report["changes"]:
            kind = (
                "both"
                if change["before"] and change["after"]
                else ("gone" if change["before"] else "come")
            )
            changed[kind] += change["end"] - change["start"]
        assert abs(changed["both"] - swapped / 100) < 1e-6, (report, swapped)
        assert abs(changed["gone"] - gone_alone / 100) < 1e-6, (report, gone_alone)
        assert abs(changed["come"] - come_alone / 100) < 1e-6, (report, come_alone)
        by_kind = sum(got[kind] for kind in ("speaker", "appeared", "vanished", "boundary"))
        assert abs(by_kind - sum(changed.values())) < 1e-6
        lengths = [round(c["end"] - c["start"], 6) for c in report["changes"]]
        assert lengths == sorted(lengths, reverse=True), lengths
    return f"{count} cases"


PARTS = {
    "md-eval": check_md_eval,
    "bootstrap": check_bootstrap,
    "compare": check_compare,
    "diff": check_diff,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS))
    parser.add_argument("--program", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        for part in arguments.parts or PARTS:
            draw = random.Random(arguments.seed)
            program = Program(arguments.program, folder)
            print(f"{part}: {PARTS[part](program, draw, arguments.count)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

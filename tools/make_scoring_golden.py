#!/usr/bin/env python3
"""Scores of pyannote.metrics for seeded cases: as a file of golden values, or live against a build.

    make_scoring_golden.py --out tests/unit/scoring/golden.json
    make_scoring_golden.py --against build/release/bin/diarist [--seed N] [--count N]

A case is a pair of RTTM texts, two options and perhaps a UEM. The rules that diarist adds to
pyannote.metrics are applied here before it is asked: without a UEM the scored region is [0, last
end], with one exactly its recordings are scored, the collar is per side (pyannote's is the full
width), overlapping turns of one speaker are merged in the reference.
Packages: tools/requirements-test.txt.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings

from pyannote.core import Annotation, Segment, Timeline
from pyannote.metrics.diarization import DiarizationErrorRate, JaccardErrorRate

RESOLUTION = 1e-6  # pyannote.core: nothing shorter is a segment
TOLERANCE = 1e-9
COLLARS = [0.0, 0.0, 0.0, 0.05, 0.1, 0.25, 0.5, 2.0]

# A side is {uri: [(start, duration, label), ...]}; RTTM text carries its floats in full.


def side(draw, uris, speakers, turns, prefix, time, length):
    """Random turns; `time` and `length` draw seconds."""
    result = {}
    for uri in uris:
        count = draw.randint(0, turns)
        lines = [(time(), length(), f"{prefix}{draw.randrange(speakers)}") for _ in range(count)]
        if lines:
            result[uri] = lines
    return result


def without_own_overlaps(lines):
    """Drops turns that overlap an earlier one of the same speaker."""
    kept = []
    for start, duration, label in sorted(lines):
        if all(name != label or s + d <= start for s, d, name in kept):
            kept.append((start, duration, label))
    return kept


def clocks(draw, kind):
    """Two functions that draw the start and the length of a turn, in seconds."""
    if kind == "continuous":
        return lambda: draw.uniform(0, 30), lambda: draw.uniform(0, 8)
    if kind in ("grid", "many speakers", "many files", "own overlaps"):
        # Whole and half seconds: touching turns, equal boundaries, pairings of equal weight.
        return lambda: draw.randint(0, 40) / 2, lambda: draw.randint(0, 12) / 2
    if kind == "tenths":
        # Binary fractions that start + duration does not hit exactly.
        return lambda: draw.randint(0, 60) / 10, lambda: draw.randint(0, 25) / 10
    if kind == "slivers":
        # Around the shortest length that counts.
        tiny = [0.0, 1e-9, 4e-7, 9e-7, 1.3e-6, 2.1e-6, 5e-6]
        return (
            lambda: draw.randint(0, 8) + draw.choice(tiny),
            lambda: draw.randint(0, 3) + draw.choice(tiny),
        )
    return lambda: draw.randint(0, 30000) / 1000, lambda: draw.randint(1, 6000) / 1000


def case_of(draw, kind):
    uris = ["one"]
    reference_speakers, hypothesis_speakers, turns = draw.randint(1, 5), draw.randint(1, 6), 12
    if kind == "many files":
        uris = [f"file.{i:02d}" for i in range(4)]
    if kind == "many speakers":
        reference_speakers, hypothesis_speakers, turns = 34, 29, 60
    time, length = clocks(draw, kind)
    reference = side(draw, uris, reference_speakers, turns, "R", time, length)
    hypothesis = side(draw, uris, hypothesis_speakers, turns, "h", time, length)
    if draw.random() < 0.3:
        # A hypothesis near the truth: the same boundaries, some names swapped.
        hypothesis = {
            uri: [(s, d, draw.choice(["x", "y", label])) for s, d, label in lines]
            for uri, lines in reference.items()
        }
    if kind != "own overlaps":
        reference = {u: without_own_overlaps(lines) for u, lines in reference.items()}
        if draw.random() < 0.8:
            hypothesis = {u: without_own_overlaps(lines) for u, lines in hypothesis.items()}
    return {
        "name": kind,
        "collar": draw.choice(COLLARS),
        "skip_overlap": draw.random() < 0.3,
        "reference": reference,
        "hypothesis": hypothesis,
    }


def with_uem(draw, case):
    """The case with regions: several, overlapping, touching, off the ends, of other recordings."""
    grid = case["name"] != "continuous"
    uem = {}
    uris = ["one", "unknown"] if len(case["reference"]) < 2 else list(case["reference"])[1:]
    for uri in [*uris, *list(case["hypothesis"])[:2]]:
        regions = []
        for _ in range(draw.randint(1, 4)):
            start, length = draw.uniform(0, 25), draw.uniform(0.5, 20)
            if grid:
                start, length = round(2 * start) / 2, round(2 * length) / 2
            regions.append((start, start + length))
        if draw.random() < 0.2:
            regions.append((regions[0][1], regions[0][1] + 1.0))  # touches
        uem[uri] = regions
    if case["name"] == "slivers":
        uem = {u: [(s + 3.3e-7, e - 5.7e-7) for s, e in regions] for u, regions in uem.items()}
    case["uem"] = uem
    return case


KINDS = [
    "continuous",
    "milliseconds",
    "grid",
    "tenths",
    "slivers",
    "many speakers",
    "many files",
    "own overlaps",
]


def one(*lines):
    return {"one": list(lines)}


def hand_cases():
    """Cases that a random draw hardly makes; comments say why they are awkward."""
    a, b, c = (0.0, 10.0, "A"), (10.0, 10.0, "B"), (20.0, 5.0, "C")
    cases = [
        ("perfect", one(a, b, c), one((0.0, 10.0, "x"), (10.0, 10.0, "y"), (20.0, 5.0, "z"))),
        ("empty hypothesis", one(a, b), {}),
        ("empty reference", {}, one(a, b)),
        ("zero-length turns only", one((5.0, 0.0, "A")), one((5.0, 0.0, "x"))),
        ("false alarm only", one((5.0, 0.0, "A")), one((5.0, 1.0, "x"))),
        ("three at once", one((0.0, 9.0, "A"), (3.0, 9.0, "B"), (4.0, 2.0, "C")), one(a)),
        ("one speaker for all", one(a, b, c), one((0.0, 25.0, "x"))),
        ("equal pairings", one((0.0, 4.0, "A"), (4.0, 4.0, "B")), one((2.0, 4.0, "x"))),
        (
            "equal pairings, other lengths",
            one((0.0, 4.0, "A"), (4.0, 9.0, "B")),
            one((2.0, 4.0, "x")),
        ),
        (
            "square of equal pairings",
            one((0.0, 2.0, "A"), (2.0, 2.0, "B")),
            one((1.0, 1.0, "x"), (2.0, 1.0, "x"), (0.0, 1.0, "y"), (3.0, 1.0, "y")),
        ),
        # Touching turns of one speaker: the boundary has a collar.
        ("touching turns", one((0.0, 5.0, "A"), (5.0, 5.0, "A")), one((1.0, 8.0, "x"))),
        # NIST's collar may swallow everything (a public report of a division by zero).
        ("swallowed", one((0.0, 1.8, "A"), (0.4, 1.1, "B")), one((0.0, 1.8, "x"))),
        ("swallowed, false alarm left", one((0.0, 0.4, "A")), one((0.0, 9.0, "x"))),
        ("noise of rounding", one((0.1, 0.2, "A"), (0.3, 0.4, "B")), one((0.1, 0.6, "x"))),
        # One speaker twice at once in the reference: merged, the score is that of one turn.
        (
            "twice in the reference",
            one((0.0, 5.0, "A"), (3.0, 5.0, "A"), (3.0, 5.0, "A")),
            one((0.0, 8.0, "x")),
        ),
        ("twice in the hypothesis", one((0.0, 8.0, "A")), one((0.0, 5.0, "x"), (3.0, 5.0, "x"))),
    ]
    for name, reference, hypothesis in cases:
        for collar, skip_overlap in ((0.0, False), (0.25, False), (1.0, True), (0.0, True)):
            yield {
                "name": name,
                "collar": collar,
                "skip_overlap": skip_overlap,
                "reference": reference,
                "hypothesis": hypothesis,
            }


def merged_own_overlaps(lines):
    """The reference as diarist takes it: overlapping turns of one speaker become one."""
    last, spans = {}, []
    for start, end, label in sorted((s, s + d, name) for s, d, name in lines):
        if end - start <= RESOLUTION:
            continue
        span = last.get(label)
        if span and min(span[1], end) - start > RESOLUTION:
            span[1] = max(span[1], end)
        else:
            last[label] = span = [start, end, label]
            spans.append(span)
    return spans


def annotation_of(spans):
    annotation = Annotation()
    for track, (start, end, label) in enumerate(spans):
        annotation[Segment(start, end), track] = label
    return annotation


def components(der, jer, der_parts, jer_parts):
    return {
        "der": der,
        "jer": jer,
        "missed": der_parts["missed detection"],
        "false_alarm": der_parts["false alarm"],
        "confusion": der_parts["confusion"],
        "correct": der_parts["correct"],
        "total": der_parts["total"],
        "scored_speakers": int(jer_parts["speaker count"]),
    }


def expected(case):
    """What pyannote.metrics says about a case: per uri, and over all of them."""
    der_metric = DiarizationErrorRate(collar=2 * case["collar"], skip_overlap=case["skip_overlap"])
    jer_metric = JaccardErrorRate(collar=2 * case["collar"], skip_overlap=case["skip_overlap"])
    files = {}
    uris = case["reference"] or case["hypothesis"]
    if case.get("uem") is not None:
        uris = {u for u in case["uem"] if u in case["reference"] or u in case["hypothesis"]}
    for uri in sorted(uris):
        said = case["reference"].get(uri, [])
        heard = [(s, s + d, name) for s, d, name in case["hypothesis"].get(uri, [])]
        end = max([0.0] + [s + d for s, d, _ in said] + [e for _, e, _ in heard])
        reference, hypothesis = annotation_of(merged_own_overlaps(said)), annotation_of(heard)
        uem = Timeline([Segment(0, end)])
        if case.get("uem") is not None:
            uem = Timeline([Segment(*region) for region in case["uem"][uri]])
        der_parts = der_metric(reference, hypothesis, uem=uem, detailed=True)
        jer_parts = jer_metric(reference, hypothesis, uem=uem, detailed=True)
        files[uri] = components(
            der_parts[der_metric.name], jer_parts[jer_metric.name], der_parts, jer_parts
        )
        inside = uem.support()
        files[uri]["reference_speakers"] = len(reference.crop(inside).labels())
        files[uri]["hypothesis_speakers"] = len(hypothesis.crop(inside).labels())
    total = components(abs(der_metric), abs(jer_metric), der_metric[:], jer_metric[:])
    for key in ("reference_speakers", "hypothesis_speakers"):
        total[key] = sum(file[key] for file in files.values())
    return {"files": files, "total": total}


def rttm_of(turns):
    return "".join(
        f"SPEAKER {uri} 1 {start!r} {duration!r} <NA> <NA> {label} <NA> <NA>\n"
        for uri, lines in turns.items()
        for start, duration, label in lines
    )


def uem_text(uem):
    return "".join(
        f"{uri} 1 {start!r} {end!r}\n" for uri, regions in uem.items() for start, end in regions
    )


def random_cases(seed, count):
    draw, other = random.Random(seed), random.Random(seed + 1)
    for i in range(count):
        case = case_of(draw, KINDS[i % len(KINDS)])
        yield case
        if i % 2 == 0:
            yield with_uem(other, dict(case))


def write_golden(path, seed, count):
    cases = []
    for case in [*hand_cases(), *random_cases(seed, count)]:
        cases.append(
            {
                "name": case["name"],
                "collar": case["collar"],
                "skip_overlap": case["skip_overlap"],
                "reference": rttm_of(case["reference"]),
                "hypothesis": rttm_of(case["hypothesis"]),
                **({"uem": uem_text(case["uem"])} if "uem" in case else {}),
                "expected": expected(case),
            }
        )
    text = ",\n".join(json.dumps(case) for case in cases)
    path.write_text(f'{{"source": "pyannote.metrics 4.2.0, seed {seed}", "cases": [\n{text}\n]}}\n')
    print(f"{path}: {len(cases)} cases")


def differences(wanted, got):
    return [
        f"{key}: pyannote.metrics {value!r}, diarist {got[key]!r}"
        for key, value in wanted.items()
        if not abs(value - got[key]) <= TOLERANCE
    ]


def compare(program, seed, count):
    wrong, worst = 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate([*hand_cases(), *random_cases(seed, count)]):
            paths = []
            for name in ("reference", "hypothesis"):
                paths.append(pathlib.Path(folder) / f"{name}.rttm")
                paths[-1].write_text(rttm_of(case[name]))
            command = [program, "score", *map(str, paths), "--json"]
            command += ["--collar", repr(case["collar"])]
            if case["skip_overlap"]:
                command.append("--skip-overlap")
            if "uem" in case:
                paths.append(pathlib.Path(folder) / "regions.uem")
                paths[-1].write_text(uem_text(case["uem"]))
                command += ["--uem", str(paths[-1])]
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            report, wanted = json.loads(output), expected(case)
            got = {file["uri"]: file for file in report["files"]}
            problems = [] if list(got) == list(wanted["files"]) else [f"files are {list(got)}"]
            for uri, values in {**wanted["files"], "(total)": wanted["total"]}.items():
                there = report["total"] if uri == "(total)" else got.get(uri)
                if there is not None:
                    problems += [f"{uri} {line}" for line in differences(values, there)]
                    worst = max([worst] + [abs(v - there[k]) for k, v in values.items()])
            if problems:
                wrong += 1
                print(f"case {number} ({case['name']}, seed {seed}): {' '.join(command)}")
                print(*problems, rttm_of(case["reference"]), rttm_of(case["hypothesis"]), sep="\n")
            if wrong >= 3:
                break
    print(f"{number + 1} cases, {wrong} differ, largest difference {worst:.3g}")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, help="write golden values to this file")
    parser.add_argument("--against", help="compare with this diarist program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=64, help="random cases, after the fixed ones")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.out:
        write_golden(arguments.out, arguments.seed, arguments.count)
    if arguments.against:
        return compare(arguments.against, arguments.seed, arguments.count)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Speed gate: instructions of fixed pieces of work against the last accepted figures.

Other load on the machine does not change a count of instructions, so a slower kernel shows even
where no clock can be trusted. `instruction_counts` (bench/) runs the work, valgrind's callgrind
counts it, once per set of instructions; bench/accepted_counts.json holds the accepted figures, by
compiler.
callgrind knows no AVX-512: its kernels come from the same sources as those of AVX2.

  tools/speed_gate.py --build build/release            compare; exit code 1 when something differs
  tools/speed_gate.py --build build/release --accept   record what is counted now
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGETS = {"x86_64": ["AVX2", "SSE4"], "aarch64": ["NEON"]}
FUNCTION = "diarist_counted"


class GateError(Exception):
    """What keeps us from counting; its text is for people."""


@dataclass(frozen=True)
class Finding:
    kind: str  # slower, quicker, new, gone
    target: str
    work: str
    accepted: int = 0
    counted: int = 0

    def __str__(self) -> str:
        name = f"{self.target:5} {self.work}"
        if self.kind == "new":
            return f"new      {name}: {self.counted:,} instructions, no accepted figure"
        if self.kind == "gone":
            return f"gone     {name}: is accepted with {self.accepted:,} instructions, not counted"
        change = 100 * (self.counted / self.accepted - 1)
        return f"{self.kind:8} {name}: {self.accepted:,} -> {self.counted:,} ({change:+.1f} %)"


def compare(
    accepted: dict, counted: dict, tolerance: float, gain: float, partly: bool
) -> list[Finding]:
    """Differences that somebody has to look at, the largest change first.

    accepted, counted: {set: {work: instructions}}. Only sets that were counted are compared.
    tolerance, gain: shares by which a count may be larger or smaller. A gain that nobody records
    could be lost again without a sound, so it is a finding as well.
    partly: not everything was counted, so nothing can be said to be gone.
    """
    findings = []
    for target, works in counted.items():
        known = accepted.get(target, {})
        for work, count in works.items():
            if work not in known:
                findings.append(Finding("new", target, work, 0, count))
            elif count > known[work] * (1 + tolerance):
                findings.append(Finding("slower", target, work, known[work], count))
            elif count < known[work] * (1 - gain):
                findings.append(Finding("quicker", target, work, known[work], count))
        if not partly:
            for work in known.keys() - works.keys():
                findings.append(Finding("gone", target, work, known[work], 0))

    def change(finding: Finding) -> float:
        if finding.accepted == 0 or finding.counted == 0:
            return float("inf")
        return abs(finding.counted / finding.accepted - 1)

    order = ["slower", "quicker", "new", "gone"]
    return sorted(findings, key=lambda f: (order.index(f.kind), -change(f), f.target, f.work))


def merged(accepted: dict, counted: dict, partly: bool) -> dict:
    """The figures to be stored: sets (partly: and works) that were not counted stay."""
    result = {target: dict(works) for target, works in accepted.items()}
    for target, works in counted.items():
        result[target] = {**result.get(target, {}), **works} if partly else dict(works)
    return result


def key_of(listing: dict) -> str:
    return f"{listing['machine']}, {listing['compiler']}"


def run(command: list[str]) -> str:
    # The environment lies on the stack, so its size moves what the program puts there.
    environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "LD_BIND_NOW": "1"}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=900, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GateError(f"{command[0]}: {error}") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout)[-2000:]
        raise GateError(f"exit code {done.returncode} from {' '.join(command)}\n{said}")
    return done.stdout


def count(program: Path, target: str, folder: Path, only: str) -> dict[str, int]:
    """Counts of one set; callgrind's files stay in `folder`, numbered in the order of the work."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = ["valgrind", "-q", "--tool=callgrind", f"--toggle-collect={FUNCTION}"]
    command += [f"--dump-after={FUNCTION}", f"--callgrind-out-file={folder / 'out'}"]
    command += [str(program), "--target", target] + (["--only", only] if only else [])
    works = json.loads(run(command))["work"]
    counts = {}
    for number, work in enumerate(works, start=1):
        file = folder / f"out.{number}"
        text = file.read_text() if file.exists() else ""
        summary = re.search(r"^summary: (\d+)$", text, re.MULTILINE)
        if summary is None or int(summary[1]) == 0:
            raise GateError(f"callgrind counted nothing for '{work}' ({file})")
        counts[work] = int(summary[1])
    if not counts:
        raise GateError(f"no work is called like '{only}'")
    return counts


def dump_of(folder: Path, finding: Finding, counted: dict) -> str:
    number = list(counted[finding.target]).index(finding.work) + 1
    return os.path.relpath(folder / finding.target / f"out.{number}")


def report(findings: list[Finding], counted: dict, folder: Path) -> None:
    for finding in findings:
        print(finding)
    slower = [f for f in findings if f.kind == "slower"]
    if slower:
        print(f"Where it went: callgrind_annotate {dump_of(folder, slower[0], counted)}")
    print("If that is meant to be: ./dev gate --accept, and say in the commit why.")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument(
        "--accepted", type=Path, default=ROOT / "bench" / "accepted_counts.json", metavar="FILE"
    )
    parser.add_argument("--accept", action="store_true", help="record what is counted now")
    parser.add_argument("--tolerance", type=float, default=1.0, metavar="PERCENT")
    parser.add_argument(
        "--gain", type=float, default=3.0, metavar="PERCENT", help="more has to be recorded"
    )
    parser.add_argument("--only", default="", metavar="REGEX", help="work with such names")
    parser.add_argument("--target", action="append", metavar="SET", help="instead of AVX2 and SSE4")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--verbose", action="store_true", help="print every count")
    arguments = parser.parse_args()
    try:
        return gate(arguments)
    except GateError as error:
        print(f"speed gate: {error}", file=sys.stderr)
        return 2


def gate(arguments: argparse.Namespace) -> int:
    if shutil.which("valgrind") is None:
        raise GateError("valgrind is missing (apt-get install valgrind)")
    program = arguments.build.resolve() / "bin" / "instruction_counts"
    if not program.exists():
        raise GateError(f"{program} is missing: build it with DIARIST_BENCH=ON")
    # What the tool's processor can do, not what this machine can.
    listing = json.loads(run(["valgrind", "-q", "--tool=none", str(program), "--list"]))
    if listing["build"] != "Release":
        raise GateError(f"counts of a {listing['build']} build mean nothing; build Release")
    wanted = arguments.target or TARGETS.get(listing["machine"], [])
    targets = [target for target in wanted if target in listing["targets"]]
    for target in wanted:
        if target not in targets:
            print(f"Not counted: {target}, which valgrind does not run on this machine")
    if not targets:
        raise GateError(f"none of the sets {', '.join(wanted) or '(unknown machine)'} can be run")

    folder = arguments.build.resolve() / "counts"
    with concurrent.futures.ThreadPoolExecutor(max(1, arguments.jobs)) as pool:
        # The widest vectors need the fewest instructions: the slowest set begins.
        running = {
            target: pool.submit(count, program, target, folder / target, arguments.only)
            for target in reversed(targets)
        }
        counted = {target: running[target].result() for target in targets}
    if arguments.verbose:
        for target, works in counted.items():
            for work, number in works.items():
                print(f"{target:5} {number:>12,} {work}")

    everything = json.loads(arguments.accepted.read_text()) if arguments.accepted.exists() else {}
    key = key_of(listing)
    accepted = everything.get(key, {})
    partly = bool(arguments.only)
    numbers = sum(len(works) for works in counted.values())
    if arguments.accept:
        everything[key] = merged(accepted, counted, partly)
        arguments.accepted.write_text(json.dumps(everything, indent=1, sort_keys=True) + "\n")
        print(f"Recorded {numbers} counts of {', '.join(targets)} for {key}")
        return 0
    if not accepted:
        raise GateError(
            f"{arguments.accepted} has no figures for {key}; "
            "count a state that is known to be good with --accept"
        )
    findings = compare(accepted, counted, arguments.tolerance / 100, arguments.gain / 100, partly)
    if findings:
        report(findings, counted, folder)
        return 1
    print(
        f"Speed gate: {numbers} counts of {', '.join(targets)} ({key}), none more than "
        f"{arguments.tolerance:g} % above its accepted figure"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

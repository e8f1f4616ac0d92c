#!/usr/bin/env python3
"""Figures and checks of whole recordings: what the section `pipeline` of tools/gpu_check.sh runs.

usage: gpu_pipeline.py --diarist PROGRAM --models FOLDER --sources SOURCE... [options]

  hours     recordings made by make_hours.py of the SOURCEs, unless they are there already
  starts    fresh processes on 30 s of audio: process start to RTTM, and the part that loads
  identity  turns, activity and embeddings of a recording alone, among all, and in reverse order
  bench     diarist bench run for every case, a line each
  table     the lines again, in one table

Cases are named PRESET/PRECISION/FILES, with /stepN behind it for another step than 1. Lists are
separated by commas or blanks.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

DEFAULT_CASES = (
    "community-1/fast/1 community-1/fast/8 community-1/fast/all community-1/exact/1 "
    "community-1/exact/all community-1/fast/all/step2 open/fast/1 open/fast/all "
    "open-lite/fast/1 open-lite/fast/all"
)
DEFAULT_IDENTITY = "community-1/fast open/fast"
COLUMNS = (  # key of bench run's JSON, heading, digits
    ("seconds", "wall s", 3),
    ("x_real_time", "x real", 0),
    ("decode", "decode", 2),
    ("features", "feat.", 2),
    ("segmentation", "segm.", 2),
    ("embedding", "emb.", 2),
    ("clustering", "clust.", 2),
    ("output", "output", 2),
    ("device_idle_percent", "idle %", 1),
    ("device_megabytes", "MB", 0),
    ("clock_mhz", "MHz", 0),
    ("lowest_clock_mhz", "lowest", 0),
    ("power_watts", "W", 0),
    ("joules_per_hour", "J/h", 1),
)


def words(text):
    return re.split(r"[\s,]+", text.strip())


@dataclasses.dataclass
class Case:
    name: str
    preset: str
    precision: str
    files: int  # 0: all
    step: int

    @staticmethod
    def parse(name):
        match = re.fullmatch(r"([\w.-]+)/(exact|fast|tf32)/(all|[1-9]\d*)(?:/step([125]))?", name)
        if not match:
            raise argparse.ArgumentTypeError("'%s' is no PRESET/PRECISION/FILES[/stepN]" % name)
        preset, precision, files, step = match.groups()
        return Case(name, preset, precision, 0 if files == "all" else int(files), int(step or 1))


class Bench:
    def __init__(self, options):
        self.options = options
        self.failed = False
        self.end = time.monotonic() + options.budget
        self.environment = dict(os.environ)
        if options.library_path:
            known = self.environment.get("LD_LIBRARY_PATH")
            self.environment["LD_LIBRARY_PATH"] = ":".join(
                filter(None, (options.library_path, known))
            )

    def say(self, text):
        print(text, flush=True)

    def fail(self, text):
        self.failed = True
        self.say("FAILED " + text)

    def time_left(self):
        return self.end - time.monotonic()

    def command(self, verb, preset, precision, step=1):
        options = self.options
        command = [options.diarist, *verb, "--device", options.device, "--models", options.models]
        command += ["--preset", preset, "--precision", precision, "--allow-unknown-weights"]
        return [*map(str, command), "--step", str(step), *options.extra.split()]

    def run(self, command):
        """The finished process, or None when there was no time for it."""
        try:
            return subprocess.run(
                [*map(str, command)],
                capture_output=True,
                text=True,
                env=self.environment,
                check=False,
                timeout=max(1, self.time_left()),
            )
        except subprocess.TimeoutExpired:
            return None

    def problem(self, result):
        if result is None:
            return "stopped: the time is up"
        return "code %d: %s" % (result.returncode, result.stderr.strip()[-300:])

    # ---- hours ---------------------------------------------------------------------------------

    def make(self, folder, count, minutes):
        files = [folder / ("hour%0*d.wav" % (max(2, len(str(count - 1))), i)) for i in range(count)]
        size = round(minutes * 60 * 16000) * 2 + 44
        if not all(file.is_file() and file.stat().st_size == size for file in files):
            script = pathlib.Path(__file__).with_name("make_hours.py")
            command = [sys.executable, script, "--out", folder, "--count", count]
            command += ["--minutes", minutes, "--speech-share", "1"]
            command += self.options.sources  # 92 to 94 % by the segmentation network
            result = subprocess.run([*map(str, command)], check=False)
            if result.returncode != 0:
                sys.exit("gpu_pipeline: no recordings to measure with")
        return files

    def make_hours(self):
        options = self.options
        name = "%dx%g" % (options.count, options.minutes)
        self.files = self.make(options.hours / name, options.count, options.minutes)
        self.short = self.make(options.hours / "short", 1, 0.5)[0]

    # ---- starts --------------------------------------------------------------------------------

    def starts(self):
        seen = set()
        for case in self.options.cases:
            if (case.preset, case.precision) in seen:
                continue
            seen.add((case.preset, case.precision))
            command = self.command(["run", "--timings"], case.preset, case.precision)
            self.time_starts("%s/%s" % (case.preset, case.precision), [*command, self.short])

    def time_starts(self, name, command):
        rows = []
        for _ in range(self.options.starts):
            begin = time.perf_counter()
            result = self.run(command)
            wall = time.perf_counter() - begin
            times = result and re.search(r"load ([\d.]+) s, run ([\d.]+) s", result.stderr)
            if result is None or result.returncode != 0 or not times:
                self.fail("start %s: %s" % (name, self.problem(result)))
                return
            rows.append((wall, *map(float, times.groups())))
        walls, loads, runs = zip(*(rows[1:] or rows), strict=True)
        self.say(
            "start %-20s 30 s file, process start to RTTM: first %.3f s, then %.3f s "
            "(least %.3f); ready after %.3f s of it, run %.3f s; %d processes"
            % (
                name,
                rows[0][0],
                statistics.median(walls),
                min(walls),
                # What is no part of the run is spent before it: loading the program, the models.
                statistics.median(wall - run for wall, run in zip(walls, runs, strict=True)),
                statistics.median(runs),
                len(rows),
            )
        )
        self.say("      %-20s the Diarizer alone: %.3f s" % ("", statistics.median(loads)))

    # ---- identity ------------------------------------------------------------------------------

    def identity(self):
        for name in words(self.options.identity):
            preset, _, precision = name.partition("/")
            self.check_identity(name, preset, precision or "fast")

    def results(self, label, preset, precision, files):
        """Folder with RTTM and stages of the files, run in one process; None when that failed."""
        folder = self.options.hours / "identity" / label
        command = self.command(["run", "--out", folder], preset, precision)
        stages = folder / "stages"
        if len(files) == 1:
            stages /= files[0].stem
        result = self.run([*command, "--save-stages", stages, *files])
        if result is None or result.returncode != 0:
            self.fail("identity %s: %s" % (label, self.problem(result)))
            return None
        return folder

    def check_identity(self, name, preset, precision):
        label = name.replace("/", "-")
        together = self.results(label + "-all", preset, precision, self.files)
        reverse = self.results(label + "-reverse", preset, precision, self.files[::-1])
        if not together or not reverse:
            return
        compared = differing = turns = 0
        pairs = [(reverse, file.stem) for file in self.files]
        last = len(self.files) - 1
        for place in sorted({0, last // 2, last}):
            file = self.files[place]
            alone = self.results("%s-%s" % (label, file.stem), preset, precision, [file])
            if alone:
                pairs.append((alone, file.stem))
        for other, stem in pairs:
            for kind in (
                stem + ".rttm",
                "stages/%s/segmentations.npy" % stem,
                "stages/%s/embeddings.npy" % stem,
            ):
                compared += 1
                if (together / kind).read_bytes() != (other / kind).read_bytes():
                    differing += 1
                    self.fail("identity %s: %s of %s and %s differ" % (name, kind, together, other))
            turns += (together / (stem + ".rttm")).read_text().count("\n")
        if turns == 0:
            self.fail("identity %s: there are no turns to compare" % name)
        self.say(
            "identity %-20s %d recordings together, reversed, %d alone: %d compared, %d differ"
            % (name, len(self.files), len(pairs) - len(self.files), compared, differing)
        )

    # ---- bench ---------------------------------------------------------------------------------

    def bench(self):
        self.reports = []
        self.rows = [["case", "files", "hours", "ready s", *(c[1] for c in COLUMNS), "best x"]]
        for case in self.options.cases:
            if self.time_left() < 1:
                self.fail("bench %s: not run, the time is up" % case.name)
                continue
            self.bench_case(case)

    def bench_case(self, case):
        options = self.options
        files = self.files[: case.files or None]
        repeat = options.repeat if len(files) > 2 else 2 * options.repeat + 1
        command = self.command(["bench", "run"], case.preset, case.precision, case.step)
        command += ["--repeat", repeat, "--format", "json"]
        # Test weights put everything into one cluster; the captured stages don't.
        if options.replay and case.preset in ("community-1", "pyannote-3.1"):
            command += ["--replay", options.replay]
        result = self.run([*command, *files])
        if result is None or result.returncode != 0:
            self.fail("bench %s: %s" % (case.name, self.problem(result)))
            return
        report = {"case": case.name, **json.loads(result.stdout)}
        self.reports.append(report)
        (options.out / "pipeline.json").write_text(json.dumps(self.reports, indent=1) + "\n")
        row = [case.name, str(len(files)), "%.2f" % (report["audio_seconds"] / 3600)]
        row.append("%.2f" % report["load_seconds"])
        for key, _, digits in COLUMNS:
            value = report["median"][key]
            row.append("-" if value is None else "%.*f" % (digits, value))
        row.append("%.0f" % report["best_x_real_time"])
        self.rows.append(row)
        self.say("bench %-28s %s s, %s x real time, idle %s %%" % (row[0], row[4], row[5], row[12]))

    def table(self):
        if len(self.rows) < 2:
            return
        widths = [max(map(len, column)) for column in zip(*self.rows, strict=True)]
        self.say(
            "\nMedians over passes after one to warm up; stages: seconds of a pass, summed over "
            "its recordings; idle: share of the device's wall time; J/h: energy per hour of audio."
        )
        for row in self.rows:
            cells = [row[0].ljust(widths[0])]
            cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
            self.say("  ".join(cells))


def parse(arguments):
    head, _, rest = __doc__.partition("\nusage:")
    parser = argparse.ArgumentParser(
        description=head,
        epilog=rest[rest.index("\n\n") :],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    path = pathlib.Path
    parser.add_argument("--diarist", type=path, required=True, help="the program")
    parser.add_argument("--library-path", default="", help="for the program's libraries")
    parser.add_argument("--models", type=path, required=True, help="models folder")
    parser.add_argument("--device", default="cuda", help="(cuda)")
    parser.add_argument("--sources", type=path, nargs="+", required=True, help="for make_hours.py")
    parser.add_argument("--hours", type=path, default=path("build/hours"), help="(build/hours)")
    parser.add_argument("--count", type=int, default=20, help="recordings (20)")
    parser.add_argument("--minutes", type=float, default=60, help="each (60)")
    parser.add_argument("--replay", type=path, help="stages to cluster, for community-1")
    parser.add_argument("--out", type=path, default=path("build/gpu_check"), help="results")
    parser.add_argument("--repeat", type=int, default=2, help="passes; twice and one for few files")
    parser.add_argument("--starts", type=int, default=6, help="processes per preset (6)")
    parser.add_argument("--identity", default=DEFAULT_IDENTITY, help="PRESET/PRECISION ...")
    parser.add_argument("--cases", default=DEFAULT_CASES, help="see above")
    parser.add_argument("--parts", default="starts identity bench", help="what to run")
    parser.add_argument("--extra", default="", help="options for every run of the program")
    parser.add_argument("--budget", type=float, default=540, help="seconds for everything (540)")
    options = parser.parse_args(arguments)
    try:
        options.cases = [Case.parse(name) for name in words(options.cases)]
    except argparse.ArgumentTypeError as problem:
        parser.error(str(problem))
    for part in words(options.parts):
        if part not in ("starts", "identity", "bench"):
            parser.error("no part %s" % part)
    return options


def main(arguments):
    options = parse(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    bench = Bench(options)
    bench.make_hours()
    for part in words(options.parts):
        getattr(bench, part)()
    if "bench" in words(options.parts):
        bench.table()
    sys.exit(1 if bench.failed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])

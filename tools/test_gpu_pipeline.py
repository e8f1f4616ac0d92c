#!/usr/bin/env python3
"""Tests of gpu_pipeline.py and gpu_pack.py, with a stand-in for the program."""

import os
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

import gpu_pack
import gpu_pipeline

# Writes what `diarist` would. FAKE=batch: results depend on what else is in the call;
# FAKE=silence: no turns; FAKE=broken: fails.
PROGRAM = """#!{python}
import json, os, pathlib, sys
fake, arguments = os.environ.get("FAKE", ""), sys.argv[1:]
if fake == "broken":
    sys.exit("no GPU here")
value = lambda name: arguments[arguments.index(name) + 1]
files = [pathlib.Path(a) for a in arguments if a.endswith(".wav")]
if arguments[0] == "bench":
    keys = {keys}
    median = dict.fromkeys(keys, 2.0) | {{"device_idle_percent": None, "files": len(files)}}
    print(json.dumps({{"audio_seconds": 3600 * len(files), "load_seconds": 1.5, "median": median,
                      "best_x_real_time": 7.0, "arguments": arguments}}))
elif "--out" in arguments:
    for file in files:
        stages = pathlib.Path(value("--save-stages"))
        stages = stages / file.stem if len(files) > 1 else stages
        stages.mkdir(parents=True)
        text = "" if fake == "silence" else "SPEAKER " + file.stem + "\\n"
        (pathlib.Path(value("--out")) / (file.stem + ".rttm")).write_text(text)
        (stages / "segmentations.npy").write_text(file.stem)
        (stages / "embeddings.npy").write_text(str(len(files)) if fake == "batch" else "same")
else:
    print("timings: load 0.250 s, run 0.125 s, 30 s of audio", file=sys.stderr)
"""


class GpuPipeline(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        keys = [key for key, _, _ in gpu_pipeline.COLUMNS]
        program = self.root / "diarist"
        program.write_text(PROGRAM.format(python=sys.executable, keys=keys))
        program.chmod(0o755)
        # Recordings of the right length are taken as they are.
        for name, count, minutes in (("3x0.01", 3, 0.01), ("short", 1, 0.5)):
            (self.root / "hours" / name).mkdir(parents=True)
            for i in range(count):
                file = self.root / "hours" / name / ("hour%02d.wav" % i)
                file.write_bytes(bytes(round(minutes * 60 * 16000) * 2 + 44))

    def run_script(self, *arguments, fake=""):
        command = [sys.executable, gpu_pipeline.__file__, "--diarist", self.root / "diarist"]
        command += ["--models", self.root, "--sources", "none", "--hours", self.root / "hours"]
        command += ["--out", self.root / "out", "--count", 3, "--minutes", 0.01, *arguments]
        environment = {**os.environ, "FAKE": fake}
        return subprocess.run(
            [*map(str, command)], capture_output=True, text=True, check=False, env=environment
        )

    def test_everything(self):
        result = self.run_script("--cases", "community-1/fast/1,open/exact/all/step2")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        for words in (
            "start community-1/fast",
            "start open/exact",
            "the Diarizer alone: 0.250 s",
            "3 recordings together, reversed, 3 alone: 18 compared, 0 differ",
            "open/exact/all/step2",
            "3.00",
        ):
            self.assertIn(words, result.stdout)
        self.assertIn('"--step",', (self.root / "out" / "pipeline.json").read_text())

    def test_results_that_depend_on_the_batch_fail(self):
        result = self.run_script("--parts", "identity", "--identity", "open/fast", fake="batch")
        self.assertEqual(result.returncode, 1)
        # Together and reversed agree; the three alone don't.
        self.assertIn("18 compared, 3 differ", result.stdout)
        self.assertIn("FAILED identity open/fast: stages/hour00/embeddings.npy", result.stdout)

    def test_silence_proves_nothing(self):
        result = self.run_script("--parts", "identity", "--identity", "open/fast", fake="silence")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no turns to compare", result.stdout)

    def test_a_failing_program_is_told(self):
        result = self.run_script("--cases", "open/fast/1", fake="broken")
        self.assertEqual(result.returncode, 1)
        for part in ("start", "identity", "bench"):
            self.assertIn("FAILED " + part, result.stdout)
        self.assertIn("no GPU here", result.stdout)

    def test_a_spent_budget_is_told(self):
        result = self.run_script("--parts", "bench", "--cases", "open/fast/1", "--budget", "0")
        self.assertEqual(result.returncode, 1)
        self.assertIn("the time is up", result.stdout)

    def test_wrong_usage(self):
        self.assertEqual(self.run_script("--cases", "open/1").returncode, 2)
        self.assertEqual(self.run_script("--parts", "dance").returncode, 2)


class GpuPack(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name, text in (("open/a.bin", "a"), ("open/b.bin", "b"), ("lite/a.bin", "a")):
            (self.root / "models" / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / "models" / name).write_text(text)

    def pack(self, *arguments):
        command = [sys.executable, gpu_pack.__file__, "--out", self.root / "carry", *arguments]
        return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)

    def test_equal_files_travel_once(self):
        models = ("--models", self.root / "models")
        self.assertEqual(self.pack(*models, "--bundles", "open,lite/a.bin").returncode, 0)
        with tarfile.open(self.root / "carry" / "models.tar.xz") as tar:
            kinds = {member.name: member.islnk() for member in tar}
            tar.extractall(self.root / "there", filter="data")
        self.assertEqual(
            kinds,
            {"models/open/a.bin": False, "models/open/b.bin": False, "models/lite/a.bin": True},
        )
        for name in ("open/a.bin", "open/b.bin", "lite/a.bin"):
            there = (self.root / "there" / "models" / name).read_text()
            self.assertEqual(there, (self.root / "models" / name).read_text())

    def test_refusals(self):
        for arguments, code, words in (
            (("--models", self.root / "models", "--limit", "0"), 1, "more than 0 MiB"),
            (("--models", self.root / "none"), 1, "no such folder"),
            (("--replay", self.root), 1, "segmentations.npy"),
            (("--build", self.root), 1, "not built"),
            (("--standin", self.root), 2, "--plda"),
        ):
            result = self.pack(*arguments)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertIn(words, result.stderr)
            self.assertNotIn("Traceback", result.stderr)


if __name__ == "__main__":
    unittest.main()

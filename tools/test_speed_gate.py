#!/usr/bin/env python3
"""Tests of speed_gate.py: what is a finding, what gets stored, and how a count is taken."""

import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import speed_gate
from speed_gate import Finding

SCRIPT = Path(speed_gate.__file__)


def kinds(accepted, counted, partly=False):
    found = speed_gate.compare(accepted, counted, 0.01, 0.03, partly)
    return [(f.kind, f.target, f.work) for f in found]


class Compare(unittest.TestCase):
    def test_counts_inside_the_tolerance_are_no_finding(self):
        accepted = {"AVX2": {"a": 1000, "b": 1000, "c": 1000}}
        self.assertEqual(kinds(accepted, {"AVX2": {"a": 1010, "b": 970, "c": 1000}}), [])

    def test_one_instruction_beyond_is_one(self):
        accepted = {"AVX2": {"a": 1000, "b": 1000}}
        self.assertEqual(
            kinds(accepted, {"AVX2": {"a": 1011, "b": 969}}),
            [("slower", "AVX2", "a"), ("quicker", "AVX2", "b")],
        )

    def test_each_set_has_figures_of_its_own(self):
        accepted = {"AVX2": {"a": 1000}, "SSE4": {"a": 2000}}
        self.assertEqual(kinds(accepted, {"AVX2": {"a": 1000}, "SSE4": {"a": 2000}}), [])
        self.assertEqual(
            kinds(accepted, {"AVX2": {"a": 2000}, "SSE4": {"a": 2000}}), [("slower", "AVX2", "a")]
        )

    def test_sets_that_were_not_counted_are_left_alone(self):
        self.assertEqual(kinds({"AVX2": {"a": 1}, "SSE4": {"a": 2}}, {"SSE4": {"a": 2}}), [])

    def test_work_without_a_figure_and_figures_without_work(self):
        accepted = {"AVX2": {"old": 5}}
        self.assertEqual(
            kinds(accepted, {"AVX2": {"added": 7}}),
            [("new", "AVX2", "added"), ("gone", "AVX2", "old")],
        )
        self.assertEqual(kinds(accepted, {"AVX2": {"added": 7}}, True), [("new", "AVX2", "added")])

    def test_the_worst_comes_first(self):
        accepted = {"AVX2": {"a": 100, "b": 100, "c": 100}}
        counted = {"AVX2": {"a": 110, "b": 130, "c": 50}}
        self.assertEqual([work for _, _, work in kinds(accepted, counted)], ["b", "a", "c"])

    def test_the_text_has_both_numbers_and_the_change(self):
        text = str(Finding("slower", "AVX2", "conv", 200000, 210000))
        for part in ("AVX2", "conv", "200,000", "210,000", "+5.0 %"):
            self.assertIn(part, text)


class Merged(unittest.TestCase):
    def test_a_full_count_replaces_its_set_and_no_other(self):
        accepted = {"AVX2": {"a": 1, "old": 2}, "SSE4": {"a": 3}}
        self.assertEqual(
            speed_gate.merged(accepted, {"AVX2": {"a": 9}}, False),
            {"AVX2": {"a": 9}, "SSE4": {"a": 3}},
        )

    def test_a_part_leaves_the_rest(self):
        self.assertEqual(
            speed_gate.merged({"AVX2": {"a": 1, "b": 2}}, {"AVX2": {"a": 9}}, True),
            {"AVX2": {"a": 9, "b": 2}},
        )


class Script(unittest.TestCase):
    """The whole script, with a valgrind that writes files like callgrind's."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.counts = {"conv": 1000, "lstm": 2000}
        self.build = "Release"
        self.accepted = self.root / "accepted.json"

    def executable(self, file: str, text: str):
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!{sys.executable}\n{text}")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def gate(self, *arguments: str) -> subprocess.CompletedProcess:
        listing = {
            "machine": "x86_64",
            "compiler": "gcc 1",
            "build": self.build,
            "targets": ["AVX2"],
            "work": list(self.counts),
        }
        self.executable("bin/instruction_counts", "")
        self.executable(
            "tools/valgrind",
            "import sys\n"
            f"print({json.dumps(listing)!r})\n"
            "for argument in sys.argv:\n"
            "    if argument.startswith('--callgrind-out-file='):\n"
            f"        for i, number in enumerate({list(self.counts.values())}, start=1):\n"
            "            with open(argument.split('=')[1] + f'.{i}', 'w') as file:\n"
            "                file.write(f'events: Ir\\nsummary: {number}\\n')\n",
        )
        return subprocess.run(
            [sys.executable, SCRIPT, "--build", self.root, "--accepted", self.accepted, *arguments],
            env={**os.environ, "PATH": f"{self.root}/tools:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
        )

    def test_accept_then_compare_then_slower_then_accept(self):
        refused = self.gate()
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--accept", refused.stderr)
        self.assertEqual(self.gate("--accept").returncode, 0)
        stored = json.loads(self.accepted.read_text())
        self.assertEqual(stored, {"x86_64, gcc 1": {"AVX2": self.counts}})
        same = self.gate()
        self.assertEqual(same.returncode, 0, same.stdout)
        self.assertIn("Not counted: SSE4", same.stdout)

        self.counts["lstm"] = 2100
        slower = self.gate()
        self.assertEqual(slower.returncode, 1)
        self.assertIn("slower   AVX2  lstm: 2,000 -> 2,100 (+5.0 %)", slower.stdout)
        self.assertIn("out.2", slower.stdout)
        self.assertIn("--accept", slower.stdout)
        self.assertEqual(self.gate("--accept").returncode, 0)
        self.assertEqual(self.gate().returncode, 0)

    def test_other_compilers_keep_their_figures(self):
        self.accepted.write_text(json.dumps({"other": {"AVX2": {"conv": 5}}}))
        self.assertEqual(self.gate("--accept").returncode, 0)
        stored = json.loads(self.accepted.read_text())
        self.assertEqual(sorted(stored), ["other", "x86_64, gcc 1"])
        self.assertEqual(stored["other"], {"AVX2": {"conv": 5}})

    def test_a_count_of_nothing_and_a_debug_build_are_refused(self):
        self.counts["conv"] = 0
        nothing = self.gate("--accept")
        self.assertEqual(nothing.returncode, 2)
        self.assertIn("counted nothing for 'conv'", nothing.stderr)
        self.build = "Debug"
        debug = self.gate("--accept")
        self.assertEqual(debug.returncode, 2)
        self.assertIn("Release", debug.stderr)
        self.assertFalse(self.accepted.exists())


if __name__ == "__main__":
    unittest.main()

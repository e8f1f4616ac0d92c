#!/usr/bin/env python3
"""Tests of doc_blocks.py and of the ways to try a block."""

import argparse
import os
import tempfile
import unittest
from pathlib import Path

from doc_blocks import Block, console_commands, find_blocks, output_matches
from doc_compilers import compile_blocks
from run_doc_blocks import ROOT, Scratch, parse_block

PAGE = """# Title

```sh
echo one
```

- in a list:

  ```json
  {"a": 1}
  ```

<!-- not run: needs a GPU -->
```sh
diarist run --device cuda meeting.wav
```

```text
output
```
"""


class Finding(unittest.TestCase):
    def test_blocks_languages_lines_and_markers(self):
        blocks, problems = find_blocks("p.md", PAGE)
        self.assertEqual(problems, [])
        self.assertEqual(
            [(b.line, b.language, b.not_run) for b in blocks],
            [(4, "sh", None), (10, "json", None), (15, "sh", "needs a GPU"), (19, "text", None)],
        )
        self.assertEqual(blocks[0].place, "p.md:4")

    def test_indented_code_loses_its_indent(self):
        blocks, _ = find_blocks("p.md", PAGE)
        self.assertEqual(blocks[1].code, '{"a": 1}\n')

    def problem_of(self, text: str) -> str:
        _, problems = find_blocks("p.md", text)
        self.assertEqual(len(problems), 1, problems)
        return problems[0]

    def test_a_block_names_its_language(self):
        self.assertIn("p.md:1: a block of ''", self.problem_of("```\nx\n```\n"))
        self.assertIn("a block of 'bash'", self.problem_of("```bash\nx\n```\n"))

    def test_a_marker_has_a_reason_and_a_block_right_below(self):
        self.assertIn("without a reason", self.problem_of("<!-- not run: -->\n```sh\nx\n```\n"))
        lone = "<!-- not run: because -->\n\n```sh\nx\n```\n"
        self.assertIn("p.md:1: a marker without a block", self.problem_of(lone))
        self.assertIn("without a block", self.problem_of("<!-- not run: because -->"))

    def test_text_needs_no_marker(self):
        self.assertIn("leave it out", self.problem_of("<!-- not run: why -->\n```text\nx\n```\n"))

    def test_an_open_block(self):
        self.assertIn("never closed", self.problem_of("```sh\nx\n"))

    def test_other_comments_are_no_markers(self):
        _, problems = find_blocks("p.md", "<!-- a remark -->\n\nText.\n")
        self.assertEqual(problems, [])


class Console(unittest.TestCase):
    def test_commands_and_what_is_shown(self):
        commands = console_commands("$ echo a \\\n  b\na b\n$ true\n$ false\nno\n...\n")
        self.assertEqual(
            [(c.text, c.shown) for c in commands],
            [("echo a \\\n  b", ("a b",)), ("true", ()), ("false", ("no", "..."))],
        )

    def test_it_begins_with_a_command(self):
        with self.assertRaises(ValueError):
            console_commands("output\n")

    def test_matching(self):
        self.assertTrue(output_matches(("a", "b"), "a  \nb\n"))
        self.assertTrue(output_matches((), ""))
        self.assertFalse(output_matches((), "a\n"))
        self.assertFalse(output_matches(("a",), "a\nb\n"))
        self.assertFalse(output_matches(("a", "b"), "a\n"))
        self.assertFalse(output_matches(("a.b",), "axb\n"))

    def test_three_dots_are_any_lines(self):
        for printed in ("a\nz\n", "a\nb\nc\nz\n"):
            self.assertTrue(output_matches(("a", "...", "z"), printed))
        self.assertFalse(output_matches(("a", "...", "z"), "a\nb\n"))


class Trying(unittest.TestCase):
    def test_parsers_refuse_what_is_wrong(self):
        good = {
            "json": "{}",
            "toml": 'a = "b"',
            "xml": "<a><b/></a>",
            "python": "x = 1",
        }
        bad = {"json": "{,}", "toml": "a = ", "xml": "<a><b></a>", "python": "x = = 1"}
        for language, code in good.items():
            self.assertEqual(parse_block(Block("p.md", 2, language, code)), [], language)
        for language, code in bad.items():
            (said,) = parse_block(Block("p.md", 2, language, code))
            self.assertTrue(said.startswith(f"p.md:2: is no {language}: "), said)

    def compile(self, *blocks: Block) -> list[str]:
        return compile_blocks(list(blocks), {"cpp": "c++", "c": "cc"}, ROOT)

    def test_later_blocks_use_what_earlier_ones_made(self):
        first = Block("p.md", 2, "c", "int a = 1;\n")
        second = Block("p.md", 6, "c", '#include <stdio.h>\nprintf("%d", a);\n')
        self.assertEqual(self.compile(first, second), [])
        (said,) = self.compile(second)
        self.assertIn("p.md: does not compile", said)

    def test_a_program_must_be_an_example(self):
        (said,) = self.compile(Block("p.md", 2, "cpp", "int main() { return 0; }\n"))
        self.assertIn("no file of examples/", said)
        example = (Path(ROOT) / "examples/minimal.cpp").read_text(encoding="utf-8")
        self.assertEqual(self.compile(Block("p.md", 2, "cpp", example)), [])


class Running(unittest.TestCase):
    """Scratch.run_* without a scratch folder's samples."""

    def scratch(self, folder: Path):
        made = Scratch.__new__(Scratch)
        made.folder, made.environment = folder, dict(os.environ)
        made.arguments = argparse.Namespace(build=None, python="python3")
        made.prefix = folder / "prefix"
        return made

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.made = self.scratch(Path(self.temporary.name))

    def test_a_failing_line_fails_the_block(self):
        self.assertEqual(self.made.run_sh(Block("p.md", 2, "sh", "true\n")), [])
        for code in ("false\ntrue\n", "false | cat\n", "echo $no_such_variable\n"):
            (said,) = self.made.run_sh(Block("p.md", 2, "sh", code))
            self.assertTrue(said.startswith("p.md:2: exit code "), said)

    def test_console_compares(self):
        self.assertEqual(self.made.run_console(Block("p.md", 2, "console", "$ echo a\na\n")), [])
        failing = Block("p.md", 2, "console", "$ echo bad; exit 2\nbad\n")
        self.assertEqual(self.made.run_console(failing), [])
        (said,) = self.made.run_console(Block("p.md", 2, "console", "$ echo a\nb\n"))
        self.assertIn("prints otherwise", said)
        (said,) = self.made.run_console(Block("p.md", 2, "console", "$ exit 3\n"))
        self.assertIn("exit code 3", said)

    def test_python_blocks_share_names_and_tell_their_place(self):
        first, second = Block("p.md", 2, "python", "a = 1"), Block("p.md", 9, "python", "a / 0")
        self.assertEqual(self.made.run_python([first]), [])
        (said,) = self.made.run_python([first, second])
        self.assertIn("p.md:9: failed", said)
        self.assertIn("ZeroDivisionError", said)


if __name__ == "__main__":
    unittest.main()

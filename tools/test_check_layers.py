#!/usr/bin/env python3
"""Tests of check_layers.py: small trees with one thing wrong in each."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import check_layers


class Layers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("include/diarist/error.hpp", "#pragma once\n")
        self.write("src/base/error.hpp", '#include "diarist/error.hpp"\n')
        self.write("src/model/graph.hpp", '#include "base/error.hpp"\n#include <vector>\n')
        self.write("src/backend/backend.hpp", '#include "model/graph.hpp"\n')
        self.write("src/backend/cpu/cpu_backend.hpp", '#include "backend/backend.hpp"\n')

    def write(self, file: str, text: str):
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def rules(self) -> list[str]:
        return [str(violation) for violation in check_layers.check(self.root)]

    def expect_one(self, file: str, text: str, line: int, words: str):
        self.assertEqual(self.rules(), [])
        self.write(file, text)
        (violation,) = check_layers.check(self.root)
        self.assertEqual((violation.file, violation.line), (file, line))
        self.assertIn(words, violation.rule)

    def test_downwards_is_allowed(self):
        self.write("src/backend/registry.cpp", '#include "backend/cpu/cpu_backend.hpp"\n')
        self.write("src/pipeline/diarizer.cpp", '#include "backend/backend.hpp"\n')
        self.write("src/model/graph.cpp", '#include "graph.hpp"\n')
        self.write("tests/unit/any_test.cpp", '#include "backend/cpu/cpu_backend.hpp"\n')
        self.write("cli/commands.hpp", "#include <CLI/CLI.hpp>\n")
        self.write("cli/main.cpp", '#include "commands.hpp"\n#include "diarist/error.hpp"\n')
        self.assertEqual(self.rules(), [])

    def test_base_must_not_look_up(self):
        self.expect_one("src/base/a.cpp", '\n\n#include "model/graph.hpp"\n', 3, "base must not")

    def test_neighbours_do_not_know_each_other(self):
        text = '#include "model/graph.hpp"\n'
        self.expect_one("src/audio/a.cpp", text, 1, "audio must not include src/model/graph.hpp")

    def test_backends_do_not_know_each_other(self):
        text = '#include "backend/cpu/cpu_backend.hpp"\n'
        self.expect_one("src/backend/reference/a.cpp", text, 1, "backend/reference must not")

    def test_only_the_registry_names_backends(self):
        text = '#include "backend/cpu/cpu_backend.hpp"\n'
        self.expect_one("src/pipeline/a.cpp", text, 1, "pipeline must not")

    def test_relative_paths_are_followed(self):
        text = '#include "../model/graph.hpp"\n'
        self.expect_one("src/audio/a.cpp", text, 1, "src/model/graph.hpp")

    def test_angle_brackets_are_no_way_around(self):
        self.expect_one("cli/a.cpp", "#include <base/error.hpp>\n", 1, "cli must not")

    def test_public_headers_stand_alone(self):
        text = '#include "base/error.hpp"\n'
        self.expect_one("include/diarist/a.hpp", text, 1, "nothing of this project")

    def test_socket_headers(self):
        self.expect_one("src/audio/a.cpp", "#include <curl/curl.h>\n", 1, "opens a socket")

    def test_cuda_headers(self):
        text = "#include <cuda_runtime.h>\n"
        self.expect_one("src/backend/cpu/a.cpp", text, 1, "only backend/cuda")

    def test_test_headers(self):
        self.expect_one("src/model/a.cpp", "#include <gtest/gtest.h>\n", 1, "stay in tests")

    def test_unknown_file(self):
        text = '#include "base/erorr.hpp"\n'
        self.expect_one("src/model/a.cpp", text, 1, "no file of this project")

    def test_unknown_room(self):
        self.expect_one("src/attic/a.cpp", "", 1, "no room is known")

    def test_includes_in_comments_do_not_count(self):
        self.write("src/base/a.cpp", '/*\n#include "model/graph.hpp"\n*/\n// #include "x.hpp"\n')
        self.assertEqual(self.rules(), [])

    def test_line_numbers_after_a_block_comment(self):
        text = '/* one\ntwo */\n#include "model/graph.hpp"\n'
        self.expect_one("src/base/a.cpp", text, 3, "base must not")

    def test_long_files(self):
        self.expect_one("tests/unit/long_test.cpp", "\n" * 601, 601, "600 are the limit")

    def test_links(self):
        good = "diarist_room(pipeline SOURCES a.cpp\n  LINKS diarist_model diarist_fetch)\n"
        self.write("src/pipeline/CMakeLists.txt", good)
        text = "# comment\ndiarist_room(audio SOURCES a.cpp LINKS diarist_base diarist_model)\n"
        self.expect_one("src/audio/CMakeLists.txt", text, 2, "audio must not link diarist_model")

    def test_links_of_a_program(self):
        text = "target_link_libraries(diarist_cli PRIVATE diarist::diarist diarist_model)\n"
        self.expect_one("cli/CMakeLists.txt", text, 1, "cli must not link diarist_model")

    def test_as_a_program(self):
        script = Path(check_layers.__file__)
        command = [sys.executable, str(script), str(self.root)]
        self.assertEqual(subprocess.run(command, check=False).returncode, 0)
        self.write("src/base/a.cpp", '#include "model/graph.hpp"\n')
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertTrue(result.stdout.startswith("src/base/a.cpp:1: base must not include"))


if __name__ == "__main__":
    unittest.main()

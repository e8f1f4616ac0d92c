#!/usr/bin/env python3
"""Try every code block of README and docs: run, compile or parse it.

usage: run_doc_blocks.py [--ways WAY,WAY] [options] PAGE...

parse     json, toml, xml and yaml are read; python is compiled
compile   c and cpp (tools/doc_compilers.py)
run       sh and console with the built program first on the path, python, cmake against an
          installed diarist; in a scratch folder per page, with recordings and labels under the
          names that the pages use (tools/doc_samples.py). What a console block shows is compared
          with what is printed.

A block that can't be tried here has a marker with its reason (tools/doc_blocks.py); any other one
that fails is an error. Exit code 77: there is no model or no sample recording to run with.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import xml.etree.ElementTree
from collections import Counter
from pathlib import Path

import doc_samples
from doc_blocks import Block, console_commands, output_matches, read_blocks
from doc_compilers import compile_blocks

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT = 600
SKIP = 77

# Blocks of a page in one interpreter, each told by its place when it fails.
PYTHON_RUNNER = """
import json, sys, traceback
names = {"__name__": "__main__"}
for place, code in json.load(open(sys.argv[1], encoding="utf-8")):
    try:
        exec(compile(code, place, "exec"), names)
    except BaseException:
        traceback.print_exc()
        sys.exit(f"{place}: failed")
"""


def parse_yaml(text: str) -> None:
    try:
        import yaml
    except ImportError:  # the pages' tools have it (tools/requirements-docs.txt)
        return
    yaml.safe_load(text)


PARSERS = {
    "json": json.loads,
    "toml": tomllib.loads,
    "xml": xml.etree.ElementTree.fromstring,
    "yaml": parse_yaml,
    "python": lambda code: compile(code, "block", "exec"),
}


def parse_block(block: Block) -> list[str]:
    try:
        PARSERS[block.language](block.code)
    except (ValueError, SyntaxError) as error:  # those of all five parsers
        return [f"{block.place}: is no {block.language}: {error}"]
    return []


class Scratch:
    """The folder in which a page's blocks run, and their environment."""

    def __init__(self, folder: Path, arguments: argparse.Namespace):
        self.folder = folder / "work"
        self.folder.mkdir()
        self.arguments = arguments
        home, models, programs = folder / "home", folder / "models", folder / "bin"
        for made in (home, models, programs):
            made.mkdir()
        # Whatever a block installs or removes, the models themselves stay.
        for bundle in sorted(arguments.models.iterdir()):
            if bundle.is_dir():
                (models / bundle.name).symlink_to(bundle.resolve())
        (programs / "diarist").symlink_to(arguments.program.resolve())
        self.prefix = folder / "prefix"
        for example in (ROOT / "examples").glob("*.c*"):
            shutil.copy(example, self.folder)
        doc_samples.make_samples(
            self.folder, arguments.sample / "sample.wav", arguments.sample / "sample.rttm"
        )
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("DIARIST_", "XDG_"))
        }
        self.environment = {
            **kept,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            "LC_ALL": "C.UTF-8",
            "DIARIST_MODELS": str(models),
            "DIARIST_PRESET": arguments.preset,
            "PKG_CONFIG_PATH": str(self.prefix / self.pkgconfig()),
        }

    def pkgconfig(self) -> str:
        """Where cmake --install puts diarist.pc, below the prefix."""
        if self.arguments.build is None:
            return "lib/pkgconfig"
        cache = (self.arguments.build / "CMakeCache.txt").read_text(encoding="utf-8")
        found = re.search(r"^CMAKE_INSTALL_LIBDIR:\w+=(.+)$", cache, re.MULTILINE)
        return f"{found.group(1) if found else 'lib'}/pkgconfig"

    def install(self) -> str:
        """Installs the library once, for blocks that link it; what went wrong, or nothing."""
        if self.arguments.build is None:
            return "linking needs a build tree (--build)"
        if self.prefix.exists():
            return ""
        for component in ("runtime", "development"):
            code, printed = self.call(
                "cmake", "--install", self.arguments.build.resolve(), "--prefix", self.prefix,
                "--component", component)  # fmt: skip
            if code != 0:
                return f"installing failed\n{printed}"
        return ""

    def call(self, *command) -> tuple[int, str]:
        try:
            done = subprocess.run(
                [str(word) for word in command],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return -1, f"took longer than {TIMEOUT} s\n"
        return done.returncode, done.stdout

    def run_sh(self, block: Block) -> list[str]:
        if "pkg-config" in block.code and (problem := self.install()):
            return [f"{block.place}: {problem}"]
        code, printed = self.call("bash", "-euo", "pipefail", "-c", block.code)
        return [] if code == 0 else [f"{block.place}: exit code {code}\n{printed}"]

    def run_console(self, block: Block) -> list[str]:
        """An exit code other than 0 is fine where the page shows what was said."""
        problems = []
        for command in console_commands(block.code):
            code, printed = self.call("bash", "-uo", "pipefail", "-c", command.text)
            if not output_matches(command.shown, printed) or (code != 0 and not command.shown):
                problems.append(
                    f"{block.place}: '{command.text}' (exit code {code}) "
                    f"prints otherwise:\n{printed}"
                )
        return problems

    def run_cmake(self, block: Block) -> list[str]:
        """Builds examples/minimal.cpp as app.cpp with the block as its project."""
        if problem := self.install():
            return [f"{block.place}: {problem}"]
        project = self.folder / f"project_{block.line}"
        project.mkdir()
        shutil.copy(ROOT / "examples/minimal.cpp", project / "app.cpp")
        head = ""
        if "project(" not in block.code:
            head = "cmake_minimum_required(VERSION 3.25)\nproject(app LANGUAGES C CXX)\n"
        (project / "CMakeLists.txt").write_text(head + block.code, encoding="utf-8")
        for command in (
            ("cmake", "-S", project, "-B", project / "build", "-G", "Ninja",
             f"-DCMAKE_PREFIX_PATH={self.prefix}"),
            ("cmake", "--build", project / "build", "--parallel", "2"),
        ):  # fmt: skip
            code, printed = self.call(*command)
            if code != 0:
                return [f"{block.place}: exit code {code}\n{printed}"]
        return []

    def run_python(self, blocks: list[Block]) -> list[str]:
        path = self.folder / "python_blocks.json"
        path.write_text(json.dumps([(block.place, block.code) for block in blocks]), "utf-8")
        code, printed = self.call(self.arguments.python, "-c", PYTHON_RUNNER, path)
        return [] if code == 0 else [printed]


def has_package(python: str) -> bool:
    done = subprocess.run([python, "-c", "import diarist"], capture_output=True, check=False)
    return done.returncode == 0


def run_page(blocks: list[Block], arguments: argparse.Namespace) -> list[str]:
    problems = []
    with tempfile.TemporaryDirectory(prefix="diarist-docs-") as folder:
        scratch = Scratch(Path(folder), arguments)
        ways = {"sh": scratch.run_sh, "console": scratch.run_console, "cmake": scratch.run_cmake}
        for block in blocks:
            if block.language in ways:
                problems += ways[block.language](block)
        if python := [block for block in blocks if block.language == "python"]:
            problems += scratch.run_python(python)
    return problems


def what_is_missing(arguments: argparse.Namespace) -> str:
    if arguments.program is None or not arguments.program.exists():
        return "the program is not built (--program)"
    if arguments.models is None or not (arguments.models / "open").exists():
        return "the bundle 'open' is not there (--models)"
    if arguments.sample is None or not (arguments.sample / "sample.rttm").exists():
        return "there is no sample recording (--sample)"
    return ""


def check_pages(blocks: list[Block], arguments: argparse.Namespace) -> list[str]:
    pages = dict.fromkeys(block.page for block in blocks)
    problems = []
    for page in pages:
        mine = [block for block in blocks if block.page == page]
        if "parse" in arguments.ways:
            for block in mine:
                if block.language in PARSERS:
                    problems += parse_block(block)
        tried = [block for block in mine if block.not_run is None]
        if "compile" in arguments.ways:
            compilers = {"cpp": arguments.cxx, "c": arguments.cc}
            problems += compile_blocks(tried, compilers, ROOT)
        runnable = [block for block in tried if block.way == "run"]
        if "run" in arguments.ways and runnable:
            problems += run_page(runnable, arguments)
    return problems


def folder_of(name: str) -> Path | None:
    return Path(os.environ[name]) if os.environ.get(name) else None


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ways", default="parse,compile,run")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--program", type=Path)
    parser.add_argument("--build", type=Path, help="build tree, for cmake blocks")
    parser.add_argument("--models", type=Path, default=folder_of("DIARIST_TEST_MODELS"))
    parser.add_argument("--sample", type=Path, default=folder_of("DIARIST_TEST_SAMPLE"))
    parser.add_argument("--python", default=os.environ.get("DIARIST_TEST_PYTHON", sys.executable))
    parser.add_argument("--preset", default="open-lite", help="the cheapest one that gives turns")
    parser.add_argument("pages", nargs="+", type=Path)
    arguments = parser.parse_args()
    arguments.ways = arguments.ways.split(",")
    return arguments


def main() -> int:
    arguments = read_arguments()
    blocks, problems = read_blocks(arguments.pages, ROOT)
    if "run" in arguments.ways and (missing := what_is_missing(arguments)):
        print(f"skipped: {missing}")
        return SKIP
    left_out = [f"{block.place}: not run: {block.not_run}" for block in blocks if block.not_run]
    if "run" in arguments.ways and not has_package(arguments.python):
        lacking = [b for b in blocks if b.language == "python" and "import diarist" in b.code]
        lacking += [b for b in blocks if b.language == "python" and "from diarist" in b.code]
        left_out += [
            f"{b.place}: not run: no Python package in {arguments.python}" for b in lacking
        ]
        pages = {block.page for block in lacking}
        blocks = [b for b in blocks if not (b.language == "python" and b.page in pages)]
    problems += check_pages(blocks, arguments)
    print("\n".join(left_out))
    counts = Counter(block.language for block in blocks if block.not_run is None)
    print(", ".join(f"{number} {name}" for name, number in sorted(counts.items())))
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

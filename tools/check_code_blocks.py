#!/usr/bin/env python3
"""Compile the C and C++ of Markdown pages.

usage: check_code_blocks.py [--cxx C++] [--cc CC] PAGE...

A block with a main function must be a file of examples/, letter by letter; those are built and run
elsewhere. The other blocks of a page are one after the other in one function, so that a later one
may use what an earlier one made. Exits with 1 when one does not compile.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(cpp|c)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MAIN = re.compile(r"^int main\(", re.MULTILINE)
LANGUAGES = {"cpp": ("-std=c++20", "-x", "c++"), "c": ("-std=c11", "-x", "c")}


def compile_blocks(page: Path, language: str, blocks: list[str], compiler: str) -> str:
    """What the compiler says of them, or an empty text."""
    lines = "\n".join(blocks).split("\n")
    includes = [line for line in lines if line.startswith("#include")]
    body = [line for line in lines if not line.startswith("#include")]
    text = "\n".join([*includes, "void page(void);", "void page(void) {", *body, "}", ""])
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / f"{page.stem}.{language}"
        source.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [compiler, *LANGUAGES[language], "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
             "-Wno-missing-field-initializers", "-Wno-unused", f"-I{ROOT / 'include'}", source],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )  # fmt: skip
    return done.stdout if done.returncode != 0 else ""


def check_page(page: Path, compilers: dict[str, str], examples: set[str]) -> list[str]:
    problems = []
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    for language in LANGUAGES:
        blocks = [code for name, code in found if name == language]
        for code in blocks:
            if MAIN.search(code) and code not in examples:
                problems.append(f"{page.name}: a program that is no file of examples/:\n{code}")
        parts = [code for code in blocks if not MAIN.search(code)]
        if parts and (said := compile_blocks(page, language, parts, compilers[language])):
            problems.append(f"{page.name}: does not compile:\n{said}")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("pages", nargs="+", type=Path)
    arguments = parser.parse_args()
    examples = {path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.c*")}
    problems = []
    for page in arguments.pages:
        problems += check_page(page, {"cpp": arguments.cxx, "c": arguments.cc}, examples)
    print("\n".join(problems), end="")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

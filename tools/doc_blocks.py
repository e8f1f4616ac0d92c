"""Fenced blocks of Markdown pages, and the rules they keep.

Every block names its language. What can't be tried here says so on the line above its fence:

    <!-- not run: needs a GPU -->

The site shows that sentence below the block (docs_hooks.py).
"""

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

# How a block of a language is tried; "text" is output or a drawing, and nothing to try.
LANGUAGES = {
    "sh": "run",
    "console": "run",
    "python": "run",
    "cmake": "run",
    "cpp": "compile",
    "c": "compile",
    "json": "parse",
    "toml": "parse",
    "xml": "parse",
    "yaml": "parse",
    "text": "nothing",
}
FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>```+)(?P<info>.*)$")
MARKER = re.compile(r"^ *<!-- *not run:(?P<reason>.*?)-->\s*$")


@dataclass(frozen=True)
class Block:
    """One fenced block; `line` is that of its first line of code, counted from 1."""

    page: str
    line: int
    language: str
    code: str
    not_run: str | None = None

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def way(self) -> str:
        return LANGUAGES[self.language]


def find_blocks(page: str, text: str) -> tuple[list[Block], list[str]]:
    """The blocks of a page, and what breaks the rules (one line each)."""
    blocks: list[Block] = []
    problems: list[str] = []
    lines = text.split("\n")
    marker: tuple[int, str] | None = None
    number = 0
    while number < len(lines):
        line = lines[number]
        fence = FENCE.match(line)
        if fence is None:
            if marker is not None:
                problems.append(f"{page}:{marker[0]}: a marker without a block below it")
            found = MARKER.match(line)
            marker = (number + 1, found["reason"].strip()) if found else None
            if marker is not None and not marker[1]:
                problems.append(f"{page}:{marker[0]}: a marker without a reason")
            number += 1
            continue
        end = number + 1
        while end < len(lines) and lines[end].strip() != fence["ticks"]:
            end += 1
        if end == len(lines):
            problems.append(f"{page}:{number + 1}: a block that is never closed")
            break
        language = fence["info"].strip()
        code = textwrap.dedent("\n".join(lines[number + 1 : end]) + "\n")
        place = f"{page}:{number + 1}"
        if language not in LANGUAGES:
            known = ", ".join(LANGUAGES)
            problems.append(f"{place}: a block of '{language}'; name one of: {known}")
        elif marker is not None and LANGUAGES[language] == "nothing":
            problems.append(f"{place}: a marker above text, which nobody runs; leave it out")
        else:
            blocks.append(Block(page, number + 2, language, code, marker[1] if marker else None))
        marker = None
        number = end + 1
    if marker is not None:
        problems.append(f"{page}:{marker[0]}: a marker without a block below it")
    return blocks, problems


def read_blocks(pages: list[Path], root: Path) -> tuple[list[Block], list[str]]:
    blocks: list[Block] = []
    problems: list[str] = []
    for page in pages:
        path = page.resolve()
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else page.name
        found, said = find_blocks(name, page.read_text(encoding="utf-8"))
        blocks += found
        problems += said
    return blocks, problems


@dataclass(frozen=True)
class Command:
    """A command of a console block and the output that the page shows for it."""

    text: str
    shown: tuple[str, ...]


def console_commands(code: str) -> list[Command]:
    """Lines with `$ ` in front are commands (a backslash at the end goes on), others output."""
    commands: list[Command] = []
    lines = code.rstrip("\n").split("\n")
    number = 0
    while number < len(lines):
        if not lines[number].startswith("$ "):
            raise ValueError("a console block begins with a command: $ ...")
        words = [lines[number][2:]]
        while words[-1].endswith("\\") and number + 1 < len(lines):
            number += 1
            words.append(lines[number])
        number += 1
        shown = []
        while number < len(lines) and not lines[number].startswith("$ "):
            shown.append(lines[number])
            number += 1
        commands.append(Command("\n".join(words), tuple(shown)))
    return commands


def output_matches(shown: tuple[str, ...], printed: str) -> bool:
    """Whether a page shows what was printed. A line `...` stands for any lines, also for none."""
    pattern = ""
    for line in shown:
        pattern += r"(?:[^\n]*\n)*" if line.strip() == "..." else re.escape(line.rstrip()) + r"\n"
    text = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
    return re.fullmatch(pattern, text) is not None

"""C and C++ of pages, tried by a compiler."""

import re
import subprocess
import tempfile
from pathlib import Path

from doc_blocks import Block

MAIN = re.compile(r"^int main\(", re.MULTILINE)
FLAGS = {"cpp": ("-std=c++20", "-x", "c++"), "c": ("-std=c11", "-x", "c")}


def compile_parts(blocks: list[Block], compiler: str, include: Path) -> str:
    """What the compiler says of the blocks, one after the other in one function, or nothing."""
    language = blocks[0].language
    lines = "".join(block.code for block in blocks).split("\n")
    includes = [line for line in lines if line.startswith("#include")]
    body = [line for line in lines if not line.startswith("#include")]
    text = "\n".join([*includes, "void page(void);", "void page(void) {", *body, "}", ""])
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / f"{Path(blocks[0].page).stem}.{language}"
        source.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [compiler, *FLAGS[language], "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
             "-Wno-missing-field-initializers", "-Wno-unused", f"-I{include}", source],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )  # fmt: skip
    return done.stdout if done.returncode != 0 else ""


def compile_blocks(blocks: list[Block], compilers: dict[str, str], root: Path) -> list[str]:
    """Problems of one page's blocks.

    A block with a main function must be a file of examples/, letter by letter: those are built and
    run elsewhere. The others may use what an earlier one of the page made.
    """
    examples = {path.read_text(encoding="utf-8") for path in (root / "examples").glob("*.c*")}
    problems = []
    for language in FLAGS:
        mine = [block for block in blocks if block.language == language]
        problems += [
            f"{block.place}: a program that is no file of examples/"
            for block in mine
            if MAIN.search(block.code) and block.code not in examples
        ]
        parts = [block for block in mine if not MAIN.search(block.code)]
        if parts and (said := compile_parts(parts, compilers[language], root / "include")):
            problems.append(f"{parts[0].page}: does not compile:\n{said}")
    return problems

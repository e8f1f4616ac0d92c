#!/usr/bin/env python3
"""List the public names of diarist with one line why each exists, out of the headers' comments.

usage: list_api.py [--check] [--names] [HEADER...]

Prints a Markdown table per header; --names prints the names alone. --check prints nothing but what
has no reason, and exits with 1 when there is any.
"""

import argparse
import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include" / "diarist"

# What opens a declaration at the left margin, inside `namespace diarist`.
TYPE = re.compile(r"(class|struct|enum class|enum)\s+(?:DIARIST_API\s+)?(\w+)\b(?!;)")
ALIAS = re.compile(r"using\s+(\w+)\s*=")
CONSTANT = re.compile(r"inline constexpr [\w:]+ (\w+)")
FUNCTION = re.compile(r"(?:DIARIST_API |constexpr )[^=;{]*?\b(\w+)\(")
C_TYPE = re.compile(r"typedef (?:struct|enum) (\w+) (?:\{|\1;)")
C_CALLBACK = re.compile(r"typedef \w+ \(\*(\w+)\)")
C_MACRO = re.compile(r"#define (DIARIST_ABI_VERSION)\b")


class Name(NamedTuple):
    header: str
    kind: str
    name: str
    why: str


def first_sentence(comment: str) -> str:
    """The first sentence of a comment, without \\param and the like."""
    text = re.sub(r"\\(throws|param|pre)\b.*", "", comment, flags=re.DOTALL)
    text = " ".join(text.split())
    match = re.match(r"(.+?[.:;])(?=\s+[A-Z\d(]|$)", text)
    return (match.group(1) if match else text).rstrip(".:;").strip()


def names_of_cpp(header: Path) -> list[Name]:
    found, comment = [], []
    namespace = []
    for line in header.read_text(encoding="utf-8").split("\n"):
        if opened := re.match(r"namespace (?:diarist)?(?:::)?(\w*) \{", line):
            namespace = [opened.group(1)] if opened.group(1) else []
            comment = []
        elif line.startswith("///"):
            comment.append(line[3:].replace("\\file", "").strip())
            continue
        elif line and not line[0].isspace() and line[0] not in "}#":
            for kind, pattern in (
                ("type", TYPE),
                ("type", ALIAS),
                ("constant", CONSTANT),
                ("function", FUNCTION),
            ):
                match = pattern.match(line)
                if match:
                    name = "::".join([*namespace, match.group(match.lastindex)])
                    found.append(Name(header.name, kind, name, first_sentence(" ".join(comment))))
                    break
            comment = []
        elif not line.strip():
            comment = []
    return found


def names_of_c(header: Path) -> list[Name]:
    text = header.read_text(encoding="utf-8")
    found = []
    comment, end = "", -1
    token = re.compile(
        r"/\*(.*?)\*/|"
        + "|".join(p.pattern for p in (C_TYPE, C_CALLBACK, C_MACRO))
        + r"|DIARIST_API [^;(]*?\b(diarist_\w+)\(",
        re.DOTALL,
    )
    for match in token.finditer(text):
        if match.group(1) is not None:
            # A comment in the middle of a line belongs to a member.
            if text.rfind("\n", 0, match.start()) + 1 == match.start():
                comment, end = re.sub(r"\n \*", "\n", match.group(1)), match.end()
            continue
        name = next(group for group in match.groups()[1:] if group)
        kind = "type" if match.group(2) or match.group(3) else "function"
        kind = "constant" if match.group(4) else kind
        why = comment if end >= 0 and text[end : match.start()].strip() == "" else ""
        if why.strip().startswith("----"):
            why = ""
        found.append(Name(header.name, kind, name, first_sentence(why)))
        comment, end = comment, -1
    return found


def list_names(headers: list[Path]) -> list[Name]:
    names = []
    for header in headers:
        names += names_of_c(header) if header.suffix == ".h" else names_of_cpp(header)
    return names


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("headers", nargs="*", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--names", action="store_true")
    arguments = parser.parse_args()
    headers = arguments.headers or sorted([*INCLUDE.glob("*.hpp"), *INCLUDE.glob("*.h")])
    names = list_names(headers)
    if arguments.check:
        silent = [name for name in names if not name.why]
        for name in silent:
            print(f"{name.header}: {name.name}: no comment tells why it exists")
        return 1 if silent else 0
    if arguments.names:
        print("\n".join(name.name for name in names))
        return 0
    for header in headers:
        rows = [name for name in names if name.header == header.name]
        if rows:
            print(f"\n### diarist/{header.name} ({len(rows)})\n\n| name | why |\n|---|---|")
            for row in rows:
                print(f"| `{row.name}` | {row.why.replace('|', chr(92) + '|')} |")
    print(f"\n{len(names)} public names.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

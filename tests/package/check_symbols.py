#!/usr/bin/env python3
"""Check that libdiarist.so shows its public names and nothing else.

usage: check_symbols.py LIBRARY

Functions of C must be those of c_symbols.txt: what stands there is promised, so a line that goes
or changes needs a new DIARIST_ABI_VERSION. Names of C++ must be declared in include/diarist;
nothing of the rooms, of the standard library or of other projects may be seen.
"""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import list_api  # noqa: E402

# Of the one class that crosses the border as an exception.
OF_ERROR = {f"{what} for diarist::Error" for what in ("typeinfo", "typeinfo name", "vtable")}


def shown(library: str) -> set[str]:
    """Readable names of what a program can link."""
    lines = subprocess.run(
        ["nm", "--dynamic", "--defined-only", "--demangle", "--format=posix", library],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.splitlines()
    # "NAME TYPE VALUE SIZE", where NAME holds blanks; A are the versions.
    found = [re.fullmatch(r"(.+) ([A-Za-z]) [0-9a-f]*( [0-9a-f]*)?\s*", line) for line in lines]
    names = [match.group(1) for match in found if match and match.group(2) != "A"]
    return {re.sub(r"@@?DIARIST_[\d.]+", "", name) for name in names}


def without_arguments(name: str) -> str:
    """diarist::Embedder::embed(...)[abi:cxx11] const -> diarist::Embedder::embed"""
    return re.sub(r"\[abi:\w+\]", "", re.split(r"\(", name, maxsplit=1)[0])


def member_names() -> set[str]:
    """Structs whose member functions are not inline, e.g. Score::der."""
    found = set()
    for header in list_api.INCLUDE.glob("*.hpp"):
        scope = ""
        for line in header.read_text(encoding="utf-8").split("\n"):
            if match := re.match(r"struct (\w+) \{", line):
                scope = match.group(1)
            elif match := re.match(r"  DIARIST_API .*?\b(\w+)\(", line):
                found.add(f"diarist::{scope}::{match.group(1)}")
    return found


def main() -> int:
    names = shown(sys.argv[1])
    api = list_api.list_names(sorted(list_api.INCLUDE.glob("*.h*")))
    wanted_c = {n.name for n in api if n.header == "diarist.h" and n.kind == "function"}
    promised = set((HERE / "c_symbols.txt").read_text(encoding="utf-8").split())
    functions = {f"diarist::{n.name}" for n in api if n.kind == "function"}
    classes = {f"diarist::{n.name}" for n in api if n.kind == "type"}
    wanted_cpp = functions | member_names()

    problems = []
    of_c = {name for name in names if name.startswith("diarist_")}
    for name in sorted(promised - of_c):
        problems.append(f"{name}: promised in c_symbols.txt, but not in the library")
    for name in sorted(of_c - promised):
        problems.append(f"{name}: in the library; add it to c_symbols.txt")
    for name in sorted(wanted_c ^ of_c):
        problems.append(f"{name}: in one of diarist.h and the library")

    seen = set()
    for name in sorted(names - of_c - OF_ERROR):
        plain = without_arguments(name)
        owner, _, member = plain.rpartition("::")
        if plain in wanted_cpp:
            seen.add(plain)
        elif owner not in classes or not re.fullmatch(r"~?\w+|operator=", member):
            problems.append(f"{name}: is no public name")
    for name in sorted(functions - seen - {f"diarist::{name}" for name in wanted_c}):
        if name.rpartition("::")[2] not in ("precision_name", "voice_decision_name"):  # inline
            problems.append(f"{name}: declared, but not in the library")
    for problem in problems:
        print(problem)
    print(f"{len(of_c)} functions of C, {len(names) - len(of_c)} symbols of C++")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Check who includes and links whom: data walks through the house in one direction.

usage: check_layers.py [ROOT]

Prints one line per violation, FILE:LINE: RULE, and exits with 1 when there is any. This table is
the law; docs/design.md explains it. A new room needs a line here.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

VALUES = {"public", "base"}

# Room -> rooms whose headers its files may include (its own are always allowed).
MAY_INCLUDE = {
    "public": set(),
    "base": {"public"},
    "model": VALUES,
    "audio": VALUES,
    "timeline": VALUES,
    "cluster": VALUES,
    "output": VALUES,
    "fetch": VALUES,
    "voices": VALUES | {"cluster"},
    "backend": VALUES | {"model"},
    "backend/reference": VALUES | {"model", "backend"},
    "backend/cpu": VALUES | {"model", "backend"},
    "backend/cuda": VALUES | {"model", "backend"},
    "registry": VALUES | {"model", "backend", "backend/reference", "backend/cpu", "backend/cuda"},
    "pipeline": VALUES
    | {"audio", "timeline", "cluster", "voices", "model", "backend", "registry", "fetch"},
    "capi": {"public"},
    "cli": {"public"},
    "server": {"public"},
    "python": {"public"},
    "examples": {"public"},
}

# These look into every room.
UNLIMITED = {"tests", "bench", "fuzz"}

# Headers of other projects that belong to some rooms only: pattern, rooms, why.
FOREIGN = [
    (
        r"(curl/|sys/socket\.h|netdb\.h|netinet/|arpa/)",
        {"fetch", "server"},
        "only the room fetch opens a socket",
    ),
    (
        r"(cuda|cudnn|cublas|cooperative_groups|nvrtc)",
        {"backend/cuda"},
        "only backend/cuda knows CUDA",
    ),
    (
        r"(libav\w+/|libswresample/|sndfile\.|soxr\.h)",
        {"audio"},
        "only the room audio reads media files",
    ),
    (
        r"hwy/",
        {"backend/cpu", "cluster"},
        "only backend/cpu and cluster are written for instruction sets",
    ),
    (r"pugixml", {"output"}, "only the room output reads XML"),
    (r"CLI/", {"cli"}, "only the program parses command lines"),
    (r"(nanobind/|Python\.h)", {"python"}, "only python is written for the interpreter"),
    (r"(gtest|gmock|benchmark)/", set(), "test headers stay in tests and bench"),
]

# Folder prefixes of other projects that may be included with quotes.
FOREIGN_QUOTED = ("hwy/", "nlohmann/", "fmt/", "gtest/", "CLI/")

MAX_LINES = 600
SOURCES = {".cpp", ".hpp", ".h", ".c", ".cc", ".cu", ".cuh"}
FOLDERS = ["include", "src", "cli", "server", "python", "examples", "tests", "bench", "fuzz"]
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
ROOM_CALL = re.compile(r"diarist_room\s*\(\s*([\w/]+)([^)]*)\)")
LINK_CALL = re.compile(r"target_link_libraries\s*\(\s*diarist_([\w]+)([^)]*)\)")


class Violation(NamedTuple):
    file: str
    line: int
    rule: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.rule}"


def room_of(file: str) -> str | None:
    """Room of a path relative to the repository; None when no room is known for it."""
    parts = file.split("/")
    if parts[0] == "include":
        return "public" if len(parts) > 2 and parts[1] == "diarist" else None
    if parts[0] != "src":
        return parts[0] if parts[0] in UNLIMITED or parts[0] in MAY_INCLUDE else None
    if len(parts) < 3:
        return None
    if parts[1] == "backend":
        if len(parts) > 3:
            room = f"backend/{parts[2]}"
            return room if room in MAY_INCLUDE else None
        rooms = {
            "backend": "backend",
            "host_mark": "backend",
            "profiling": "backend",
            "registry": "registry",
        }
        return rooms.get(parts[2].split(".")[0])
    return parts[1] if parts[1] in MAY_INCLUDE else None


def room_of_target(target: str) -> str | None:
    """Room of a library diarist_TARGET."""
    if target.startswith("backend_"):
        target = target.replace("backend_", "backend/", 1)
    return target if target in MAY_INCLUDE else None


def resolve(root: Path, file: str, include: str) -> str | None:
    """Path of an included file relative to the root, as the compiler would find it."""
    folders = [root / Path(file).parent, root / "src", root / "include", root / "tests", root]
    for folder in folders:
        found = folder / include
        if found.is_file() and found.resolve().is_relative_to(root):
            return found.resolve().relative_to(root).as_posix()
    return None


def blank_comments(text: str) -> str:
    """Block comments replaced by their line ends, so line numbers stay."""
    return BLOCK_COMMENT.sub(lambda comment: "\n" * comment.group().count("\n"), text)


def check_include(root: Path, file: str, room: str, include: str, quoted: bool) -> str | None:
    """The rule that an include breaks, or None."""
    target = resolve(root, file, include)
    if target is None:
        if quoted and not include.startswith(FOREIGN_QUOTED):
            return f'"{include}" is no file of this project'
        for pattern, rooms, why in FOREIGN:
            if re.match(pattern, include) and room not in rooms:
                return f"{room} must not include <{include}>: {why}"
        return None
    other = room_of(target)
    if other is None:
        return f"{target} lies in no known room (add it to tools/check_layers.py)"
    if other == room or other in MAY_INCLUDE[room]:
        return None
    allowed = ", ".join(sorted(MAY_INCLUDE[room])) or "nothing of this project"
    return f"{room} must not include {target} ({other}); it may include: {allowed}"


def check_file(root: Path, file: str) -> list[Violation]:
    text = (root / file).read_text(encoding="utf-8")
    found = []
    lines = text.count("\n")
    if lines > MAX_LINES:
        found.append(Violation(file, MAX_LINES + 1, f"{lines} lines; {MAX_LINES} are the limit"))
    room = room_of(file)
    if room is None:
        rule = "no room is known for this file (add it to tools/check_layers.py)"
        return [*found, Violation(file, 1, rule)]
    if room in UNLIMITED:
        return found
    text = blank_comments(text)
    for match in INCLUDE.finditer(text):
        include = match.group(1) or match.group(2)
        rule = check_include(root, file, room, include, match.group(1) is not None)
        if rule is not None:
            found.append(Violation(file, text.count("\n", 0, match.start()) + 1, rule))
    return found


def check_links(root: Path, file: str) -> list[Violation]:
    """Links between rooms in a CMakeLists.txt obey the same table."""
    text = re.sub(r"#[^\n]*", "", (root / file).read_text(encoding="utf-8"))
    found = []
    for match in [*ROOM_CALL.finditer(text), *LINK_CALL.finditer(text)]:
        room = room_of_target(match.group(1))
        if room is None:
            continue
        for link in re.findall(r"\bdiarist_(\w+)", match.group(2)):
            other = room_of_target(link)
            if other is not None and other != room and other not in MAY_INCLUDE[room]:
                line = text.count("\n", 0, match.start()) + 1
                found.append(Violation(file, line, f"{room} must not link diarist_{link}"))
    return found


def check(root: Path) -> list[Violation]:
    """All violations below a repository root, in the order of the files."""
    root = root.resolve()
    found = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if not path.is_file():
                continue
            file = path.relative_to(root).as_posix()
            if path.suffix in SOURCES:
                found += check_file(root, file)
            elif path.name == "CMakeLists.txt":
                found += check_links(root, file)
    return found


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    violations = check(root)
    for violation in violations:
        print(violation)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())

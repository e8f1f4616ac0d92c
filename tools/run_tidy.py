#!/usr/bin/env python3
"""Run clang-tidy over src and cli, several files at a time.

usage: run_tidy.py --build FOLDER [--jobs N] [--changed] [FILE...]

FOLDER holds compile_commands.json. A clean file is not looked at again until it, any header
of the project, its compile command or .clang-tidy changes (stamps in build/tidy).
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src/", "cli/")
STAMPS = ROOT / "build" / "tidy"
TIDY = shutil.which("clang-tidy", path=f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}")


def commands(build: Path) -> dict[str, str]:
    """Compile command by path relative to the root, for the folders that are checked."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["directory"], entry["file"]).resolve()
        if path.is_relative_to(ROOT):
            file = path.relative_to(ROOT).as_posix()
            if file.startswith(FOLDERS) and file.endswith(".cpp"):  # .cu is nvcc's
                found[file] = entry["command"]
    return found


def changed_files() -> set[str]:
    """Files that differ from the last commit, untracked ones included."""
    git = ["git", "-C", str(ROOT)]
    tracked = subprocess.check_output([*git, "diff", "--name-only", "HEAD"], text=True)
    untracked = subprocess.check_output(
        [*git, "ls-files", "--others", "--exclude-standard"], text=True
    )
    return set(tracked.split("\n")) | set(untracked.split("\n"))


def common_key() -> bytes:
    """Digest of everything that can change the verdict on any file."""
    digest = hashlib.sha256()
    for file in [ROOT / ".clang-tidy", *sorted(ROOT.glob("tools/requirements-lint.txt"))]:
        digest.update(file.read_bytes())
    for folder in ("include", "src", "cli"):
        for header in sorted((ROOT / folder).rglob("*.hpp")):
            digest.update(header.as_posix().encode() + b"\0" + header.read_bytes())
    return digest.digest()


def check(build: Path, file: str, command: str, key: bytes) -> str:
    """Text of the findings in one file, empty when there are none."""
    content = (ROOT / file).read_bytes()
    stamp = STAMPS / hashlib.sha256(key + command.encode() + b"\0" + content).hexdigest()
    if stamp.exists():
        return ""
    run = subprocess.run(
        [
            TIDY,
            "--quiet",
            "-p",
            str(build),
            # The commands are g++'s.
            "--extra-arg=-Wno-unknown-warning-option",
            "--extra-arg=-Wno-ignored-optimization-argument",
            # Under -Werror clang's warnings turn into errors, which no list of checks leaves out.
            "--extra-arg=-Wno-error",
            str(ROOT / file),
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    if run.returncode == 0:
        stamp.touch()
        return ""
    return run.stdout + "".join(
        line
        for line in run.stderr.splitlines(keepends=True)
        if "warnings generated" not in line and "treated as error" not in line
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Run clang-tidy over src and cli.")
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--changed", action="store_true", help="files changed since HEAD only")
    parser.add_argument("files", nargs="*", help="relative to the root; all when none is named")
    arguments = parser.parse_args()
    if TIDY is None:
        sys.exit("run_tidy: clang-tidy is not there; ./dev lint installs it")
    todo = commands(arguments.build)
    if arguments.changed:
        wanted = changed_files()
        todo = {file: command for file, command in todo.items() if file in wanted}
    if arguments.files:
        todo = {file: todo[file] for file in arguments.files}
    STAMPS.mkdir(parents=True, exist_ok=True)
    key = common_key()
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        futures = [
            pool.submit(check, arguments.build, file, command, key)
            for file, command in sorted(todo.items())
        ]
        for future in futures:
            text = future.result()
            if text:
                bad += 1
                print(text, end="", flush=True)
    if bad:
        print(f"run_tidy: findings in {bad} of {len(todo)} files")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Use an installed diarist as a stranger would: CMake package, pkg-config, or add_subdirectory.

usage: check_package.py --build DIR --kind static|shared --component NAME... [options]
       check_package.py --subdirectory SOURCE [--launcher ccache] [options]

Installs into a temporary folder, moves it, and builds the project in tests/package/projects and the
examples against it. Exits with 1 when something does not work.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CONSUMER = HERE / "projects" / "consumer"
EXAMPLES = HERE.parent.parent / "examples"


def fail(text: str) -> None:
    sys.exit(f"check_package: {text}")


def run(*command, **environment) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        fail(f"exit code {done.returncode} of {shlex.join(words)}\n{done.stdout}")
    return done.stdout


def check_runs(*programs, **environment) -> None:
    for program in programs:
        printed = run(program, **environment)
        if not re.fullmatch(r"diarist \d+\.\d+\.\d+\n", printed):
            fail(f"{program} prints {printed!r}")


def build_project(source: Path, folder: Path, arguments: argparse.Namespace, *options) -> None:
    run(
        "cmake", "-S", source, "-B", folder, "-G", "Ninja",
        "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_CXX_COMPILER={arguments.cxx}",
        f"-DCMAKE_C_COMPILER={arguments.cc}",
        *options,
    )  # fmt: skip
    run("cmake", "--build", folder, "--parallel", arguments.jobs)


def installed(arguments: argparse.Namespace, folder: Path) -> Path:
    """The install tree, in another place than it was made for."""
    first, moved = folder / "first", folder / "moved"
    for component in arguments.component:
        run("cmake", "--install", arguments.build, "--prefix", first, "--component", component)
    first.rename(moved)
    # The kind that is not the build's own lies in a folder of its own.
    moved = moved / "other_kind" if (moved / "other_kind").exists() else moved
    headers = {path.relative_to(moved).as_posix() for path in (moved / "include").rglob("*.h*")}
    wanted = {
        f"include/diarist/{path.name}"
        for path in (HERE.parent.parent / "include/diarist").glob("*.h*")
    }
    if headers != wanted:
        fail(f"headers installed: {sorted(headers)}, wanted: {sorted(wanted)}")
    for file in (*moved.rglob("*.cmake"), *moved.rglob("*.pc")):
        text = file.read_text(encoding="utf-8")
        for place in (first, arguments.build, HERE.parent.parent):
            if f"{place}/" in text or f"{place}\n" in text:
                fail(f"{file.name} names {place}")
    return moved


def check_soname(library: Path) -> None:
    dynamic = run("readelf", "-d", library)
    version = re.search(r"\.so\.(\d+\.\d+)\.\d+$", library.name)
    if version is None or f"[libdiarist.so.{version.group(1)}]" not in dynamic:
        fail(f"{library.name} has another soname:\n{dynamic}")


def check_installed(arguments: argparse.Namespace, folder: Path) -> None:
    prefix = installed(arguments, folder)
    libraries = next(prefix.rglob("pkgconfig")).parent
    endings = {"shared": [".so"], "static": [".a"]}[arguments.kind]
    present = {path.suffix for path in libraries.glob("libdiarist.*")} & {".so", ".a"}
    if present != set(endings):
        fail(f"{arguments.kind}: installed are {sorted(path.name for path in libraries.iterdir())}")
    if arguments.kind == "shared":
        check_soname((libraries / "libdiarist.so").resolve())

    build_project(CONSUMER, folder / "consumer", arguments, f"-DCMAKE_PREFIX_PATH={prefix}")
    check_runs(folder / "consumer/consumer", folder / "consumer/consumer_c")
    build_project(EXAMPLES, folder / "examples", arguments, f"-DCMAKE_PREFIX_PATH={prefix}")

    # One line of a compiler.
    paths = {"PKG_CONFIG_PATH": str(libraries / "pkgconfig")}
    flags = shlex.split(run("pkg-config", "--cflags", "--libs", "diarist", **paths))
    run(arguments.cxx, "-std=c++20", CONSUMER / "consumer.cpp", "-o", folder / "plain", *flags)
    run(arguments.cc, "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic",
        CONSUMER / "consumer.c", "-o", folder / "plain_c", *flags)  # fmt: skip
    check_runs(folder / "plain", folder / "plain_c", LD_LIBRARY_PATH=str(libraries))
    if arguments.kind == "shared":
        needed = run("readelf", "-d", folder / "plain_c")
        foreign = set(re.findall(r"NEEDED.*\[(.+?)\]", needed)) - {"libc.so.6"}
        if any(not name.startswith("libdiarist.so") for name in foreign):
            fail(f"a program links more than libdiarist: {sorted(foreign)}")


def check_subdirectory(arguments: argparse.Namespace, folder: Path) -> None:
    # Compiled as the build around this test was, so that the cache has nearly all of it.
    options = [f"-DCONSUMER_SUBDIRECTORY={arguments.subdirectory}", "-DDIARIST_CUDA=OFF",
               f"-DDIARIST_WERROR={arguments.werror}"]  # fmt: skip
    if arguments.launcher:
        options.append(f"-DCMAKE_CXX_COMPILER_LAUNCHER={arguments.launcher}")
        build_project(CONSUMER, folder / "build", arguments, *options)
        check_runs(folder / "build/consumer", folder / "build/consumer_c")
        return
    # Compiling everything once more takes minutes; configuring finds what goes wrong most often.
    run("cmake", "-S", CONSUMER, "-B", folder / "build", "-G", "Ninja",
        f"-DCMAKE_CXX_COMPILER={arguments.cxx}", *options)  # fmt: skip
    print("configured only: there is no compiler cache")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path)
    parser.add_argument("--kind", choices=["static", "shared"])
    parser.add_argument("--component", action="append", default=[])
    parser.add_argument("--subdirectory", type=Path)
    parser.add_argument("--launcher")
    parser.add_argument("--werror", default="OFF")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--jobs", default="2")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="diarist-package-") as folder:
        if arguments.subdirectory:
            check_subdirectory(arguments, Path(folder))
        else:
            check_installed(arguments, Path(folder))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Packs what tools/gpu_check.sh needs on a machine that has a GPU and nothing else.

usage: gpu_pack.py [options] [SOURCE...]

Writes a folder (.carry) that gpu_check.sh unpacks beside itself:

  programs.tar.xz  programs of a build, in lib/ the shared libraries that a bare system lacks
  models.tar.xz    bundles of a models folder; equal files once
  standin.tar.xz   a generator of test weights and a PLDA, from which the bundle community-1 is made
                   there: a fifth of the bundle's size
  replay.tar.xz    stages for bench run --replay
  hours.npz        SOURCEs for tools/make_hours.py (recordings, folders, packs)

What is not named is not packed, and left as it is when it was packed before.

needs: numpy and libsndfile for SOURCEs
"""

import argparse
import hashlib
import os
import pathlib
import subprocess
import sys
import tarfile

MIB = 1 << 20
# The C library and what belongs to it must be the machine's own.
AT_HOME = ("ld-linux", "linux-vdso", "libc.so", "libm.so", "libdl.so", "librt.so", "libpthread.so")
AT_HOME += ("libresolv.so", "libutil.so", "libnss", "libstdc++", "libgcc_s", "libcuda.so")


class PackError(Exception):
    """What a user can mend."""


def archive(file, entries):
    """entries: (name inside, path); files of equal content after the first one are links to it."""
    part = file.with_name(file.name + ".part")
    seen = {}
    with tarfile.open(part, "w:xz") as tar:
        for name, path in entries:
            info = tar.gettarinfo(path.resolve(), name)
            info.uid = info.gid = info.mtime = 0
            info.uname = info.gname = ""
            content = path.read_bytes()
            digest = hashlib.sha256(content).digest()
            if digest in seen:
                info.type, info.linkname, info.size = tarfile.LNKTYPE, seen[digest], 0
                tar.addfile(info)
                continue
            seen[digest] = name
            info.type, info.linkname, info.size = tarfile.REGTYPE, "", len(content)
            with path.open("rb") as stream:
                tar.addfile(info, stream)
    os.replace(part, file)


def files_below(folder, inside):
    if not folder.is_dir():
        raise PackError("%s: there is no such folder" % folder)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.startswith(".") and path.suffix != ".pyc":
            yield "%s/%s" % (inside, path.relative_to(folder)), path


def libraries_of(program):
    listing = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False)
    for line in listing.stdout.splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        if not arrow or name.startswith(AT_HOME):
            continue
        if "not found" in rest:
            raise PackError("%s needs %s, which is not here" % (program, name))
        yield name, pathlib.Path(rest.split(" (")[0])


def program_entries(build, names):
    libraries = {}
    for name in names:
        program = build / "bin" / name
        if not program.is_file():
            raise PackError("%s: not built" % program)
        libraries.update(libraries_of(program))
        yield name, program
    if any(name.startswith("libavformat") for name in libraries):
        print("the programs use FFmpeg; a build with -DDIARIST_FFMPEG=OFF is much smaller to carry")
    for name, path in sorted(libraries.items()):
        yield "lib/" + name, path


def model_entries(models, bundles):
    for bundle in bundles:
        if (models / bundle).is_file():  # open/segmentation.safetensors, say
            yield "models/" + bundle, models / bundle
        else:
            yield from files_below(models / bundle, "models/" + bundle)


def standin_entries(standin, plda):
    if not (standin / "make_standin.py").is_file():
        raise PackError("%s: no make_standin.py in it" % standin)
    yield from files_below(standin, "standin")
    yield from files_below(plda, "standin/plda")


def replay_entries(folder):
    names = [
        [name + ending for name in stems for ending in (".npy", ".npz")]
        for stems in (("segmentations",), ("embeddings", "raw_embeddings"))
    ]
    for choice in names:
        found = [folder / name for name in choice if (folder / name).is_file()]
        if not found:
            raise PackError("%s: has none of %s" % (folder, ", ".join(choice)))
        yield "replay/" + found[0].name, found[0]


def parse(arguments):
    head, _, rest = __doc__.partition("\nusage:")
    parser = argparse.ArgumentParser(
        description=head,
        epilog=rest[rest.index("\n\n") :],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    path = pathlib.Path
    parser.add_argument("sources", nargs="*", metavar="SOURCE", help="for make_hours.py")
    parser.add_argument("--out", type=path, default=path(".carry"), help="folder (.carry)")
    parser.add_argument("--build", type=path, help="build folder whose programs travel")
    parser.add_argument("--programs", default="diarist", help="names, comma between (diarist)")
    parser.add_argument("--models", type=path, help="models folder whose bundles travel")
    parser.add_argument("--bundles", default="open", help="bundles, or files in them (open)")
    parser.add_argument("--standin", type=path, help="folder of make_standin.py")
    parser.add_argument("--plda", type=path, help="folder of the PLDA, with --standin")
    parser.add_argument("--replay", type=path, help="folder of stages")
    parser.add_argument("--limit", type=float, default=60, help="MiB that may travel (60)")
    options = parser.parse_args(arguments)
    if bool(options.standin) != bool(options.plda):
        parser.error("--standin and --plda go together")
    return options


def pack(options):
    options.out.mkdir(parents=True, exist_ok=True)
    if options.build:
        entries = program_entries(options.build, options.programs.split(","))
        archive(options.out / "programs.tar.xz", entries)
    if options.models:
        entries = model_entries(options.models, options.bundles.split(","))
        archive(options.out / "models.tar.xz", entries)
    if options.standin:
        archive(options.out / "standin.tar.xz", standin_entries(options.standin, options.plda))
    if options.replay:
        archive(options.out / "replay.tar.xz", replay_entries(options.replay))
    if options.sources:
        script = pathlib.Path(__file__).with_name("make_hours.py")
        command = [sys.executable, script, "--pack", options.out / "hours.npz", *options.sources]
        if subprocess.run(command, check=False).returncode != 0:
            raise PackError("no hours.npz was made")
    total = 0
    for file in sorted(options.out.rglob("*")):
        if file.is_file():
            total += file.stat().st_size
            print("%8.2f MiB  %s" % (file.stat().st_size / MIB, file))
    print("%8.2f MiB together" % (total / MIB))
    if total > options.limit * MIB:
        raise PackError("more than %g MiB: pack less, or in parts" % options.limit)


def main(arguments):
    try:
        pack(parse(arguments))
    except (PackError, OSError) as problem:
        sys.exit("gpu_pack: %s" % problem)


if __name__ == "__main__":
    main(sys.argv[1:])

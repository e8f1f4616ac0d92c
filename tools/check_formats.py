#!/usr/bin/env python3
"""Check diarist's output formats against parsers that know nothing of diarist.

usage: check_formats.py PROGRAM [--seed N] [--count N]

Random turns with awkward names go through `PROGRAM convert`. Every format is read by another
parser: Python's csv, json, xml.etree and html modules, and pyannote.core. The way back is tested
too: files written by csv, json, xml.etree and pyannote.core are converted to JSON. Prints what
differs and a last line "N cases, M differ"; exits with 1 when M is not 0.
"""

import argparse
import csv
import html
import io
import json
import random
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path
from urllib.parse import unquote

from pyannote.core import Annotation, Segment

NAMES = [
    "SPEAKER_00",
    "Anna Lee",
    "  two  blanks ",
    "tab\tand\nline",
    '"quoted", with; commas',
    "<v Bob> & </v> &amp;",
    "a --> b",
    "[in] {brackets} ]",
    "1505728826.11848331",
    "007",
    "日本語 😀",
    "e\u0301\u00a0o",
    "-dash",
    "back\\slash",
    "Name: words",
    "x" * 200,
]

Turns = list[tuple[float, float, str]]


def random_turns(draw: random.Random) -> tuple[str, float, Turns]:
    """Uri, duration and turns; turns of one speaker lie apart."""
    offset = draw.choice([0, 0, 3590, 30 * 3600])
    duration = offset + 20 + draw.randrange(1000000) / 16000
    turns = []
    for name in draw.sample(NAMES, draw.randrange(5)):
        at = offset + draw.randrange(48000) / 16000
        for _ in range(draw.randrange(6) + 1):
            end = min(duration, at + 0.02 + draw.randrange(90000) / 16000)
            if at + 0.02 > end:
                break
            turns.append((at, end, name))
            at = end + 0.01 + draw.randrange(40000) / 16000
    return draw.choice(NAMES), duration, sorted(turns)


def as_json(uri: str, duration: float, turns: Turns) -> str:
    rows = [{"start": start, "end": end, "speaker": name} for start, end, name in turns]
    return json.dumps(
        {
            "format": "diarist.diarization",
            "version": 1,
            "uri": uri,
            "duration": duration,
            "turns": rows,
        }
    )


def clock(text: str) -> float:
    hours, minutes, seconds = text.replace(",", ".").split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def from_rttm(text: str) -> Turns:
    turns = []
    for line in text.splitlines():
        kind, _, channel, start, duration, _, _, label, _, _ = line.split()
        assert (kind, channel) == ("SPEAKER", "1"), line
        turns.append((float(start), float(start) + float(duration), unquote(label)))
    return turns


def from_table(text: str, dialect: str) -> Turns:
    rows = csv.DictReader(io.StringIO(text, newline=""), dialect=dialect)
    return [(float(row["start"]), float(row["end"]), row["speaker"]) for row in rows]


def from_srt(text: str) -> Turns:
    turns = []
    for number, block in enumerate(text.strip("\n").split("\n\n") if text else [], 1):
        index, times, name = block.split("\n")
        assert index == str(number), block
        start, end = times.split(" --> ")
        turns.append((clock(start), clock(end), unquote(re.fullmatch(r"\[(.*)\]", name)[1])))
    return turns


def from_vtt(text: str) -> Turns:
    head, *blocks = text.strip("\n").split("\n\n")
    assert head == "WEBVTT", head
    turns = []
    for block in blocks:
        times, payload = block.split("\n")
        start, end = times.split(" --> ")
        assert "-->" not in payload, payload
        name, words = re.fullmatch(r"<v ([^<>]*)>([^<>]*)", payload).groups()
        assert name == words, payload
        turns.append((clock(start), clock(end), unquote(html.unescape(name))))
    return turns


def from_text_grid(text: str) -> Turns:
    """Long form, by its shape on the lines; intervals must fill every tier."""
    length = float(re.search(r"^xmax = (\S+)", text, re.MULTILINE)[1])
    turns = []
    for tier in re.split(r"^    item \[\d+\]:$", text, flags=re.MULTILINE)[1:]:
        name = re.search(r'^        name = "(.*)" $', tier, re.MULTILINE)[1]
        intervals = re.findall(
            r'xmin = (\S+) \n            xmax = (\S+) \n            text = "(.*)" \n', tier
        )
        assert len(intervals) == int(re.search(r"intervals: size = (\d+)", tier)[1])
        at = 0.0
        for start, end, words in intervals:
            assert float(start) == at < float(end), (start, at, end)
            at = float(end)
            if words:
                assert words == name
                turns.append((float(start), at, unquote(name.replace('""', '"'))))
        assert at == length
    return turns


def from_eaf(text: str) -> Turns:
    """What ELAN's schema (EAFv3.0.xsd) demands, as far as such files use it."""
    root = ET.fromstring(text)
    assert root.tag == "ANNOTATION_DOCUMENT"
    assert {"AUTHOR", "DATE", "VERSION", "FORMAT"} <= set(root.attrib)
    order = ["HEADER", "TIME_ORDER", "TIER", "LINGUISTIC_TYPE"]
    places = [order.index(child.tag) for child in root]
    assert places == sorted(places) and places[:2] == [0, 1] and 3 in places
    assert root.find("HEADER").get("TIME_UNITS") == "milliseconds"
    slots = {}
    for slot in root.iter("TIME_SLOT"):
        assert slot.get("TIME_SLOT_ID") not in slots
        slots[slot.get("TIME_SLOT_ID")] = int(slot.get("TIME_VALUE"))
    types = {kind.get("LINGUISTIC_TYPE_ID") for kind in root.iter("LINGUISTIC_TYPE")}
    tiers, ids, turns = set(), set(), []
    for tier in root.iter("TIER"):
        assert tier.get("TIER_ID") not in tiers and tier.get("LINGUISTIC_TYPE_REF") in types
        tiers.add(tier.get("TIER_ID"))
        last = 0
        for annotation in tier.findall("ANNOTATION/ALIGNABLE_ANNOTATION"):
            assert re.fullmatch(r"a\d+", annotation.get("ANNOTATION_ID"))
            assert annotation.get("ANNOTATION_ID") not in ids
            ids.add(annotation.get("ANNOTATION_ID"))
            start, end = (slots[annotation.get(f"TIME_SLOT_REF{i}")] for i in (1, 2))
            assert last <= start < end
            last = end
            assert annotation.find("ANNOTATION_VALUE").text == tier.get("PARTICIPANT")
            turns.append((start / 1000, end / 1000, unquote(tier.get("PARTICIPANT"))))
    return turns


def from_labels(text: str) -> Turns:
    rows = [line.split("\t") for line in text.splitlines()]
    return [(float(start), float(end), unquote(name)) for start, end, name in rows]


def from_lab(text: str) -> Turns:
    rows = [line.split() for line in text.splitlines()]
    return [(float(start), float(end), unquote(name)) for start, end, name in rows]


def from_pyannote(text: str) -> Turns:
    """As pyannote.core 4's Annotation.from_json() did it."""
    data = json.loads(text)
    assert data["pyannote"] == "Annotation"
    annotation = Annotation.from_records(
        (
            (
                Segment(item["segment"]["start"], item["segment"]["end"]),
                item["track"],
                item["label"],
            )
            for item in data["content"]
        ),
        data.get("uri"),
        data.get("modality"),
    )
    return [
        (segment.start, segment.end, label)
        for segment, _, label in annotation.itertracks(yield_label=True)
    ]


READERS = {
    "rttm": from_rttm,
    "csv": lambda text: from_table(text, "excel"),
    "tsv": lambda text: from_table(text, "excel-tab"),
    "srt": from_srt,
    "vtt": from_vtt,
    "textgrid": from_text_grid,
    "eaf": from_eaf,
    "audacity": from_labels,
    "lab": from_lab,
    "pyannote": from_pyannote,
    "json": lambda text: [
        (turn["start"], turn["end"], turn["speaker"]) for turn in json.loads(text)["turns"]
    ],
}


def to_table(uri: str, turns: Turns, dialect: str) -> bytes:
    stream = io.StringIO(newline="")
    rows = csv.writer(stream, dialect=dialect)
    rows.writerow(["speaker", "end", "start", "uri"])
    rows.writerows([name, end, start, uri] for start, end, name in turns)
    return stream.getvalue().encode()


def annotation_of(turns: Turns) -> Annotation:
    annotation = Annotation(uri="plain")
    for track, (start, end, name) in enumerate(turns):
        annotation[Segment(start, end), track] = name
    return annotation


def to_pyannote(uri: str, turns: Turns) -> bytes:
    content = [
        {"segment": {"start": segment.start, "end": segment.end}, "track": track, "label": label}
        for segment, track, label in annotation_of(turns).itertracks(yield_label=True)
    ]
    return json.dumps({"pyannote": "Annotation", "content": content, "uri": uri}).encode()


def to_eaf(turns: Turns) -> bytes:
    root = ET.Element("ANNOTATION_DOCUMENT", FORMAT="3.0", VERSION="3.0")
    slots = ET.SubElement(root, "TIME_ORDER")
    tiers = {}
    for start, end, name in turns:
        ids = []
        for time in (start, end):
            ids.append(f"ts{len(slots) + 1}")
            ET.SubElement(
                slots, "TIME_SLOT", TIME_SLOT_ID=ids[-1], TIME_VALUE=str(round(time * 1000))
            )
        if name not in tiers:
            tiers[name] = ET.SubElement(root, "TIER", TIER_ID=name)
        holder = ET.SubElement(tiers[name], "ANNOTATION")
        aligned = ET.SubElement(
            holder, "ALIGNABLE_ANNOTATION", TIME_SLOT_REF1=ids[0], TIME_SLOT_REF2=ids[1]
        )
        ET.SubElement(aligned, "ANNOTATION_VALUE").text = "words"
    return ET.tostring(root, encoding="utf-8", xml_declaration=True)


def to_text_grid(duration: float, turns: Turns) -> bytes:
    """Short form in UTF-16, as Praat saves text with letters beyond ASCII."""
    tiers: dict[str, Turns] = {}
    for turn in turns:
        tiers.setdefault(turn[2], []).append(turn)
    lines = ['File type = "ooTextFile"', 'Object class = "TextGrid"', "", 0, duration, "<exists>"]
    lines.append(len(tiers))
    for name, spoken in tiers.items():
        quoted = '"' + name.replace('"', '""') + '"'
        lines += ['"IntervalTier"', quoted, 0, duration, len(spoken)]
        for start, end, _ in spoken:
            lines += [start, end, '"words"']
    return ("\n".join(map(str, lines)) + "\n").encode("utf-16")


def written_elsewhere(uri: str, duration: float, turns: Turns) -> dict[str, tuple[bytes, Turns]]:
    """Files by name, and the turns that must come back."""
    plain = [turn for turn in turns if not re.search(r"\s", turn[2])]
    annotation = annotation_of(plain)
    return {
        "x.csv": (to_table(uri, turns, "excel"), turns),
        "x.tsv": (to_table(uri, turns, "excel-tab"), turns),
        "x.json": (to_pyannote(uri, turns), turns),
        "x.eaf": (to_eaf(turns), turns),
        "x.TextGrid": (to_text_grid(duration, turns), turns),
        "x.rttm": (annotation.to_rttm().encode(), plain),
        "x.lab": (annotation.to_lab().encode(), plain),
    }


def difference(got: Turns, wanted: Turns, tolerance: float) -> str:
    got = sorted(got, key=lambda turn: (turn[2], turn[0]))
    wanted = sorted(wanted, key=lambda turn: (turn[2], turn[0]))
    if len(got) != len(wanted):
        return f"{len(got)} turns instead of {len(wanted)}"
    for a, b in zip(got, wanted, strict=True):
        if a[2] != b[2] or abs(a[0] - b[0]) > tolerance or abs(a[1] - b[1]) > tolerance:
            return f"{a} instead of {b}"
    return ""


def convert(program: str, source: Path, target: Path, name: str) -> str:
    """The file's text; newlines stay as they are."""
    subprocess.run([program, "convert", str(source), str(target), "--to", name], check=True)
    return target.read_bytes().decode()


def check(program: str, folder: Path, draw: random.Random) -> list[str]:
    uri, duration, turns = random_turns(draw)
    problems = []

    def note(what: str, problem: str) -> None:
        if problem:
            problems.append(f"{what}: {problem}")

    source = folder / "in.json"
    source.write_text(as_json(uri, duration, turns), encoding="utf-8")
    for name, reader in READERS.items():
        text = convert(program, source, folder / "out", name)
        # RTTM's end is the sum of two rounded numbers; an end is cut at the recording's.
        try:
            note(name, difference(reader(text), turns, 0.0021 if name == "rttm" else 0.0011))
        except (AssertionError, ValueError, TypeError, ET.ParseError) as error:
            note(name, f"{error!r}")
    for name, (content, wanted) in written_elsewhere(uri, duration, turns).items():
        (folder / name).write_bytes(content)
        got = json.loads(convert(program, folder / name, folder / "out", "json"))
        back = [(turn["start"], turn["end"], turn["speaker"]) for turn in got["turns"]]
        note("back from " + name, difference(back, wanted, 0.0011))
        if wanted and name in ("x.csv", "x.tsv", "x.json") and got["uri"] != uri:
            note("back from " + name, f"uri {got['uri']!r} instead of {uri!r}")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    differ = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in range(arguments.count):
            problems = check(arguments.program, Path(folder), draw)
            differ += bool(problems)
            for problem in problems:
                print(f"case {case}: {problem}")
    print(f"{arguments.count} cases, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())

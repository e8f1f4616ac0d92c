#!/usr/bin/env python3
"""diarist report without a browser: plots read by other parsers, wrong usage, several recordings.

usage: report_command_test.py DIARIST
"""

import json
import struct
import sys
import tempfile
import zlib
from pathlib import Path
from xml.etree import ElementTree

from report_pages import rttm, run, write_tone

NAMES = ["</text><script>1</script>", "Zoë 日本", "C"]
TURNS = [(500, 4000, NAMES[0]), (3200, 9000, NAMES[1]), (9500, 12000, NAMES[2])]
SVG = "{http://www.w3.org/2000/svg}"


def png_size(data: bytes) -> tuple[int, int]:
    """Reads a PNG chunk by chunk, as its standard says."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, kinds, header = 8, b"", [], b""
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        (crc,) = struct.unpack(">I", data[at + 8 + length : at + 12 + length])
        assert crc == zlib.crc32(kind + body), kind
        kinds.append(kind)
        packed += body if kind == b"IDAT" else b""
        header = body if kind == b"IHDR" else header
        at += 12 + length
    width, height, depth, color = struct.unpack(">IIBB", header[:10])
    assert kinds == [b"IHDR", b"IDAT", b"IEND"] and (depth, color) == (8, 2), kinds
    rows = zlib.decompress(packed)
    assert len(rows) == height * (1 + 3 * width)
    assert all(rows[y * (1 + 3 * width)] == 1 for y in range(height))  # filter "Sub"
    return width, height


def test_plots(program: str, folder: Path, turns: Path, audio: Path) -> None:
    svg, png = folder / "plot.svg", folder / "plot.png"
    run(program, "report", turns, audio, "--plot", svg)
    run(program, "report", turns, audio, "--plot", png)
    root = ElementTree.fromstring(svg.read_bytes())
    texts = [node.text for node in root.iter(SVG + "text")]
    assert NAMES[0] in texts and NAMES[1] in texts, texts
    assert "0:10" in texts, texts
    assert root.find(f".//{SVG}script") is None
    width, height = png_size(png.read_bytes())
    assert (width, height) == (2 * float(root.get("width")), 2 * float(root.get("height")))
    before = svg.read_bytes(), png.read_bytes()
    run(program, "report", turns, audio, "--plot", svg)
    run(program, "report", turns, audio, "--plot", png)
    assert before == (svg.read_bytes(), png.read_bytes())
    out = run(program, "report", turns, audio, "--plot", "-").stdout
    assert out == before[0].decode()


def test_wrong_usage(program: str, folder: Path, turns: Path, audio: Path) -> None:
    page = folder / "page.html"
    cases = [
        (2, [turns], "--out or --plot"),
        (2, [turns, "--plot", folder / "a.gif"], ".svg or .png"),
        (2, [turns, "--plot", folder / "a.svg", "--embed-audio"], "--embed-audio"),
        (2, [turns, "-o", page, "--embed-audio"], "needs the recording"),
        (2, [turns, audio, "-o", page, "--embed-audio", "--embed-limit", "0.1"], "--embed-limit"),
        (1, [folder / "none.rttm", "-o", page], "none.rttm"),
        (1, [turns, folder / "none.wav", "-o", page], "none.wav"),
        (1, [turns, "-o", folder / "no" / "page.html"], "no folder"),
        (1, [turns, "-o", page, "--id", "other"], "other"),
    ]
    for code, arguments, words in cases:
        done = run(program, "report", *arguments, code=code)
        assert words in done.stderr and done.stderr.count("\n") == 1, (arguments, done.stderr)
        assert not page.exists(), arguments


def test_several_recordings(program: str, folder: Path, turns: Path, audio: Path) -> None:
    both = folder / "both.rttm"
    both.write_text(rttm("one", TURNS) + rttm("two", TURNS[:1]), encoding="utf-8")
    page = folder / "two.html"
    done = run(program, "report", both, "-o", page, code=2)
    assert "--id" in done.stderr and "one, two" in done.stderr, done.stderr
    run(program, "report", both, "-o", page, "--id", "two", "--title", "Second & last")
    text = page.read_text(encoding="utf-8")
    assert "<title>Second &amp; last" in text
    assert '"turns":[[500,4000,0,1000,3500]]' in text


def test_json_brings_confidence(program: str, folder: Path, turns: Path, audio: Path) -> None:
    result = {
        "format": "diarist.diarization",
        "version": 1,
        "uri": "known",
        "duration": 13.0,
        "turns": [
            {"start": 1.0, "end": 2.5, "speaker": "A", "confidence": 0.625},
            {"start": 2.0, "end": 4.0, "speaker": "B"},
        ],
        "exclusive_turns": [{"start": 1.0, "end": 2.5, "speaker": "A", "confidence": 2}],
        "speakers": [{"name": "A", "seconds": 1.5, "turns": 1}],
    }
    source, page = folder / "known.json", folder / "known.html"
    source.write_text(json.dumps(result), encoding="utf-8")
    run(program, "report", source, "-o", page)
    text = page.read_text(encoding="utf-8")
    assert '"turns":[[1000,2500,0,625,1500],[2000,4000,1,1000,2000]]' in text
    assert '"exclusive":[[1000,2500,0,1000,1500]]' in text
    assert '"confidence":true' in text


def test_other_media_become_wav(program: str, folder: Path, turns: Path, audio: Path) -> None:
    odd = folder / "tone.voc"  # a name that no browser knows; the content decides for diarist
    odd.write_bytes(audio.read_bytes())
    page = folder / "odd.html"
    done = run(program, "report", turns, odd, "-o", page, "--embed-audio")
    assert "16 kHz WAV" in done.stderr, done.stderr
    text = page.read_text(encoding="utf-8")
    assert '"type":"audio/wav"' in text and 'id="report-audio">UklGR' in text  # "RIFF"


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        turns, audio = folder / "turns.rttm", folder / "tone.wav"
        turns.write_text(rttm("tone", TURNS), encoding="utf-8")
        write_tone(audio, 13)
        for test in (
            test_plots,
            test_wrong_usage,
            test_several_recordings,
            test_json_brings_confidence,
            test_other_media_become_wav,
        ):
            test(sys.argv[1], folder, turns, audio)
            print(f"ok     {test.__name__[5:]}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main())

#!/usr/bin/env python3
"""Make docs/images/report.png: the page about an invented meeting, in headless Chromium.

usage: make_report_picture.py DIARIST OUT.png

Voices are noise in the rhythm of syllables, names and turns are made up; the confidences, which a
real run finds, are put into the page's data.
"""

import json
import os
import random
import struct
import sys
import tempfile
import wave
from math import pi, sin
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/e2e/report"))

from report_pages import Page, browser_path, rttm, run, with_playwright

RATE = 8000
SECONDS = 150
NAMES = ["Ada Lovelace", "Alan Turing", "Grace Hopper"]


def make_turns(draw: random.Random) -> list[tuple[int, int, str]]:
    turns, time, speaker = [], 1400, 0
    while time < SECONDS * 1000 - 9000:
        length = draw.choice([650, 1200, 2600, 4200, 6100, 8300])
        turns.append((time, time + length, NAMES[speaker]))
        gap = draw.choice([-1100, -500, 150, 300, 700, 1500])
        time += length + (gap if length > 2000 else abs(gap))
        speaker = (speaker + draw.choice([1, 1, 2])) % 3
    return turns


def write_voices(file: Path, turns: list[tuple[int, int, str]], draw: random.Random) -> None:
    samples = [draw.gauss(0, 0.003) for _ in range(SECONDS * RATE)]
    for start, end, name in turns:
        loud = (0.55, 0.36, 0.45)[NAMES.index(name)]
        at = start * RATE // 1000
        while at < end * RATE // 1000:
            length = int(draw.uniform(0.09, 0.26) * RATE)
            level = loud * draw.uniform(0.25, 1) * (draw.random() > 0.12)
            for i in range(min(length, len(samples) - at)):
                samples[at + i] += level * sin(pi * i / length) * draw.uniform(-0.9, 0.9)
            at += length
    with wave.open(str(file), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes(
            b"".join(struct.pack("<h", int(32000 * max(-1, min(1, s)))) for s in samples)
        )


def with_confidence(page: Path, draw: random.Random) -> None:
    text = page.read_text(encoding="utf-8")
    mark = '<script type="application/json" id="report-data">'
    start = text.index(mark) + len(mark)
    end = text.index("</script>", start)
    data = json.loads(text[start:end])
    data["confidence"] = True
    for turn in data["turns"]:
        short = turn[1] - turn[0] < 1500
        turn[3] = int(1000 * (draw.uniform(0.45, 0.8) if short else draw.uniform(0.9, 1)))
    page.write_text(text[:start] + json.dumps(data) + text[end:], encoding="utf-8")


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    start_playwright = with_playwright()
    draw = random.Random(6)
    turns = make_turns(draw)
    with tempfile.TemporaryDirectory() as name, start_playwright() as playwright:
        folder = Path(name)
        rttm_file, audio, html = folder / "a.rttm", folder / "a.wav", folder / "a.html"
        rttm_file.write_text(rttm("Planning meeting", turns), encoding="utf-8")
        write_voices(audio, turns, draw)
        run(sys.argv[1], "report", rttm_file, audio, "-o", html)
        with_confidence(html, draw)
        browser = playwright.chromium.launch(
            executable_path=browser_path(), args=["--no-sandbox"], env={**os.environ}
        )
        page = Page(browser, html)
        page.wait_until("diarist.player.ready")
        page.page.locator("#rows tr:nth-child(4) td:nth-child(2)").click()
        page.page.evaluate("scrollTo(0, 0)")
        page.page.mouse.move(5, 5)
        page.page.wait_for_timeout(400)
        page.page.screenshot(path=sys.argv[2])
        browser.close()


if __name__ == "__main__":
    main()

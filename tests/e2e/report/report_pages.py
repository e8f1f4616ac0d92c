"""Recordings, turns and browsers for the tests of the report's page."""

import os
import struct
import subprocess
import sys
import time
import wave
from math import pi, sin
from pathlib import Path

BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
SKIPPED = 77


def skip(reason: str) -> None:
    """Ends the test; with DIARIST_REQUIRE_BROWSER=1 a missing browser is a failure."""
    print(f"{'needed' if required() else 'skipped'}: {reason}")
    sys.exit(1 if required() else SKIPPED)


def required() -> bool:
    return os.environ.get("DIARIST_REQUIRE_BROWSER") == "1"


def with_playwright():
    """sync_playwright, from this Python or from the one that the tests have."""
    try:
        from playwright.sync_api import sync_playwright

        return sync_playwright
    except ImportError:
        pass
    root = Path(__file__).resolve().parents[3]
    other = os.environ.get("DIARIST_TEST_PYTHON", str(root / ".venv/bin/python"))
    if Path(other).exists() and os.environ.get("DIARIST_TRIED_PYTHON") != other:
        os.environ["DIARIST_TRIED_PYTHON"] = other
        os.execv(other, [other, *sys.argv])
    skip("no Playwright for Python (pip install -r tools/requirements-browser.txt)")


def browser_path() -> str:
    for path in [os.environ.get("DIARIST_TEST_BROWSER", ""), *BROWSERS]:
        if path and Path(path).exists():
            return path
    skip("no Chromium (apt-get install chromium, or DIARIST_TEST_BROWSER)")
    return ""


def run(program: str, *arguments: str, code: int = 0) -> subprocess.CompletedProcess:
    done = subprocess.run(
        [program, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done


# What the rule of docs/json.md escapes, with Python's own idea of white space.
ESCAPED = {c for c in map(chr, range(0x10000)) if c.isspace()} | set(map(chr, range(0x21)))
ESCAPED |= {"\x7f", "%"}


def encode_field(text: str) -> str:
    """A name as one field of RTTM."""
    return "".join(
        "".join(f"%{byte:02X}" for byte in c.encode()) if c in ESCAPED else c for c in text
    )


def rttm(uri: str, turns: list[tuple[int, int, str]]) -> str:
    """Turns (start, end, name) in milliseconds."""
    return "".join(
        f"SPEAKER {encode_field(uri)} 1 {start / 1000:.3f} {(end - start) / 1000:.3f} <NA> <NA> "
        f"{encode_field(name)} <NA> <NA>\n"
        for start, end, name in turns
    )


def write_tone(file: Path, seconds: int) -> None:
    """16 kHz, 16 bits: a tone that swells every second."""
    second = b"".join(
        struct.pack("<h", int(12000 * sin(pi * i / 16000) * sin(2 * pi * 220 * i / 16000)))
        for i in range(16000)
    )
    with wave.open(str(file), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(16000)
        for _ in range(seconds):
            out.writeframes(second)


def write_long(file: Path, seconds: int) -> None:
    """16 kHz, 8 bits: a minute of tones, again and again."""
    minute = bytearray()
    for second in range(60):
        level = 20 + (second * 37) % 90
        minute += bytes(
            128 + int(level * sin(0.11 * i) * sin(pi * i / 16000)) for i in range(16000)
        )
    with wave.open(str(file), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(1)
        out.setframerate(16000)
        for start in range(0, seconds, 60):
            out.writeframes(bytes(minute[: 16000 * min(60, seconds - start)]))


class Page:
    """A report in a browser; whatever goes wrong in it is remembered."""

    def __init__(self, browser, file: Path, **context):
        self.context = browser.new_context(
            viewport={"width": 1240, "height": 900}, accept_downloads=True, **context
        )
        self.page = self.context.new_page()
        self.troubles: list[str] = []
        self.requests: list[str] = []
        self.dialogs: list[str] = []
        self.page.on("console", self.note)
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", self.answer)
        self.page.goto(file.resolve().as_uri())
        self.wait_until("Boolean(window.diarist)")

    def wait_until(self, condition: str, seconds: float = 20) -> None:
        """Playwright's own wait_for_function needs eval, which the page's policy refuses."""
        end = time.monotonic() + seconds
        while not self.page.evaluate(condition):
            if time.monotonic() > end:
                raise TimeoutError(condition)
            self.page.wait_for_timeout(20)

    def note(self, message) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(message.text)

    def answer(self, dialog) -> None:
        self.dialogs.append(dialog.message)
        dialog.accept()

    def close(self) -> None:
        self.context.close()

    def view(self) -> tuple[float, float]:
        start, end = self.page.evaluate("[diarist.timeline.start, diarist.timeline.end]")
        return start, end

    def export(self, kind: str, file: Path) -> str:
        with self.page.expect_download() as waiting:
            self.page.click(f"#export-{kind}")
        waiting.value.save_as(file)
        return file.read_text(encoding="utf-8")

    def speakers(self) -> list[str]:
        return self.page.locator("#speakers .name").all_text_contents()

    def wait_for_frame(self) -> None:
        self.page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")

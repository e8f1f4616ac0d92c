#!/usr/bin/env python3
"""Check that the built site loads nothing from elsewhere.

usage: check_site.py FOLDER

Links to other sites are fine; scripts, styles, pictures and frames from there are not. Exits with 1
and names them.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
}
STYLE_URL = re.compile(r"(?:url\(|@import )\s*['\"]?((?:https?:)?//[^'\")\s]+)")


def is_foreign(address: str) -> bool:
    return address.startswith(("http:", "https:", "//"))


class Loads(HTMLParser):
    """Addresses that a browser fetches by itself."""

    def __init__(self):
        super().__init__()
        self.foreign: list[str] = []

    def handle_starttag(self, tag, attributes):
        values = {name: value or "" for name, value in attributes}
        address = values.get(LOADED.get(tag, ""), "")
        if tag == "link" and values.get("rel") not in ("canonical", "next", "prev"):
            address = values.get("href", "")
        if is_foreign(address):
            self.foreign.append(f"<{tag}> {address}")


def foreign_loads(text: str, suffix: str) -> list[str]:
    if suffix == ".css":
        return STYLE_URL.findall(text)
    parser = Loads()
    parser.feed(text)
    return parser.foreign


def main(folder: Path) -> int:
    pages = sorted(path for path in folder.rglob("*") if path.suffix in (".html", ".css"))
    if not pages:
        sys.exit(f"{folder}: holds no pages; build them first")
    found = [
        f"{page.relative_to(folder)}: loads {what}"
        for page in pages
        for what in foreign_loads(page.read_text(encoding="utf-8"), page.suffix)
    ]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))

#!/usr/bin/env python3
"""Tests of docs_hooks.py and check_site.py. Exit code 77: MkDocs is not there."""

import sys
import unittest

try:
    import docs_hooks
except ImportError:
    print("skipped: MkDocs is not installed (tools/requirements-docs.txt)")
    sys.exit(77)

from check_site import foreign_loads

PAGES = {"formats.md", "cli.md"}


class Adapting(unittest.TestCase):
    def test_links_of_the_first_page_lose_their_folder(self):
        text = "[a](docs/formats.md#rttm) [b](CONTRIBUTING.md) [c](https://example.org/docs/x.md)"
        self.assertEqual(
            docs_hooks.adapted(text, in_docs=False, pages=PAGES),
            "[a](formats.md#rttm) [b](contributing.md) [c](https://example.org/docs/x.md)",
        )

    def test_links_of_docs_reach_what_lies_above(self):
        text = "[a](../README.md#presets) [b](cli.md) [c](#here)"
        self.assertEqual(
            docs_hooks.adapted(text, in_docs=True, pages=PAGES),
            "[a](index.md#presets) [b](cli.md) [c](#here)",
        )

    def test_mentions_become_links_outside_of_code(self):
        text = "see docs/formats.md, `docs/cli.md` and docs/none.md\n\n```sh\nls docs/cli.md\n```\n"
        self.assertEqual(
            docs_hooks.adapted(text, in_docs=True, pages=PAGES),
            "see [formats](formats.md), `docs/cli.md` and docs/none.md\n\n"
            "```sh\nls docs/cli.md\n```\n",
        )

    def test_a_marker_becomes_a_sentence_below_its_block(self):
        text = "<!-- not run: needs a GPU -->\n```sh\nx\n```\nMore.\n"
        self.assertEqual(
            docs_hooks.adapted(text, in_docs=True, pages=PAGES),
            "```sh\nx\n```\n\n*Not run by the tests: needs a GPU.*\n\nMore.\n",
        )


class Site(unittest.TestCase):
    def test_what_is_loaded_from_elsewhere(self):
        page = (
            '<a href="https://example.org">x</a><script src="//cdn.example.org/a.js"></script>'
            '<link rel="stylesheet" href="https://example.org/a.css"><img src="images/a.svg">'
            '<link rel="next" href="https://example.org/b.html">'
        )
        self.assertEqual(
            foreign_loads(page, ".html"),
            ["<script> //cdn.example.org/a.js", "<link> https://example.org/a.css"],
        )
        style = 'a { background: url("https://example.org/a.png") } b { background: url(b.png) }'
        self.assertEqual(foreign_loads(style, ".css"), ["https://example.org/a.png"])


if __name__ == "__main__":
    unittest.main()

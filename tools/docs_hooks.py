"""What MkDocs does beside building the pages of docs (mkdocs.yml).

README, CONTRIBUTING, CHANGELOG and NOTICE become pages without a second copy in the repository, and
links between them and docs work there as they do on a code host. `docs/NAME.md` in a sentence
becomes a link. Below a block that the tests don't run stands why (tools/doc_blocks.py).
"""

import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "NOTICE": "notice.md",
}

LINK = re.compile(r"\]\((?!https?:|#)([^)\s#]+)(#[^)\s]+)?\)")
MENTION = re.compile(r"(?<![\w/(\[`.])docs/([a-z0-9-]+\.md)(?![\w#)`])")
MARKED = re.compile(
    r"^( *)<!-- *not run:(.*?)-->[ ]*\n( *)(```+)(.*?)^\3\4[ ]*$", re.MULTILINE | re.DOTALL
)
FENCED = re.compile(r"(^ *(```+).*?^ *\2 *$)", re.MULTILINE | re.DOTALL)


def link_target(path: str, in_docs: bool) -> str:
    """Where a link of a page leads on the site, where all pages lie in one folder."""
    place = path
    if in_docs and place.startswith("../"):
        place = place[3:]
    elif not in_docs and place.startswith("docs/"):
        return place[5:]
    elif in_docs:
        return path
    return PAGES.get(place, path)


def outside_of_blocks(text: str, change) -> str:
    """`change` of everything that is not in a fenced block."""
    parts, last = [], 0
    for found in FENCED.finditer(text):
        parts += [change(text[last : found.start()]), found.group(0)]
        last = found.end()
    return "".join([*parts, change(text[last:])])


def adapted(text: str, in_docs: bool, pages: set[str]) -> str:
    """The Markdown of a page as the site shows it."""

    def links(part: str) -> str:
        def target(found: re.Match) -> str:
            return f"]({link_target(found[1], in_docs)}{found[2] or ''})"

        def mention(found: re.Match) -> str:
            name = found[1]
            return f"[{name[:-3]}]({name})" if name in pages else found[0]

        return MENTION.sub(mention, LINK.sub(target, part))

    def remark(found: re.Match) -> str:
        indent, reason, _, ticks, body = found.groups()
        return (
            f"{indent}{ticks}{body}{indent}{ticks}\n\n{indent}*Not run by the tests:{reason}.*\n"
        ).replace(" .*\n", ".*\n")

    return MARKED.sub(remark, outside_of_blocks(text, links))


def on_files(files, config):
    for source, page in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        if source == "NOTICE":
            text = f"# Notices\n\n```text\n{text}```\n"
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown, page, config, files):
    in_docs = page.file.src_uri not in PAGES.values()
    return adapted(markdown, in_docs, {file.src_uri for file in files})

"""Results from files of any format with a reader."""

from os import PathLike
from pathlib import Path
from typing import NamedTuple

from . import _engine
from ._results import Diarization


class Format(NamedTuple):
    """What is to know about a text format (docs/formats.md)."""

    name: str
    ending: str
    readable: bool
    description: str


def formats() -> list[Format]:
    """Every format that to_text() knows."""
    return [Format(*row) for row in _engine.formats()]


def read(file: "str | PathLike[str]", format: str | None = None) -> list[Diarization]:
    """Results of a file, one per recording in it, sorted by uri.

    :param format: None: told by ending and content.
    :raises NotFoundError, BadFileError:
    """
    return [Diarization(result) for result in _engine.read_results(Path(file), format)]


def parse(text: str, format: str | None = None, uri: str = "") -> list[Diarization]:
    """The same from text; `uri` is the name for formats that hold none."""
    return [Diarization(result) for result in _engine.parse_results(text, format, uri)]

"""The result of a diarization."""

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _engine
from ._errors import InvalidArgumentError, UnsupportedError
from ._voices import SpeakerVoice, VoiceLibrary

if TYPE_CHECKING:
    import numpy
    import numpy.typing


class Turn(NamedTuple):
    """One stretch of speech of one speaker, in seconds."""

    start: float
    end: float
    speaker: str
    #: 0 to 1: share of the windows over the turn that heard this speaker (docs/report.md).
    confidence: float = 1.0

    @property
    def duration(self) -> float:
        """Seconds from start to end."""
        return self.end - self.start


class Speaker(NamedTuple):
    """One of the voices of a recording."""

    name: str
    #: Sum of this speaker's turns.
    seconds: float


class Stages(NamedTuple):
    """Results of the stages between audio and turns, as read-only arrays."""

    #: [C, 589, 3] uint8: which local speakers speak in every frame of every window.
    segmentations: "numpy.typing.NDArray[numpy.uint8]"
    #: [C, 3, D] float32: a vector per window and local speaker; rows of NaN where there is none.
    embeddings: "numpy.typing.NDArray[numpy.float32]"
    #: [C, 3] int32: number of the speaker; -2 where unassigned or inactive.
    hard_clusters: "numpy.typing.NDArray[numpy.int32]"
    #: [N] uint8: speakers per output frame.
    counts: "numpy.typing.NDArray[numpy.uint8]"


class Waveform(NamedTuple):
    """Loudness of every 10 ms; level = round(255 * sqrt(amplitude))."""

    #: Largest sample of each 10 ms.
    peak: "numpy.typing.NDArray[numpy.uint8]"
    #: Root of the mean square, as many.
    power: "numpy.typing.NDArray[numpy.uint8]"


class Diarization:
    """Who spoke when in one recording.

    Iterating over it gives its turns. It can be pickled; stage results do not travel.
    """

    __slots__ = ("_exclusive", "_facts", "_result", "_turns")

    def __init__(self, result: "_engine.Result") -> None:
        self._result = result
        self._turns: list[Turn] | None = None
        self._exclusive: list[Turn] | None = None
        self._facts: dict[str, Any] | None = None

    @classmethod
    def from_turns(
        cls,
        turns: "Sequence[tuple[float, float, str]] | Sequence[Turn]",
        *,
        uri: str = "",
        duration: float = 0.0,
    ) -> "Diarization":
        """A result from tuples that begin with (start, end, speaker).

        :raises InvalidArgumentError: a start or length is negative or no number.
        """
        tuples = [(turn[0], turn[1] - turn[0], turn[2]) for turn in turns]
        return cls(_engine.result_of_turns(uri, tuples, duration))

    # ---- what was found

    @property
    def uri(self) -> str:
        """Name of the recording: its file's without folder and ending; empty for memory."""
        return self._result.uri

    @uri.setter
    def uri(self, uri: str) -> None:
        self._result.uri = uri

    @property
    def duration(self) -> float:
        """Seconds to the end of the audio; 0: not known."""
        return self._result.duration

    @property
    def turns(self) -> list[Turn]:
        """Turns by start, then end, then speaker; those of different speakers may overlap."""
        if self._turns is None:
            self._turns = self._named(self._result.turns)
        return self._turns

    @property
    def exclusive(self) -> list[Turn]:
        """The same with at most one speaker at a time."""
        if self._exclusive is None:
            self._exclusive = self._named(self._result.exclusive_turns)
        return self._exclusive

    @property
    def speakers(self) -> list[Speaker]:
        """Speakers in the order of their numbers."""
        return [Speaker(*speaker) for speaker in self._result.speakers]

    @property
    def embeddings(self) -> "numpy.typing.NDArray[numpy.float32] | None":
        """[speakers, D] float32: the centroid of each; None where there is none (needs NumPy)."""
        return self._result.embeddings

    @property
    def voices(self) -> list[SpeakerVoice] | None:
        """What named() found for each speaker, in their order; None unless it made this result."""
        found = _engine.speaker_voices(self._result)
        return None if found is None else [SpeakerVoice(*voice) for voice in found]

    @property
    def stages(self) -> Stages | None:
        """Arrays of the stages; None unless the run had ``keep_stages=True`` (needs NumPy)."""
        stages = self._result.stages
        return None if stages is None else Stages(**stages)

    @property
    def waveform(self) -> Waveform | None:
        """The recording's outline; None unless the run had ``keep_waveform=True``."""
        waveform = self._result.waveform
        return None if waveform is None else Waveform(*waveform)

    @property
    def warnings(self) -> list[str]:
        """One sentence each."""
        return self._result.warnings

    @property
    def settings(self) -> dict[str, Any]:
        """What was really used, after defaults were filled in (docs/json.md)."""
        settings: dict[str, Any] = self._read()["settings"]
        return settings

    @property
    def timings(self) -> dict[str, Any]:
        """Seconds per stage (docs/json.md)."""
        timings: dict[str, Any] = self._read()["timings"]
        return timings

    def _read(self) -> dict[str, Any]:
        if self._facts is None:
            self._facts = json.loads(self.to_json())
        return self._facts

    def _named(self, turns: list[tuple[float, float, int, float]]) -> list[Turn]:
        names = [name for name, _ in self._result.speakers]
        return [Turn(start, end, names[number], share) for start, end, number, share in turns]

    # ---- text

    def to_rttm(self, *, exclusive: bool = False) -> str:
        """RTTM, the bytes of ``diarist run``."""
        return self._result.to_rttm(exclusive)

    def to_json(self) -> str:
        """JSON (docs/json.md)."""
        return self._result.to_text("json")

    def to_text(self, format: str, *, columns: int = 80, ascii: bool = False) -> str:
        """Any format of docs/formats.md by name: "csv", "srt", "textgrid", "elan", ..."""
        return self._result.to_text(format, columns, ascii)

    def to_html(self, title: str = "") -> str:
        """A page of its own to look at, rename, merge and export (docs/report.md)."""
        return self._result.to_html(title)

    def to_svg(self, title: str = "", width: int = 1000) -> str:
        """The lanes as a picture."""
        return self._result.to_svg(title, width)

    def to_png(self, title: str = "", width: int = 1000) -> bytes:
        """The same as a PNG, two pixels per unit of width."""
        return self._result.to_png(title, width)

    def save(self, file: "str | PathLike[str]", format: str | None = None) -> None:
        """Writes a file; an unset format is told by the ending (html, svg and png as well)."""
        path = Path(file)
        ending = path.name.lower()
        if format is None and ending.endswith(".png"):
            path.write_bytes(self.to_png())
            return
        if format is None and ending.endswith((".html", ".htm")):
            text = self.to_html()
        elif format is None and ending.endswith(".svg"):
            text = self.to_svg()
        else:
            text = self.to_text(format or _format_of(ending))
        path.write_text(text, encoding="utf-8", newline="")

    # ---- other libraries

    def to_dataframe(self, library: str | None = None, *, exclusive: bool = False) -> Any:
        """A table with the columns start, end, duration, speaker and confidence.

        :param library: "pandas" or "polars"; None: whichever is installed, pandas first.
        :raises UnsupportedError: it is not installed.
        """
        turns = self.exclusive if exclusive else self.turns
        columns: dict[str, list[Any]] = {
            "start": [turn.start for turn in turns],
            "end": [turn.end for turn in turns],
            "duration": [turn.duration for turn in turns],
            "speaker": [turn.speaker for turn in turns],
            "confidence": [turn.confidence for turn in turns],
        }
        if library not in (None, "pandas", "polars"):
            raise InvalidArgumentError(f"no table of {library!r}; there are 'pandas' and 'polars'")
        for name in ("pandas", "polars") if library is None else (library,):
            try:
                module = __import__(name)
            except ImportError:
                continue
            return module.DataFrame(columns)
        raise UnsupportedError(
            f"to_dataframe() needs {library or 'pandas or polars'}: "
            f"pip install {library or 'pandas'}"
        )

    def to_annotation(self, *, exclusive: bool = False) -> Any:
        """A pyannote.core Annotation.

        :raises UnsupportedError: pyannote.core is not installed.
        """
        try:
            from pyannote.core import Annotation, Segment
        except ImportError:
            raise UnsupportedError(
                "to_annotation() needs pyannote.core: pip install pyannote.core"
            ) from None
        annotation = Annotation(uri=self.uri or None)
        for track, turn in enumerate(self.exclusive if exclusive else self.turns):
            annotation[Segment(turn.start, turn.end), track] = turn.speaker
        return annotation

    def plot(self, axes: Any = None) -> Any:
        """Draws the turns with matplotlib, a lane per speaker.

        :param axes: where to draw; None: a figure of its own.
        :return: the axes.
        :raises UnsupportedError: matplotlib is not installed.
        """
        if axes is None:
            try:
                from matplotlib import pyplot
            except ImportError:
                raise UnsupportedError(
                    "plot() needs matplotlib: pip install matplotlib (to_svg() and to_png() do not)"
                ) from None
            height = 0.6 + 0.4 * max(1, len(self.speakers))
            _, axes = pyplot.subplots(figsize=(10, height), layout="constrained")
        names = [speaker.name for speaker in self.speakers]
        for lane, name in enumerate(names):
            spans = [(turn.start, turn.duration) for turn in self.turns if turn.speaker == name]
            axes.broken_barh(spans, (lane - 0.4, 0.8), facecolors=f"C{lane % 10}")
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5 if names else 0.5, -0.5)
        axes.set_xlim(0, self.duration or max((turn.end for turn in self.turns), default=1))
        axes.set_xlabel("seconds")
        axes.set_title(self.uri)
        return axes

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(speaker.name)}</td><td>{speaker.seconds:.1f} s</td></tr>"
            for speaker in self.speakers
        )
        return f"<div>{self.to_svg(width=800)}<table>{rows}</table></div>"

    # ---- changes

    def shaped(
        self,
        *,
        min_duration_on: float = 0.0,
        min_duration_off: float = 0.0,
        merge_gap: float = 0.0,
        pad: float = 0.0,
        exclusive: bool = False,
        names: Sequence[str] | Mapping[str, str] | None = None,
    ) -> "Diarization":
        """A copy with short turns dropped, pauses closed, edges padded, names given.

        Seconds; docs/formats.md tells the order. ``names`` is a list (the first to speak first)
        or a mapping from old to new.

        :raises InvalidArgumentError: a number is negative, or a name empty.
        """
        if isinstance(names, str):
            raise InvalidArgumentError("names is one text; give a list or a mapping of names")
        return Diarization(
            self._result.shaped(
                min_duration_on=min_duration_on,
                min_duration_off=min_duration_off,
                merge_gap=merge_gap,
                pad=pad,
                exclusive=exclusive,
                names=dict(names) if isinstance(names, Mapping) else names,
            )
        )

    def rename(self, names: Sequence[str] | Mapping[str, str]) -> "Diarization":
        """A copy with other names; two speakers with one name become one."""
        return self.shaped(names=names)

    def named(
        self,
        voices: VoiceLibrary,
        *,
        threshold: float | None = None,
        margin: float = 0.1,
        min_seconds: float = 2.0,
    ) -> "Diarization":
        """A copy with speakers named after the voices they are most like (docs/voices.md).

        The others keep their names; ``voices`` of the copy tells why.

        :param threshold: least score, -1 to 1; None: the one measured for the network.
        :param margin: least distance to the score of the next voice.
        :param min_seconds: least speech of a speaker.
        :raises InvalidArgumentError: voices of another network, a result that was read from a
            file, a network without a measured threshold and none given.
        """
        return Diarization(
            _engine.named(self._result, voices._library, threshold, margin, min_seconds)
        )

    # ---- manners

    def __iter__(self) -> Iterator[Turn]:
        return iter(self.turns)

    def __len__(self) -> int:
        return len(self._result.turns)

    def __bool__(self) -> bool:
        return True  # a recording without speech is a result like any other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Diarization):
            return NotImplemented
        return (self.uri, self.duration, self.turns, self.exclusive) == (
            other.uri,
            other.duration,
            other.turns,
            other.exclusive,
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "<diarist.Diarization %r: %.3f s, %d speakers, %d turns>" % (
            self.uri,
            self.duration,
            len(self.speakers),
            len(self),
        )

    def __str__(self) -> str:
        return self.to_text("table")

    def __getstate__(self) -> "_engine.Result":
        return self._result

    def __setstate__(self, result: "_engine.Result") -> None:
        Diarization.__init__(self, result)


def _format_of(name: str) -> str:
    endings = sorted(_engine.formats(), key=lambda row: -len(row[1]))
    for format_name, ending, _, _ in endings:
        if name.endswith("." + ending.lower()):
            return format_name
    known = ", ".join(sorted({row[1] for row in endings}))
    raise InvalidArgumentError(f"no format has the ending of '{name}'; there are {known}")

"""Error rates of results against references."""

import json
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

from . import _engine
from ._errors import InvalidArgumentError
from ._files import read
from ._results import Diarization

#: A result, several, a file of turns, or tuples that begin with (start, end, speaker).
Turns = Any


class Score:
    """Error rates of one comparison; rates are fractions, not per cent."""

    def __init__(self, report: dict[str, Any]) -> None:
        #: Everything of docs/json.md, "A comparison".
        self.report = report

    @property
    def der(self) -> float:
        """Missed, false and confused speech by reference speech, over all recordings."""
        return float(self.report["total"]["der"])

    @property
    def jer(self) -> float:
        """Mean Jaccard error over the reference speakers."""
        return float(self.report["total"]["jer"])

    @property
    def files(self) -> dict[str, dict[str, Any]]:
        """Numbers per recording."""
        return {file["uri"]: file for file in self.report["files"]}

    @property
    def warnings(self) -> list[str]:
        """One sentence each."""
        warnings: list[str] = self.report["warnings"]
        return warnings

    def __float__(self) -> float:
        return self.der

    def __repr__(self) -> str:
        total = self.report["total"]
        return (
            f"<diarist.Score: DER {100 * self.der:.2f} % (missed {total['missed']:.3f} s, false "
            f"{total['false_alarm']:.3f} s, confused {total['confusion']:.3f} s of "
            f"{total['total']:.3f} s)>"
        )


def score(
    reference: Turns,
    hypothesis: Turns,
    *,
    collar: float = 0.0,
    skip_overlap: bool = False,
    md_eval: bool = False,
    uem: Mapping[str, Iterable[tuple[float, float]]] | None = None,
) -> Score:
    """Scores turns against a reference, as ``diarist score`` does (docs/scoring.md).

    :param reference: a Diarization or a list of them, a path to a file of turns, an Annotation of
        pyannote.core, or tuples that begin with (start, end, speaker).
    :param collar: seconds left unscored on each side of every reference boundary.
    :param uem: regions to score, (start, end) in seconds by recording.
    :raises InvalidArgumentError: something is no set of turns.
    """
    regions = None
    if uem is not None:
        regions = [
            (uri, [(float(start), float(end)) for start, end in found])
            for uri, found in uem.items()
        ]
    text = _engine.score(
        _recordings(reference, "reference"),
        _recordings(hypothesis, "hypothesis"),
        collar=collar,
        skip_overlap=skip_overlap,
        md_eval=md_eval,
        uem=regions,
    )
    return Score(json.loads(text))


def der(reference: Turns, hypothesis: Turns, *, collar: float = 0.0, **options: Any) -> float:
    """The diarization error rate alone, as a fraction; options are those of score()."""
    return score(reference, hypothesis, collar=collar, **options).der


def _recordings(turns: Turns, name: str) -> list[tuple[str, list[tuple[float, float, str]]]]:
    if isinstance(turns, Diarization):
        return [_recording(turns)]
    if isinstance(turns, (str, PathLike)):
        return [_recording(result) for result in read(turns)]
    if hasattr(turns, "itertracks"):
        tuples = [
            (segment.start, segment.end, str(label))
            for segment, _, label in turns.itertracks(yield_label=True)
        ]
        return [(turns.uri or "", [(start, end - start, who) for start, end, who in tuples])]
    try:
        items = list(turns)
        if items and all(isinstance(item, Diarization) for item in items):
            return [_recording(result) for result in items]
        return [("", [(float(i[0]), float(i[1]) - float(i[0]), str(i[2])) for i in items])]
    except (TypeError, ValueError, IndexError, KeyError):
        raise InvalidArgumentError(
            f"the {name} is no set of turns; give a Diarization, a file of turns, an Annotation "
            "or tuples (start, end, speaker)"
        ) from None


def _recording(result: Diarization) -> tuple[str, list[tuple[float, float, str]]]:
    return result.uri, [(turn.start, turn.duration, turn.speaker) for turn in result.turns]

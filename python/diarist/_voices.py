"""Enrolled voices: speakers named after people whom a library knows."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from . import _engine
from ._errors import InvalidArgumentError

if TYPE_CHECKING:
    import numpy
    import numpy.typing

    from ._embedder import Embedder
    from ._results import Diarization


class VoiceSample(NamedTuple):
    """One enrolment of a voice."""

    #: Of speech it was made from; 0: not known.
    seconds: float
    #: For people: "meeting SPEAKER_01".
    source: str


class Voice(NamedTuple):
    """A person of a library."""

    name: str
    samples: tuple[VoiceSample, ...]


class SpeakerVoice(NamedTuple):
    """What a comparison with enrolled voices said about a speaker."""

    #: The name before: "SPEAKER_02".
    speaker: str
    #: "named", "low_score", "ambiguous", "taken", "too_short" or "no_vector" (docs/voices.md).
    decision: str
    #: The voice with the best score; None: nothing was compared.
    best: str | None
    #: -1 to 1.
    score: float
    #: The voice behind it.
    next: str | None
    next_score: float


class VoiceLibrary:
    """Named voices of one embedding network (docs/voices.md). Embeddings are biometric data.

    >>> voices = diarist.VoiceLibrary()
    >>> voices.add("Anna", pipeline("anna.wav"))
    >>> voices.save("team.voices")
    >>> pipeline("meeting.wav").named(voices).turns
    """

    def __init__(self) -> None:
        self._library = _engine.VoiceLibrary()

    @classmethod
    def load(cls, file: "str | os.PathLike[str]") -> "VoiceLibrary":
        """Reads a file.

        :raises NotFoundError, BadFileError: the message names the place that is wrong.
        """
        made = cls()
        made._library = _engine.VoiceLibrary.load(Path(file))
        return made

    def save(self, file: "str | os.PathLike[str]") -> None:
        """Writes the file; readers see the old content or the new, never a part."""
        self._library.save(Path(file))

    def add(self, name: str, result: "Diarization", speaker: str | None = None) -> None:
        """Enrols a speaker of a result; a name that is there gets one sample more.

        :param speaker: which one; may be left out where the result has one.
        :raises InvalidArgumentError: vectors of another network, a name that can't be.
        """
        if speaker is None:
            names = [found.name for found in result.speakers]
            if len(names) != 1:
                raise InvalidArgumentError(
                    f"the result has {len(names)} speakers ({', '.join(names) or 'none'}); "
                    "say which with speaker="
                )
            speaker = names[0]
        self._library.add_speaker(name, result._result, speaker)

    def add_embedding(
        self,
        name: str,
        embedding: "numpy.typing.ArrayLike",
        embedder: "Embedder",
        *,
        seconds: float = 0.0,
        source: str = "",
    ) -> None:
        """Enrols a vector [D] or [1, D] that the embedder made (needs NumPy)."""
        vector = _row(embedding)
        self._library.add_vector(name, embedder.info, vector, float(seconds), source)

    def remove(self, name: str, sample: int | None = None) -> None:
        """Takes a voice out, or one of its samples (from 0)."""
        if sample is None:
            self._library.remove(name)
        elif sample < 0:
            raise InvalidArgumentError(f"sample is {sample}; they count from 0")
        else:
            self._library.remove_sample(name, sample)

    def rename(self, name: str, to: str) -> None:
        """Gives a voice another name, which no other may have."""
        self._library.rename(name, to)

    def match(
        self, embedding: "numpy.typing.ArrayLike", embedder: "Embedder"
    ) -> list[tuple[str, float]]:
        """Every voice with its score for a vector that the embedder made, best first."""
        return self._library.match(_row(embedding), embedder.info)

    def embeddings(self, name: str) -> "numpy.typing.NDArray[numpy.float32]":
        """The vectors of a voice, [samples, D], at length 1 (needs NumPy)."""
        return self._library.embeddings(name)

    @property
    def voices(self) -> list[Voice]:
        """Sorted by name."""
        return [
            Voice(name, tuple(VoiceSample(*sample) for sample in samples))
            for name, samples in self._library.voices
        ]

    @property
    def network(self) -> str | None:
        """The network of the vectors: "campplus" or "wespeaker-resnet34"; None without voices."""
        model = self._library.model
        return None if model is None else model[0]

    def __iter__(self) -> Iterator[Voice]:
        return iter(self.voices)

    def __len__(self) -> int:
        return len(self._library.voices)

    def __bool__(self) -> bool:
        return True

    def __contains__(self, name: object) -> bool:
        return any(voice.name == name for voice in self.voices)

    def __repr__(self) -> str:
        return f"<diarist.VoiceLibrary of {self.network}: {len(self)} voices>"

    def __getstate__(self) -> str:
        return self._library.to_text()

    def __setstate__(self, text: str) -> None:
        self._library = _engine.VoiceLibrary.parse(text, "a pickled library of voices")


def _row(embedding: "numpy.typing.ArrayLike") -> "numpy.typing.NDArray[numpy.float32]":
    import numpy

    row = numpy.ascontiguousarray(embedding, dtype=numpy.float32)
    if row.ndim == 2 and row.shape[0] == 1:
        row = row[0]
    if row.ndim != 1:
        raise InvalidArgumentError(f"embedding has the shape {row.shape}; give one vector [D]")
    return row

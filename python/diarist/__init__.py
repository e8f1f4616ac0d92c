"""diarist: who spoke when in a recording.

>>> import diarist
>>> pipeline = diarist.Pipeline("open")
>>> for turn in pipeline("meeting.wav"):
...     print(turn.start, turn.end, turn.speaker)

The guide is docs/python.md.
"""

import atexit as _atexit
import os as _os

from . import _engine
from ._embedder import Embedder
from ._engine import Stopper
from ._errors import (
    BadFileError,
    BadModelError,
    CancelledError,
    DeviceLostError,
    Error,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    OutOfMemoryError,
    UnsupportedError,
)
from ._files import formats, parse, read
from ._models import build_info, check_models, import_models, list_models, pull
from ._pipeline import Outcome, Pipeline
from ._results import Diarization, Speaker, Stages, Turn, Waveform
from ._scoring import Score, der, score
from ._stream import Stream
from ._voices import SpeakerVoice, Voice, VoiceLibrary, VoiceSample

__version__: str = _engine.version

__all__ = [
    "BadFileError",
    "BadModelError",
    "CancelledError",
    "DeviceLostError",
    "Diarization",
    "Embedder",
    "Error",
    "InternalError",
    "InvalidArgumentError",
    "NotFoundError",
    "OutOfMemoryError",
    "Outcome",
    "Pipeline",
    "Score",
    "Speaker",
    "SpeakerVoice",
    "Stages",
    "Stopper",
    "Stream",
    "Turn",
    "UnsupportedError",
    "Voice",
    "VoiceLibrary",
    "VoiceSample",
    "Waveform",
    "build_info",
    "check_models",
    "der",
    "formats",
    "import_models",
    "list_models",
    "parse",
    "pull",
    "read",
    "score",
]

# Work of generators and daemon threads that still runs is ended before the interpreter goes.
_atexit.register(_engine.stop_all)
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_engine.forget_jobs)

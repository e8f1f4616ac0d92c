from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from ._errors import Error

version: str

_Progress = Callable[[str, float, float], object] | None
_Log = Callable[[str, str], object] | None
_Recordings = Sequence[tuple[str, Sequence[tuple[float, float, str]]]]
_Turns = list[tuple[float, float, int, float]]

class Stopper:
    """Ends a run from another thread: hand it over as ``stop=``, then call stop()."""

    def __init__(self) -> None: ...
    def stop(self) -> None:
        """Ends the runs that it was handed to, now or later."""
    @property
    def stopped(self) -> bool: ...

class RunOptions:
    def __init__(
        self,
        *,
        num_speakers: int | None = None,
        min_speakers: int | None = None,
        max_speakers: int | None = None,
        step: int = 1,
        reference: bool = False,
        keep_stages: bool = False,
        keep_waveform: bool = False,
        raw: str | None = None,
        track: int = 0,
        channel: int = 0,
        split_channels: bool = False,
        start: float = 0.0,
        end: float | None = None,
        container_clock: bool = False,
    ) -> None: ...

class Result:
    uri: str
    @property
    def duration(self) -> float: ...
    @property
    def turns(self) -> _Turns: ...
    @property
    def exclusive_turns(self) -> _Turns: ...
    @property
    def speakers(self) -> list[tuple[str, float]]: ...
    @property
    def embeddings(self) -> NDArray[numpy.float32] | None: ...
    @property
    def stages(self) -> dict[str, NDArray[Any]] | None: ...
    @property
    def waveform(self) -> tuple[NDArray[numpy.uint8], NDArray[numpy.uint8]] | None: ...
    @property
    def warnings(self) -> list[str]: ...
    def to_rttm(self, exclusive: bool = False) -> str: ...
    def to_text(self, format: str, columns: int = 80, ascii: bool = False) -> str: ...
    def to_html(self, title: str = "") -> str: ...
    def to_svg(self, title: str = "", width: int = 1000) -> str: ...
    def to_png(self, title: str = "", width: int = 1000) -> bytes: ...
    def shaped(
        self,
        *,
        min_duration_on: float = 0.0,
        min_duration_off: float = 0.0,
        merge_gap: float = 0.0,
        pad: float = 0.0,
        exclusive: bool = False,
        names: Sequence[str] | dict[str, str] | None = None,
    ) -> Result: ...
    def __getstate__(self) -> tuple[Any, ...]: ...
    def __setstate__(self, state: tuple[Any, ...]) -> None: ...

class FileRun:
    def next(self) -> tuple[int, Result | None, Error | None] | None: ...

class Engine:
    def __init__(
        self,
        *,
        preset: str,
        models: Path | None,
        device: str,
        precision: str,
        threads: int,
        batch: int,
        max_gpu_memory: int,
        target: str,
        allow_unknown_weights: bool,
    ) -> None: ...
    @property
    def preset(self) -> str: ...
    def run_file(
        self,
        file: Path,
        options: RunOptions,
        progress: _Progress = None,
        log: _Log = None,
        stop: Stopper | None = None,
    ) -> Result: ...
    def run_samples(
        self,
        samples: Any,
        sample_rate: int,
        channels_first: bool | None,
        options: RunOptions,
        progress: _Progress = None,
        log: _Log = None,
        stop: Stopper | None = None,
    ) -> Result: ...
    def run_files(
        self,
        files: Sequence[Path],
        options: RunOptions,
        progress: _Progress = None,
        log: _Log = None,
        stop: Stopper | None = None,
    ) -> FileRun: ...

class LiveStream:
    def __init__(
        self, engine: Engine, sample_rate: int, channels: int, options: RunOptions
    ) -> None: ...
    def push(
        self, samples: Any, channels_first: bool | None = None, stop: Stopper | None = None
    ) -> None: ...
    def snapshot(self, progress: _Progress = None, stop: Stopper | None = None) -> Result: ...
    def finish(
        self, progress: _Progress = None, log: _Log = None, stop: Stopper | None = None
    ) -> Result: ...
    @property
    def heard(self) -> float: ...
    @property
    def seen(self) -> float: ...
    @property
    def closed(self) -> bool: ...
    def close(self) -> None: ...

class Embedder:
    def __init__(
        self,
        *,
        preset: str,
        models: Path | None,
        weights: Path | None,
        device: str,
        precision: str | None = None,
        threads: int,
        batch: int,
        allow_unknown_weights: bool,
    ) -> None: ...
    @property
    def dim(self) -> int: ...
    @property
    def info(self) -> dict[str, Any]: ...
    def embed_file(
        self,
        file: Path,
        spans: Sequence[tuple[float, float]],
        options: RunOptions,
        log: _Log = None,
        stop: Stopper | None = None,
    ) -> NDArray[numpy.float32]: ...
    def embed_samples(
        self,
        samples: Any,
        sample_rate: int,
        channels_first: bool | None,
        spans: Sequence[tuple[float, float]],
        log: _Log = None,
        stop: Stopper | None = None,
    ) -> NDArray[numpy.float32]: ...
    def features(
        self,
        samples: Any,
        sample_rate: int,
        channels_first: bool | None = None,
        piece: bool = False,
    ) -> NDArray[numpy.float32]: ...
    def forward(
        self, features: Any, masks: Any, stop: Stopper | None = None
    ) -> NDArray[numpy.float32]: ...

class VoiceLibrary:
    def __init__(self) -> None: ...
    @staticmethod
    def load(file: Path) -> VoiceLibrary: ...
    @staticmethod
    def parse(text: str, source: str) -> VoiceLibrary: ...
    def save(self, file: Path) -> None: ...
    def to_text(self) -> str: ...
    def add_speaker(self, name: str, result: Result, speaker: str) -> None: ...
    def add_vector(
        self,
        name: str,
        info: dict[str, Any],
        embedding: NDArray[numpy.float32],
        seconds: float,
        source: str,
    ) -> None: ...
    def remove(self, name: str) -> None: ...
    def remove_sample(self, name: str, sample: int) -> None: ...
    def rename(self, name: str, to: str) -> None: ...
    def match(
        self, embedding: NDArray[numpy.float32], info: dict[str, Any]
    ) -> list[tuple[str, float]]: ...
    def embeddings(self, name: str) -> NDArray[numpy.float32]: ...
    @property
    def voices(self) -> list[tuple[str, list[tuple[float, str]]]]: ...
    @property
    def model(self) -> tuple[str, str, int] | None: ...

def named(
    result: Result,
    voices: VoiceLibrary,
    threshold: float | None,
    margin: float,
    min_seconds: float,
) -> Result: ...
def speaker_voices(
    result: Result,
) -> list[tuple[str, str, str | None, float, str | None, float]] | None: ...
def formats() -> list[tuple[str, str, bool, str]]: ...
def read_results(file: Path, format: str | None = None) -> list[Result]: ...
def parse_results(text: str, format: str | None = None, uri: str = "") -> list[Result]: ...
def result_of_turns(
    uri: str, turns: Sequence[tuple[float, float, str]], duration: float = 0.0
) -> Result: ...
def score(
    reference: _Recordings,
    hypothesis: _Recordings,
    *,
    collar: float = 0.0,
    skip_overlap: bool = False,
    md_eval: bool = False,
    uem: Sequence[tuple[str, Sequence[tuple[float, float]]]] | None = None,
) -> str: ...
def build_info() -> dict[str, Any]: ...
def default_models_folder() -> Path: ...
def bundles(models: Path | None, check: bool = False) -> list[dict[str, Any]]: ...
def pull(
    name: str,
    *,
    models: Path | None,
    allow_unknown_weights: bool,
    hub_url: str,
    python: str,
    progress: _Progress = None,
    log: _Log = None,
    stop: Stopper | None = None,
) -> dict[str, Any]: ...
def import_files(
    inputs: Sequence[Path], *, plda: Path | None, models: Path | None, allow_unknown_weights: bool
) -> dict[str, Any]: ...
def stop_all() -> None: ...
def forget_jobs() -> None: ...

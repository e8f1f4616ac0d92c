"""A double of pyannote.audio's speaker diarization: one changed import switches to diarist.

>>> from diarist.compat.pyannote import Pipeline   # was: from pyannote.audio import Pipeline
>>> pipeline = Pipeline.from_pretrained("pyannote/speaker-diarization-community-1", token=token)
>>> output = pipeline("meeting.wav", num_speakers=2)
>>> for turn, _, speaker in output.speaker_diarization.itertracks(yield_label=True): ...

Needs pyannote.core (for its Annotation) and NumPy, but neither pyannote.audio nor torch.
docs/python.md tells where it differs.
"""

import os
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from .. import _audio
from .._errors import BadModelError, InvalidArgumentError, NotFoundError, UnsupportedError
from .._models import list_models, pull
from .._pipeline import Pipeline as _Pipeline
from .._results import Diarization

_PRESETS = {
    "pyannote/speaker-diarization-community-1": "community-1",
    "pyannote/speaker-diarization-3.1": "pyannote-3.1",
}
_OWN_PRESETS = ("open", "open-lite", "community-1", "pyannote-3.1")

# What the published configurations say; nothing else can be honoured.
_PARAMETERS: dict[str, dict[str, dict[str, Any]]] = {
    "community-1": {"clustering": {"threshold": 0.6, "Fa": 0.07, "Fb": 0.8}},
    "pyannote-3.1": {
        "clustering": {
            "method": "centroid",
            "min_cluster_size": 12,
            "threshold": 0.7045654963945799,
        }
    },
}


class DiarizeOutput:
    """What the pipeline returns, under the names of pyannote.audio 4.

    What it has no attribute for is asked of ``speaker_diarization``, so code written for
    pyannote.audio 3, where the Annotation itself was the result, goes on to work:
    ``output.itertracks(yield_label=True)``.
    """

    def __init__(self, result: Diarization) -> None:
        import numpy

        #: diarist's own result.
        self.diarization = result
        self.speaker_diarization = result.to_annotation()
        self.exclusive_speaker_diarization = result.to_annotation(exclusive=True)
        embeddings = result.embeddings
        if embeddings is None:
            embeddings = numpy.zeros((0, 0), numpy.float32)
        #: [speakers, D], in the order of ``speaker_diarization.labels()``.
        self.speaker_embeddings = embeddings

    def serialize(self) -> dict[str, list[dict[str, Any]]]:
        """Turns as plain values, rounded to milliseconds."""

        def plain(turns: Any) -> list[dict[str, Any]]:
            return [
                {"start": round(t.start, 3), "end": round(t.end, 3), "speaker": t.speaker}
                for t in turns
            ]

        return {
            "diarization": plain(self.diarization.turns),
            "exclusive_diarization": plain(self.diarization.exclusive),
        }

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "speaker_diarization":
            raise AttributeError(name)
        return getattr(self.speaker_diarization, name)

    def __iter__(self) -> Any:
        return iter(self.speaker_diarization)

    def __len__(self) -> int:
        return len(self.speaker_diarization)

    def __bool__(self) -> bool:
        return bool(self.speaker_diarization)

    def __str__(self) -> str:
        return str(self.speaker_diarization)

    def _repr_html_(self) -> str:
        return self.diarization._repr_html_()


class Pipeline:
    """The double of pyannote.audio's SpeakerDiarization; made by from_pretrained()."""

    def __init__(self, preset: str, **options: Any) -> None:
        self._preset = preset
        self._options = options
        self._min_duration_off = 0.0
        self._legacy = bool(options.pop("legacy", False))
        self._reference = bool(options.pop("reference", False))
        self._device = str(options.pop("device", "cpu"))
        self._pipeline = _Pipeline(preset, device=self._device, **options)

    @classmethod
    def from_pretrained(
        cls,
        checkpoint: Any,
        revision: str | None = None,
        hparams_file: Any = None,
        subfolder: str | None = None,
        token: str | bool | None = None,
        cache_dir: "str | os.PathLike[str] | None" = None,
        use_auth_token: str | bool | None = None,
        *,
        preset: str | None = None,
        models: "str | os.PathLike[str] | None" = None,
        legacy: bool = False,
        reference: bool = False,
        **options: Any,
    ) -> "Pipeline":
        """Loads the models behind a name of the hub; they are fetched once if they are missing.

        :param checkpoint: "pyannote/speaker-diarization-community-1" or "...-3.1", or the name of
            a preset of diarist ("open" needs no account and has other networks).
        :param token: of the model hub, as is ``use_auth_token``.
        :param cache_dir: folder of the models, as is ``models`` (wins); None: diarist's own.
        :param preset: take this preset instead, whatever the name says.
        :param legacy: return the Annotation alone.
        :param reference: print exactly what the reference pipeline prints.
        :param options: those of diarist.Pipeline, e.g. ``threads``.
        :raises UnsupportedError: a revision, a parameter file, a subfolder or another pipeline.
        """
        if revision is not None or hparams_file is not None or subfolder is not None:
            raise UnsupportedError(
                "revision, hparams_file and subfolder can't be honoured: diarist has the published "
                "pipelines and their published parameters"
            )
        name = str(checkpoint) if isinstance(checkpoint, (str, os.PathLike)) else ""
        chosen = preset or _PRESETS.get(name) or (name if name in _OWN_PRESETS else None)
        if chosen is None:
            raise UnsupportedError(
                f"{checkpoint!r} is no pipeline that diarist knows; there are "
                + ", ".join([*_PRESETS, *_OWN_PRESETS])
            )
        folder = models if models is not None else cache_dir
        if preset is None and name in _PRESETS and not _is_installed(chosen, folder):
            _fetch(folder, token or use_auth_token)
        return cls(chosen, models=folder, legacy=legacy, reference=reference, **options)

    def to(self, device: Any) -> "Pipeline":
        """Moves to a torch.device or its name: "cpu", "cuda", "cuda:1"."""
        name = str(device)
        if not name.startswith(("cpu", "cuda")):
            raise UnsupportedError(f"diarist has no device '{name}'; there are cpu and cuda")
        name = {"cuda": "cuda:0", "cpu:0": "cpu"}.get(name, name)
        if name != self._device:
            self._pipeline = _Pipeline(self._preset, device=name, **self._options)
            self._device = name
        return self

    @property
    def device(self) -> str:
        """Name of the device in use."""
        return self._device

    def instantiate(self, parameters: Mapping[str, Any]) -> "Pipeline":
        """Takes ``segmentation.min_duration_off``, and what the published configuration says.

        :raises UnsupportedError: another value.
        """
        published = _PARAMETERS.get(self._preset, {})
        for section, values in parameters.items():
            for key, value in values.items():
                if (section, key) == ("segmentation", "min_duration_off"):
                    self._min_duration_off = float(value)
                elif published.get(section, {}).get(key) != value:
                    raise UnsupportedError(
                        f"{section}.{key} = {value!r} can't be honoured: diarist's clustering has "
                        "the published parameters"
                    )
        return self

    def __call__(
        self,
        file: Any,
        num_speakers: int | None = None,
        min_speakers: int | None = None,
        max_speakers: int | None = None,
        hook: Callable[..., Any] | None = None,
        return_embeddings: bool = False,
        **unknown: Any,
    ) -> Any:
        """Diarizes a file.

        :param file: a path, an open binary file, or a mapping with ``audio`` (either) or
            ``waveform`` (an array or tensor [channels, samples]) and ``sample_rate``; ``uri`` and
            ``channel`` (from 0) if wanted.
        :param num_speakers: wins over ``min_speakers`` and ``max_speakers``.
        :param hook: called as hook(step, artifact, file=file, total=, completed=).
        :param return_embeddings: return (Annotation, embeddings), as pyannote.audio 3 did.
        :return: a DiarizeOutput; with ``legacy`` the Annotation.
        """
        if unknown:
            warnings.warn(
                "Ignoring unexpected keyword arguments: " + ", ".join(unknown), stacklevel=2
            )
        if num_speakers is not None:
            min_speakers = max_speakers = None
        audio, sample_rate, uri, channel = _source(file)
        mapping = file if isinstance(file, Mapping) else {"audio": file, "uri": uri}
        progress = None if hook is None else _progress_for(hook, mapping)
        result = self._pipeline(
            audio,
            sample_rate,
            channels_first=True if sample_rate is not None else None,
            num_speakers=num_speakers,
            min_speakers=min_speakers,
            max_speakers=max_speakers,
            reference=self._reference,
            keep_stages=hook is not None,
            channel=channel,
            progress=progress,
        )
        if self._min_duration_off > 0:
            result = result.shaped(min_duration_off=self._min_duration_off)
        result.uri = uri
        for sentence in result.warnings:
            warnings.warn(sentence, stacklevel=2)
        output = DiarizeOutput(result)
        if hook is not None:
            _show_artifacts(hook, mapping, result)
        if return_embeddings:
            return output.speaker_diarization, output.speaker_embeddings
        return output.speaker_diarization if self._legacy else output

    apply = __call__

    def __reduce__(self) -> NoReturn:
        raise TypeError("a pipeline can't be pickled or copied; make one in every process")


def _is_installed(preset: str, folder: Any) -> bool:
    try:
        return any(preset in bundle["presets"] for bundle in list_models(folder))
    except NotFoundError:
        return False


def _fetch(folder: Any, token: Any) -> None:
    """Fetches what both published pipelines are made of; the token travels in the environment."""
    before = os.environ.get("DIARIST_HUB_TOKEN")
    if isinstance(token, str):
        os.environ["DIARIST_HUB_TOKEN"] = token
    try:
        report = pull("community-1", models=folder)
    finally:
        if isinstance(token, str):
            if before is None:
                del os.environ["DIARIST_HUB_TOKEN"]
            else:
                os.environ["DIARIST_HUB_TOKEN"] = before
    if not report["ok"]:
        raise BadModelError(report["problem"])


def _source(file: Any) -> tuple[Any, int | None, str, int]:
    """Audio, rate (of samples only), uri, and channel from 1 (0: all)."""
    if not isinstance(file, Mapping):
        uri = Path(file).stem if _audio.is_path(file) else "stream"
        return file, None, uri, 0
    channel = file.get("channel")
    number = 0 if channel is None else int(channel) + 1
    if "waveform" in file:
        if "sample_rate" not in file:
            raise InvalidArgumentError("a file with a 'waveform' needs its 'sample_rate'")
        waveform = _audio.host_array(file["waveform"])
        if getattr(waveform, "ndim", 2) != 2:
            raise InvalidArgumentError("'waveform' must have the shape [channels, samples]")
        if number:
            waveform, number = waveform[number - 1 : number], 0
        return waveform, int(file["sample_rate"]), str(file.get("uri", "waveform")), number
    if "audio" not in file:
        raise InvalidArgumentError("a file needs 'audio', or 'waveform' and 'sample_rate'")
    audio = file["audio"]
    uri = Path(audio).stem if _audio.is_path(audio) else "stream"
    return audio, None, str(file.get("uri", uri)), number


def _progress_for(hook: Callable[..., Any], file: Any) -> Callable[[str, float, float], None]:
    def show(stage: str, done: float, total: float) -> None:
        if stage == "networks" and total > 0:
            hook("segmentation", None, file=file, total=round(total), completed=round(done))

    return show


def _show_artifacts(hook: Callable[..., Any], file: Any, result: Diarization) -> None:
    """Steps and arrays under the names that pyannote.audio gives them."""
    from pyannote.core import SlidingWindow, SlidingWindowFeature

    stages = result.stages
    if stages is None:
        return
    windows = SlidingWindow(start=0.0, duration=10.0, step=1.0)
    frames = SlidingWindow(start=0.0, duration=0.0619375, step=0.016875)
    hook(
        "segmentation",
        SlidingWindowFeature(stages.segmentations.astype("float32"), windows),
        file=file,
    )
    hook("speaker_counting", SlidingWindowFeature(stages.counts[:, None], frames), file=file)
    hook("embeddings", stages.embeddings, file=file)
    hook("discrete_diarization", None, file=file)

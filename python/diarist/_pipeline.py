"""The pipeline: from recordings to who spoke when."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn, Unpack

from . import _audio, _engine
from ._audio import Audio
from ._errors import Error, InvalidArgumentError, NotFoundError
from ._options import RunKeywords, auto_device, run_options
from ._progress import Bar, LogCallback, ProgressCallback, bar_of
from ._results import Diarization
from ._stream import Stream


class Outcome(NamedTuple):
    """What became of one of many recordings."""

    #: In the list given, from 0.
    number: int
    #: As it was given.
    audio: Audio
    result: Diarization | None
    error: Error | None

    def get(self) -> Diarization:
        """The result; raises the error where there is none."""
        if self.result is None:
            raise self.error or NotFoundError(f"nothing came of {self.audio}")
        return self.result


class Pipeline:
    """Immutable weights and options on one device or several GPUs.

    Make one and keep it: it may be called from many threads. The same audio gives the same bytes
    whatever the number of threads, the batch or earlier runs.

    :param preset: "open", "open-lite", "community-1" or "pyannote-3.1"; None: the best installed.
    :param device: "auto" (every GPU this build can use, else the processor), "cpu", "cuda",
        "cuda:0", "cuda:0,1" or "reference".
    :param precision: "exact", "fast" or "tf32".
    :param threads: worker threads; 0: all processors this process may use.
    :param batch: windows per batch; 0: what suits the device. Never changes a result.
    :param models: folder with the models; None: $DIARIST_MODELS, then the user's cache.
    :param max_gpu_memory: most bytes to take of each GPU; 0: nine tenths of what is free.
    :param target: an instruction set or family of kernels by name; "": the best.
    :param allow_unknown_weights: accept weights whose fingerprint is not known.
    :raises BadModelError, NotFoundError, InvalidArgumentError, UnsupportedError:
    """

    def __init__(
        self,
        preset: str | None = None,
        *,
        device: str = "auto",
        precision: str = "exact",
        threads: int = 0,
        batch: int = 0,
        models: "str | os.PathLike[str] | None" = None,
        max_gpu_memory: int = 0,
        target: str = "",
        allow_unknown_weights: bool = False,
    ) -> None:
        self._device = auto_device() if device == "auto" else device
        self._engine = _engine.Engine(
            preset=preset or "",
            models=Path(models) if models is not None else None,
            device=self._device,
            precision=precision,
            threads=threads,
            batch=batch,
            max_gpu_memory=max_gpu_memory,
            target=target,
            allow_unknown_weights=allow_unknown_weights,
        )

    @property
    def preset(self) -> str:
        """Name of the preset in use."""
        return self._engine.preset

    @property
    def device(self) -> str:
        """The device in use, "auto" being resolved."""
        return self._device

    def __call__(
        self,
        audio: Audio,
        sample_rate: int | None = None,
        *,
        channels_first: bool | None = None,
        progress: ProgressCallback | bool | None = None,
        log: LogCallback | None = None,
        stop: "_engine.Stopper | None" = None,
        **options: Unpack[RunKeywords],
    ) -> Diarization:
        """Diarizes one recording. Other Python threads go on meanwhile; Ctrl-C ends it.

        :param audio: a path; the bytes of a file or an open binary file; or an array (NumPy,
            torch, anything with DLPack or a buffer) of shape [samples], [channels, samples] or
            [samples, channels], float in [-1, 1] or int16.
        :param sample_rate: of an array, in Hz.
        :param channels_first: which side of a matrix is the channels; None: the shorter one.
        :param progress: called as progress(stage, done_seconds, total_seconds), by this thread;
            True: a bar of tqdm.
        :param log: called as log(level, text), level being "debug", "info" or "warning".
        :param stop: an object whose stop() ends the run from another thread.
        :param num_speakers: exact number of speakers; or ``min_speakers``, ``max_speakers``.
        :param step: seconds between windows: 1, 2 or 5.
        :param reference: print exactly what the reference pipeline prints.
        :param keep_stages: fill ``stages`` of the result.
        :param keep_waveform: fill ``waveform`` of the result.
        :param raw: what samples without a header are, e.g. "s16le:16000:1"; files and bytes.
        :param track: sound track of a container, from 1.
        :param channel: use this channel only, from 1.
        :param split_channels: diarize left and right apart.
        :param start: second where to begin, ``end`` where to end; times stay those of the whole.
        :param container_clock: place sound where the container's time stamps say.
        :raises Error: one of its subclasses; CancelledError after stop().
        """
        made = run_options(options)
        with bar_of(progress, _name(audio)) as show:
            return self._run(audio, sample_rate, channels_first, made, show, log, stop)

    def _run(
        self,
        audio: Audio,
        sample_rate: int | None,
        channels_first: bool | None,
        options: "_engine.RunOptions",
        progress: ProgressCallback | None,
        log: LogCallback | None,
        stop: "_engine.Stopper | None",
    ) -> Diarization:
        if _audio.is_path(audio) or _audio.is_encoded(audio):
            if sample_rate is not None or channels_first is not None:
                raise InvalidArgumentError(
                    "files say their own sample rate and channels; sample_rate and channels_first "
                    "are for arrays (raw='s16le:16000:1' tells what samples without a header are)"
                )
            if _audio.is_path(audio):
                return Diarization(self._engine.run_file(Path(audio), options, progress, log, stop))
            with _audio.as_file(_audio.encoded_bytes(audio)) as path:
                result = self._engine.run_file(path, options, progress, log, stop)
            result.uri = ""
            return Diarization(result)
        samples = _audio.host_array(audio)
        rate = _audio.rate_of(sample_rate)
        return Diarization(
            self._engine.run_samples(samples, rate, channels_first, options, progress, log, stop)
        )

    def map(
        self,
        audios: Iterable[Audio],
        sample_rate: int | None = None,
        *,
        channels_first: bool | None = None,
        progress: bool = False,
        log: LogCallback | None = None,
        stop: "_engine.Stopper | None" = None,
        **options: Unpack[RunKeywords],
    ) -> Iterator[Outcome]:
        """Diarizes many recordings; gives their outcomes in order, as soon as they are there.

        Paths are worked on together: on GPUs decoding, networks and clustering of different files
        overlap, and the next ones are begun while you look at the last. Where something else than
        paths is among them, one follows the other. One that fails has an error as its outcome and
        stops nothing. The work begins with the first outcome asked for and ends when the generator
        is closed.

        :param progress: True: a bar of tqdm that counts recordings.
        """
        if isinstance(audios, (str, bytes, os.PathLike)):
            raise InvalidArgumentError("map() takes several recordings; call the pipeline for one")
        return self._outcomes(
            list(audios), sample_rate, channels_first, progress, log, stop, run_options(options)
        )

    def _outcomes(
        self,
        audios: list[Audio],
        sample_rate: int | None,
        channels_first: bool | None,
        progress: bool,
        log: LogCallback | None,
        stop: "_engine.Stopper | None",
        options: "_engine.RunOptions",
    ) -> Iterator[Outcome]:
        with Bar(len(audios), "recordings") if progress else Bar.none() as bar:
            if all(_audio.is_path(audio) for audio in audios) and sample_rate is None:
                paths = [Path(audio) for audio in audios]
                run = self._engine.run_files(paths, options, None, log, stop)
                while (done := run.next()) is not None:
                    number, result, error = done
                    bar.advance(1)
                    found = Diarization(result) if result is not None else None
                    yield Outcome(number, audios[number], found, error)
                return
            for number, audio in enumerate(audios):
                try:
                    rate = (
                        None if _audio.is_path(audio) or _audio.is_encoded(audio) else sample_rate
                    )
                    first = channels_first if rate is not None else None
                    found = self._run(audio, rate, first, options, None, log, stop)
                except Error as error:
                    if stop is not None and stop.stopped:
                        raise
                    outcome = Outcome(number, audio, None, error)
                else:
                    outcome = Outcome(number, audio, found, None)
                bar.advance(1)
                yield outcome

    def stream(
        self, sample_rate: int = 16000, channels: int = 1, **options: Unpack[RunKeywords]
    ) -> Stream:
        """A recording in pieces: push what arrives, ask who has spoken so far, finish.

        :param sample_rate: of the samples that will be pushed, in Hz.
        :param channels: of them; mixed to mono by their mean.
        :param options: as of a run. ``split_channels`` is an error.
        :raises InvalidArgumentError, UnsupportedError:
        """
        return Stream(self._engine, _audio.rate_of(sample_rate), channels, run_options(options))

    async def arun(
        self,
        audio: Audio,
        sample_rate: int | None = None,
        *,
        channels_first: bool | None = None,
        progress: ProgressCallback | bool | None = None,
        log: LogCallback | None = None,
        **options: Unpack[RunKeywords],
    ) -> Diarization:
        """``await pipeline.arun(...)``: the same on a thread of the loop's executor.

        Callbacks are called by the loop's thread. Cancelling the task ends the run.
        """
        from ._asyncio import run_in_thread

        return await run_in_thread(
            self, audio, sample_rate, channels_first, progress, log, run_options(options)
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a diarist.Pipeline can't be pickled or copied; make one in every process "
            "(threads may share one)"
        )

    def __repr__(self) -> str:
        return f"<diarist.Pipeline {self.preset!r} on {self.device!r}>"


def _name(audio: Audio) -> str:
    return Path(audio).name if _audio.is_path(audio) else "recording"

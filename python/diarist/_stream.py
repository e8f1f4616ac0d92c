"""Who spoke when, of audio that is still arriving."""

import atexit
import weakref
from types import TracebackType
from typing import Any, NoReturn

from . import _audio, _engine
from ._errors import InvalidArgumentError
from ._progress import LogCallback, ProgressCallback, bar_of
from ._results import Diarization


class Stream:
    """One recording in pieces, made by :meth:`Pipeline.stream`.

    >>> with pipeline.stream(sample_rate=48000) as stream:
    ...     for samples in microphone:
    ...         stream.push(samples)
    ...     result = stream.finish()

    The networks work on a thread of the stream's own while audio arrives. :meth:`finish` gives the
    bytes that the pipeline gives for the same samples, whatever the pieces were. It may be used
    from many threads; other Python threads go on while it works. Leaving ``with`` closes it: what
    is under way is stopped.
    """

    def __init__(
        self,
        engine: "_engine.Engine",
        sample_rate: int,
        channels: int,
        options: "_engine.RunOptions",
    ) -> None:
        self._live = _engine.LiveStream(engine, sample_rate, channels, options)
        self._sample_rate = sample_rate
        self._channels = channels
        _open.add(self)

    @property
    def sample_rate(self) -> int:
        """In Hz."""
        return self._sample_rate

    @property
    def channels(self) -> int:
        """Of the samples pushed."""
        return self._channels

    @property
    def heard(self) -> float:
        """Seconds pushed so far."""
        return self._live.heard

    @property
    def seen(self) -> float:
        """Seconds to the end of the last window that the networks are through with."""
        return self._live.seen

    @property
    def closed(self) -> bool:
        """True after close()."""
        return self._live.closed

    def push(
        self,
        samples: Any,
        *,
        channels_first: bool | None = None,
        stop: "_engine.Stopper | None" = None,
    ) -> None:
        """Takes a copy of the next samples. Waits only while more than a minute is unseen.

        :param samples: an array of float in [-1, 1] or int16: [samples], or with several channels
            [samples, channels] or [channels, samples]. What a socket gives becomes one with
            ``numpy.frombuffer(data, "int16")``.
        :param channels_first: which side is the channels where both have as many elements.
        :raises InvalidArgumentError: also after finish() and close().
        :raises CancelledError: after stop(), while it waits; a part of the samples is in.
        """
        array = _audio.host_array(samples)
        if channels_first is None:
            channels_first = self._channels_first(getattr(array, "shape", None))
        self._live.push(array, channels_first, stop)

    def _channels_first(self, shape: Any) -> bool | None:
        if shape is None or len(shape) != 2:
            return None
        first, last = shape[0] == self._channels, shape[1] == self._channels
        if first and last and self._channels > 1:
            raise InvalidArgumentError(
                f"an array of shape {tuple(shape)} does not tell which side is the channels; say "
                "channels_first=True or False"
            )
        if not first and not last:
            raise InvalidArgumentError(
                f"an array of shape {tuple(shape)} has not the {self._channels} channels of the "
                "stream"
            )
        return bool(first)

    def snapshot(
        self,
        *,
        progress: ProgressCallback | None = None,
        stop: "_engine.Stopper | None" = None,
    ) -> Diarization:
        """Who has spoken so far: what the pipeline says of the samples pushed before this call.

        Names of speakers are kept from one snapshot to the next; finish() numbers them anew, by
        their first turns. :raises CancelledError: after stop(); the stream goes on.
        """
        return Diarization(self._live.snapshot(progress, stop))

    def finish(
        self,
        *,
        progress: ProgressCallback | bool | None = None,
        log: LogCallback | None = None,
        stop: "_engine.Stopper | None" = None,
    ) -> Diarization:
        """The result. No more samples may be pushed; after it, only close() is of use.

        :raises CancelledError: after stop(); it may be called again.
        """
        with bar_of(progress, "stream") as show:
            return Diarization(self._live.finish(show, log, stop))

    def close(self) -> None:
        """Stops what is under way and frees everything. Once is enough."""
        self._live.close()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a diarist.Stream can't be pickled or copied")

    def __repr__(self) -> str:
        if self.closed:
            return "<diarist.Stream, closed>"
        return f"<diarist.Stream of {self.sample_rate} Hz, {self.heard:.1f} s heard>"


#: Their threads must end before the interpreter does.
_open: "weakref.WeakSet[Stream]" = weakref.WeakSet()


def _close_all() -> None:
    for stream in list(_open):
        stream.close()


atexit.register(_close_all)

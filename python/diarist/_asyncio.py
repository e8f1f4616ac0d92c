"""Runs for an event loop. Imported by the first of them: asyncio takes its time."""

import asyncio
from typing import TYPE_CHECKING, Any

from . import _engine
from ._audio import Audio
from ._progress import bar_of
from ._results import Diarization

if TYPE_CHECKING:
    from ._pipeline import Pipeline


async def run_in_thread(
    pipeline: "Pipeline",
    audio: Audio,
    sample_rate: int | None,
    channels_first: bool | None,
    progress: Any,
    log: Any,
    options: "_engine.RunOptions",
) -> Diarization:
    """A run on a thread of the loop's executor that ends with the task."""
    loop = asyncio.get_running_loop()
    stop = _engine.Stopper()
    failed: list[BaseException] = []

    def on_loop(callback: Any) -> Any:
        if callback is None:
            return None

        def call(*arguments: object) -> None:
            try:
                callback(*arguments)
            except BaseException as error:
                failed.append(error)
                stop.stop()

        return lambda *arguments: loop.call_soon_threadsafe(call, *arguments)

    with bar_of(progress, "recording") as show:
        work = loop.run_in_executor(
            None,
            pipeline._run,
            audio,
            sample_rate,
            channels_first,
            options,
            on_loop(show),
            on_loop(log),
            stop,
        )
        try:
            result = await asyncio.shield(work)
        except asyncio.CancelledError:
            stop.stop()
            await asyncio.wait([work])
            work.exception()  # looked at, so that nobody complains about it
            raise
        except Exception:
            if failed:
                raise failed[0] from None
            raise
        if failed:
            raise failed[0]
        return result

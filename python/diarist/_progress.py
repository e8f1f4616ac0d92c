"""Progress as a callback or as a bar of tqdm."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ._errors import UnsupportedError

#: Called with "debug", "info" or "warning", and a line.
LogCallback = Callable[[str, str], object]
#: Called with the stage's name, seconds of audio done, and seconds in all (0: not known).
ProgressCallback = Callable[[str, float, float], object]


class Bar:
    """A bar of tqdm, or nothing."""

    def __init__(self, total: float | None, unit: str, label: str = "") -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            raise UnsupportedError("progress=True needs tqdm: pip install tqdm") from None
        self._bar: Any = tqdm(total=total, unit=unit, desc=label or None)
        self._done = 0.0
        self._stage = ""

    @classmethod
    def none(cls) -> "Bar":
        """One that shows nothing."""
        bar = cls.__new__(cls)
        bar._bar = None
        return bar

    def advance(self, amount: float) -> None:
        """So much more is done."""
        if self._bar is not None:
            self._bar.update(amount)

    def progress(self, stage: str, done: float, total: float) -> None:
        """Shows a snapshot of a run; the first stage moves the bar, later ones are named."""
        self._bar.set_postfix_str(stage, refresh=False)
        self._stage = self._stage or stage
        if stage != self._stage:
            return
        self._bar.total = round(total, 1) or None
        self._bar.update(round(done - self._done, 1))
        self._done = done

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()


@contextmanager
def bar_of(
    progress: ProgressCallback | bool | None, label: str
) -> Iterator[ProgressCallback | None]:
    """The callback behind what a caller gave as `progress`."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        with Bar(None, " s", label) as bar:
            yield bar.progress
    else:
        yield progress

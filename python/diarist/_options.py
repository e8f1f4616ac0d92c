"""Keywords of runs."""

from typing import Any, TypedDict

from . import _engine
from ._errors import InvalidArgumentError


class RunKeywords(TypedDict, total=False):
    """Keywords of a run; Pipeline.__call__ explains them."""

    num_speakers: int | None
    min_speakers: int | None
    max_speakers: int | None
    step: int
    reference: bool
    keep_stages: bool
    keep_waveform: bool
    raw: str | None
    track: int
    channel: int
    split_channels: bool
    start: float
    end: float | None
    container_clock: bool


def run_options(keywords: Any) -> "_engine.RunOptions":
    """The engine's options; a keyword it does not know is a TypeError with the right ones."""
    unknown = set(keywords) - set(RunKeywords.__annotations__)
    if unknown:
        raise TypeError(
            f"there is no option {sorted(unknown)[0]!r}; there are "
            + ", ".join(RunKeywords.__annotations__)
        )
    for name in ("num_speakers", "min_speakers", "max_speakers", "step", "track", "channel"):
        value = keywords.get(name)
        if value is not None and (isinstance(value, bool) or not hasattr(value, "__index__")):
            raise InvalidArgumentError(f"{name} is {value!r}; give a whole number")
    given = {
        name: value.__index__()
        if hasattr(value, "__index__") and type(value) is not bool
        else value
        for name, value in keywords.items()
    }
    return _engine.RunOptions(**given)


def auto_device() -> str:
    """ "cuda" where this build can use a GPU of this machine, else "cpu"."""
    devices = _engine.build_info()["devices"]
    return "cuda" if any(device.startswith("cuda") for device in devices) else "cpu"

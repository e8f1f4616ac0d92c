"""What may be handed over as audio, and how it reaches the engine."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ._errors import Error, InvalidArgumentError

#: A path; the bytes of an encoded file, or something that reads them; or an array of samples.
Audio = Any


def is_path(audio: object) -> bool:
    """A name of a file, as text or as an object."""
    return isinstance(audio, (str, os.PathLike))


def is_encoded(audio: object) -> bool:
    """The bytes of a file, or an open one."""
    if isinstance(audio, memoryview):
        return audio.format in ("B", "b", "c") and audio.ndim == 1
    return isinstance(audio, (bytes, bytearray)) or callable(getattr(audio, "read", None))


def encoded_bytes(audio: Any) -> bytes | bytearray | memoryview:
    """The bytes behind what is_encoded() takes."""
    if isinstance(audio, (bytes, bytearray, memoryview)):
        return audio
    content = audio.read()
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise InvalidArgumentError("an open file gives text; open it with mode 'rb'")
    return content


def host_array(audio: Any) -> Any:
    """An array the engine can look at: on the host, without gradients, no half precision."""
    if isinstance(audio, (list, tuple)):
        raise InvalidArgumentError(
            "samples in a %s; give an array, e.g. numpy.asarray(samples, 'float32')"
            % type(audio).__name__
        )
    if hasattr(audio, "detach") and hasattr(audio, "cpu"):  # torch
        audio = audio.detach().cpu()
        if str(audio.dtype) in ("torch.float16", "torch.bfloat16"):
            audio = audio.float()
    elif str(getattr(audio, "dtype", "")) == "float16":
        audio = audio.astype("float32")
    if not (hasattr(audio, "__dlpack__") or hasattr(audio, "__array_interface__")):
        try:
            memoryview(audio)
        except TypeError:
            raise InvalidArgumentError(
                "audio of type %s; give a path, the bytes of a file, or an array of samples"
                % type(audio).__name__
            ) from None
    return audio


def rate_of(sample_rate: Any) -> int:
    """A sample rate for an array; text, fractions and nothing are errors."""
    if sample_rate is None:
        raise InvalidArgumentError("an array does not say its sample rate; give sample_rate=...")
    rate = int(sample_rate) if isinstance(sample_rate, float) else sample_rate
    try:
        rate = rate.__index__()
    except AttributeError:
        rate = None
    if rate is None or rate != sample_rate or not 0 < rate < 2**31:
        raise InvalidArgumentError(
            f"the sample rate is {sample_rate!r}; give a whole number of Hz, e.g. 16000"
        )
    return int(rate)


@contextmanager
def as_file(content: bytes | bytearray | memoryview) -> Iterator[Path]:
    """A path under which the bytes of a file can be read for a while."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("diarist", os.MFD_CLOEXEC)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            path = Path(f"/proc/self/fd/{file.fileno()}")
            with _named(path):
                yield path
        return
    with tempfile.NamedTemporaryFile(prefix="diarist-") as named:
        named.write(content)
        named.flush()
        with _named(Path(named.name)):
            yield Path(named.name)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Messages speak of the bytes given, not of the path that stands for them."""
    try:
        yield
    except Error as error:
        text = str(error).replace(str(path), "the bytes given")
        raise type(error)(text) from None

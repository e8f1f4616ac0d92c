"""Exceptions of diarist: one class per code of the library."""


class Error(Exception):
    """What went wrong, in one line that names the object and the cure.

    ``code`` is the word that logs and JSON use: "bad_file", "not_found", ...
    """

    code = "internal"


class InvalidArgumentError(Error, ValueError):
    """An option or argument can't be honoured; change the call."""

    code = "invalid_argument"


class NotFoundError(Error, FileNotFoundError):
    """A file, folder or device does not exist."""

    code = "not_found"


class BadFileError(Error, ValueError):
    """A file exists but can't be used: damaged, truncated, not audio."""

    code = "bad_file"


class BadModelError(Error):
    """A model is missing, damaged, or not the one it claims to be."""

    code = "bad_model"


class UnsupportedError(Error, NotImplementedError):
    """Understood, but this build or machine can't do it."""

    code = "unsupported"


class OutOfMemoryError(Error, MemoryError):
    """The host or the device has too little memory left."""

    code = "out_of_memory"


class DeviceLostError(Error):
    """The device stopped answering; make a new Pipeline."""

    code = "device_lost"


class CancelledError(Error):
    """The caller asked to stop."""

    code = "cancelled"


class InternalError(Error):
    """A bug in diarist; please report it."""

    code = "internal"


_BY_CODE: dict[str, type[Error]] = {
    error.code: error
    for error in (
        InvalidArgumentError,
        NotFoundError,
        BadFileError,
        BadModelError,
        UnsupportedError,
        OutOfMemoryError,
        DeviceLostError,
        CancelledError,
        InternalError,
    )
}


def error_of(code: str, text: str) -> Error:
    """The exception for a code of the library; the engine calls this."""
    return _BY_CODE.get(code, InternalError)(text)

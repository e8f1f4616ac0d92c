"""Speaker embeddings by themselves."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from . import _audio, _engine
from ._audio import Audio
from ._errors import InvalidArgumentError
from ._options import auto_device, run_options

if TYPE_CHECKING:
    import numpy
    import numpy.typing


class Embedder:
    """One embedding network on one device (docs/embedding.md). Threads may share it.

    :param preset: the network of that preset; None: of the best one installed.
    :param weights: a bundle's folder or a weight file instead.
    :param device: "cpu", "cuda", "cuda:N", "reference"; "auto": a GPU where there is one and the
        network runs on it (ResNet34).
    :param precision: None: fast on GPUs, exact elsewhere.
    :raises BadModelError, NotFoundError, InvalidArgumentError, UnsupportedError:
    """

    def __init__(
        self,
        preset: str | None = None,
        *,
        weights: "str | os.PathLike[str] | None" = None,
        models: "str | os.PathLike[str] | None" = None,
        device: str = "cpu",
        precision: str | None = None,
        threads: int = 0,
        batch: int = 0,
        allow_unknown_weights: bool = False,
    ) -> None:
        self._engine = _engine.Embedder(
            preset=preset or "",
            models=Path(models) if models is not None else None,
            weights=Path(weights) if weights is not None else None,
            device=auto_device() if device == "auto" else device,
            precision=precision,
            threads=threads,
            batch=batch,
            allow_unknown_weights=allow_unknown_weights,
        )

    @property
    def dim(self) -> int:
        """Numbers of an embedding."""
        return self._engine.dim

    @property
    def info(self) -> dict[str, Any]:
        """Network, weights, device, kernels and the choice for every layer."""
        return self._engine.info

    def __call__(
        self,
        audio: Audio,
        sample_rate: int | None = None,
        *,
        spans: "Iterable[tuple[float, float]] | Iterable[Any] | None" = None,
        channels_first: bool | None = None,
        log: Any = None,
        stop: "_engine.Stopper | None" = None,
    ) -> "numpy.typing.NDArray[numpy.float32]":
        """Vectors [spans, D]; without spans one for the whole recording, [1, D].

        :param spans: tuples that begin with (start, end) in seconds, e.g. the turns of a result.
        :raises InvalidArgumentError: a span is empty, outside, or under 0.25 s.
        """
        wanted = [] if spans is None else [(float(span[0]), float(span[1])) for span in spans]
        if spans is not None and not wanted:
            raise InvalidArgumentError("spans is empty; leave it out for the whole recording")
        options = run_options({})
        if _audio.is_path(audio):
            return self._engine.embed_file(Path(audio), wanted, options, log, stop)
        if _audio.is_encoded(audio):
            with _audio.as_file(_audio.encoded_bytes(audio)) as path:
                return self._engine.embed_file(path, wanted, options, log, stop)
        samples = _audio.host_array(audio)
        rate = _audio.rate_of(sample_rate)
        return self._engine.embed_samples(samples, rate, channels_first, wanted, log, stop)

    def features(
        self, samples: Audio, sample_rate: int, *, piece: bool = False
    ) -> "numpy.typing.NDArray[numpy.float32]":
        """Log-mel rows [998, 80] of at most 10 s, mean removed over all rows or (piece) its own."""
        array = _audio.host_array(samples)
        return self._engine.features(array, _audio.rate_of(sample_rate), None, piece)

    def forward(
        self, features: Any, masks: Any, *, stop: "_engine.Stopper | None" = None
    ) -> "numpy.typing.NDArray[numpy.float32]":
        """ResNet34 on [n, 998, 80] rows and [n*3, 589] masks, float32: vectors [n*3, D]."""
        return self._engine.forward(features, masks, stop)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a diarist.Embedder can't be pickled or copied; make one in every process")

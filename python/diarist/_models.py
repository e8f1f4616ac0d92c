"""Bundles of models."""

import sys
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

from . import _engine
from ._progress import ProgressCallback, bar_of


def pull(
    bundle: str = "open",
    *,
    models: "str | PathLike[str] | None" = None,
    hub_url: str = "",
    allow_unknown_weights: bool = False,
    progress: ProgressCallback | bool | None = None,
    stop: "_engine.Stopper | None" = None,
) -> dict[str, Any]:
    """Fetches a bundle ("open", "community-1") and installs it; an intact one is left alone.

    This and nothing else in diarist uses the network.

    :return: name, folder, presets and files of the bundle.
    :raises Error: no connection, a file that is not the one it claims to be, ...
    """
    with bar_of(progress, bundle) as show:
        return _engine.pull(
            bundle,
            models=_folder(models),
            allow_unknown_weights=allow_unknown_weights,
            hub_url=hub_url,
            python=sys.executable or "python3",
            progress=show,
            stop=stop,
        )


def import_models(
    files: "Iterable[str | PathLike[str]]",
    *,
    plda: "str | PathLike[str] | None" = None,
    models: "str | PathLike[str] | None" = None,
    allow_unknown_weights: bool = False,
) -> dict[str, Any]:
    """Installs a bundle out of local files or folders: safetensors, torch archives, ONNX, npz."""
    return _engine.import_files(
        [Path(file) for file in files],
        plda=_folder(plda),
        models=_folder(models),
        allow_unknown_weights=allow_unknown_weights,
    )


def list_models(models: "str | PathLike[str] | None" = None) -> list[dict[str, Any]]:
    """Installed bundles, without reading the weights."""
    return _engine.bundles(_folder(models), False)


def check_models(models: "str | PathLike[str] | None" = None) -> list[dict[str, Any]]:
    """The same after comparing hashes, shapes and fingerprints."""
    return _engine.bundles(_folder(models), True)


def build_info() -> dict[str, Any]:
    """Version, presets, devices and instruction sets of this build on this machine."""
    return _engine.build_info()


def _folder(path: "str | PathLike[str] | None") -> Path | None:
    return None if path is None else Path(path)

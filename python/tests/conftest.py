"""Where models, recordings and the program are; tests that lack theirs skip with a message."""

import os
import shutil
import wave
from pathlib import Path

import diarist
import numpy
import pytest

ROOT = Path(__file__).resolve().parents[2]


def _folder(variable: str, default: str) -> Path:
    folder = Path(os.environ.get(variable) or ROOT / ".cache" / default)
    if not folder.is_dir():
        pytest.skip(f"{folder} is missing; {variable} says where it is")
    return folder


@pytest.fixture(scope="session")
def models() -> Path:
    return _folder("DIARIST_TEST_MODELS", "models")


@pytest.fixture(scope="session")
def sample() -> Path:
    return _folder("DIARIST_TEST_SAMPLE", "sample") / "sample.wav"


@pytest.fixture(scope="session")
def labels(sample: Path) -> Path:
    return sample.with_suffix(".rttm")


@pytest.fixture(scope="session")
def program() -> Path:
    """The program: that of the package, or the one a build made."""
    packaged = Path(diarist.__file__).with_name("bin") / "diarist"
    if packaged.is_file():
        return packaged
    found = os.environ.get("DIARIST_TEST_PROGRAM") or shutil.which("diarist")
    if not found:
        pytest.skip("the program is missing; DIARIST_TEST_PROGRAM says where it is")
    return Path(found)


@pytest.fixture(scope="session")
def pipeline(models: Path) -> diarist.Pipeline:
    return diarist.Pipeline("open", device="cpu", models=models)


@pytest.fixture(scope="session")
def pcm(sample: Path) -> numpy.ndarray:
    """The first 12 s of the sample, int16 at 16 kHz."""
    with wave.open(str(sample)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16000, 1, 2)
        return numpy.frombuffer(file.readframes(12 * 16000), numpy.int16)


@pytest.fixture(scope="session")
def short(pcm: numpy.ndarray, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as a file."""
    path = tmp_path_factory.mktemp("audio") / "short.wav"
    write_wav(path, pcm)
    return path


@pytest.fixture(scope="session")
def expected(pipeline: diarist.Pipeline, short: Path) -> diarist.Diarization:
    result = pipeline(short)
    assert len(result.speakers) == 2
    return result


def write_wav(path: Path, pcm: numpy.ndarray, rate: int = 16000) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1 if pcm.ndim == 1 else pcm.shape[1])
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(numpy.ascontiguousarray(pcm).tobytes())

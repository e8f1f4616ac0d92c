"""The package: imports, stubs, the program, and the examples of its guide."""

import os
import re
import subprocess
import sys
import textwrap
from importlib import metadata
from pathlib import Path

import diarist
import pytest
from diarist import _engine

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/python.md", "docs/streaming.md"]


def test_the_import_is_light():
    """Neither NumPy nor asyncio, and little time (of a processor: the machine may be busy)."""
    script = """
        import sys, time
        before = time.process_time()
        import diarist
        print(time.process_time() - before)
        print([name for name in ("numpy", "asyncio", "pandas", "inspect") if name in sys.modules])
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(5)]
    assert runs[0].stdout.splitlines()[1] == "[]"
    assert min(float(run.stdout.splitlines()[0]) for run in runs) < 0.15


def test_every_name_is_exported_and_explained():
    for name in diarist.__all__:
        thing = getattr(diarist, name)
        assert thing.__doc__, name
    assert diarist.__version__ == _engine.version


def test_the_stub_names_what_the_module_has():
    stub = Path(diarist.__file__).with_name("_engine.pyi").read_text(encoding="utf-8")
    told = set(re.findall(r"^(?:class|def) (\w+)", stub, re.MULTILINE)) | {"version"}
    assert told == {name for name in dir(_engine) if not name.startswith("_")}
    for name, body in re.findall(r"^class (\w+):\n(.*?)(?=^\S|\Z)", stub, re.MULTILINE | re.DOTALL):
        told = set(re.findall(r"^    def (\w+)", body, re.MULTILINE))
        told |= set(re.findall(r"^    (\w+): ", body, re.MULTILINE))
        has = {member for member in dir(getattr(_engine, name)) if not member.startswith("_")}
        assert {member for member in told if not member.startswith("_")} == has, name


def test_types_are_strict():
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--no-incremental", "--cache-dir", os.devnull]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_package_is_typed():
    assert Path(diarist.__file__).with_name("py.typed").exists()


def installed() -> bool:
    try:
        return bool(metadata.version("diarist"))
    except metadata.PackageNotFoundError:
        return False


@pytest.mark.skipif(not installed(), reason="the package is used from a build, not installed")
def test_console_script(models, sample, pipeline):
    script = Path(sys.executable).with_name("diarist")
    for command in ([script], [sys.executable, "-m", "diarist"]):
        told = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
        assert told.stdout == f"diarist {diarist.__version__}\n"
    run = [script, "run", "--preset", "open", "--models", models, sample]
    told = subprocess.run(run, capture_output=True, check=True)
    assert told.stdout == pipeline(sample).to_rttm().encode()
    wrong = subprocess.run([script, "nonsense"], capture_output=True)
    assert wrong.returncode == 2
    assert metadata.version("diarist") == diarist.__version__


@pytest.mark.parametrize("page", PAGES)
def test_blocks_of_the_docs_run(page, models, sample, tmp_path):
    """Those of a page one after the other, in one session, as a reader would type them."""
    text = (ROOT / page).read_text(encoding="utf-8")
    pytest.importorskip("pandas")
    pytest.importorskip("pyannote.core")
    pytest.importorskip("tqdm")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert blocks
    for name in ("meeting.wav", "a.wav", "b.wav"):
        (tmp_path / name).symlink_to(sample)
    (tmp_path / "labels.rttm").symlink_to(sample.with_suffix(".rttm"))
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)],
        cwd=tmp_path,
        env={**os.environ, "DIARIST_MODELS": str(models)},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr


EXAMPLES = sorted((ROOT / "examples/python").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(example, models, sample, short, tmp_path):
    arguments = {"batch": [tmp_path, sample, short], "score": [sample.with_suffix(".rttm"), sample]}
    done = subprocess.run(
        [sys.executable, example, *map(str, arguments.get(example.stem, [sample]))],
        env={**os.environ, "DIARIST_MODELS": str(models)},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    assert "SPEAKER_00" in done.stdout or "recordings" in done.stdout or "DER" in done.stdout
    if example.stem == "batch":
        assert (tmp_path / "sample.rttm").read_text().startswith("SPEAKER sample 1 ")

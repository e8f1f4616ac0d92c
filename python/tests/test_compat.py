"""The double of pyannote.audio's pipeline, driven as WhisperX and others drive it."""

import os
from pathlib import Path

import diarist
import numpy
import pytest

core = pytest.importorskip("pyannote.core")

from diarist.compat.pyannote import DiarizeOutput, Pipeline  # noqa: E402


@pytest.fixture(scope="module")
def double(models):
    return Pipeline.from_pretrained("open", models=models)


def test_result_of_version_4(double, short, expected):
    output = double(short)
    assert isinstance(output, DiarizeOutput)
    assert isinstance(output.speaker_diarization, core.Annotation)
    assert output.speaker_diarization.uri == "short"
    turns = [
        (turn.start, turn.end, speaker)
        for turn, _, speaker in output.speaker_diarization.itertracks(yield_label=True)
    ]
    assert turns == [(t.start, t.end, t.speaker) for t in expected]
    exclusive = output.exclusive_speaker_diarization
    assert len(exclusive.get_overlap()) == 0
    assert output.speaker_diarization.labels() == ["SPEAKER_00", "SPEAKER_01"]
    assert output.speaker_embeddings.shape == (2, 192)
    told = output.serialize()
    assert told["diarization"][0]["speaker"] == expected.turns[0].speaker
    assert set(told) == {"diarization", "exclusive_diarization"}


def test_result_of_version_3(double, short):
    """WhisperX up to 3.4 asks the result itself for its tracks."""
    annotation = double(short)
    rows = [
        (segment, label, who) for segment, label, who in annotation.itertracks(yield_label=True)
    ]
    assert rows
    assert annotation.labels() == ["SPEAKER_00", "SPEAKER_01"]
    assert "SPEAKER" in annotation.to_rttm()


def test_whisperx_with_embeddings(double, pcm, expected):
    """The very call of WhisperX's DiarizationPipeline."""
    waveform = (pcm / 32768).astype(numpy.float32)
    audio = {"waveform": waveform[None, :], "sample_rate": 16000}
    diarization, embeddings = double(
        audio, num_speakers=None, min_speakers=None, max_speakers=None, return_embeddings=True
    )
    frame = [(s.start, s.end) for s, _, _ in diarization.itertracks(yield_label=True)]
    assert frame == [(t.start, t.end) for t in expected]
    by_label = {who: embeddings[i].tolist() for i, who in enumerate(diarization.labels())}
    assert len(by_label["SPEAKER_00"]) == 192
    assert diarization.uri == "waveform"


def test_a_tensor(double, pcm, expected):
    torch = pytest.importorskip("torch")
    audio = {"waveform": torch.from_numpy(pcm / 32768)[None].float(), "sample_rate": 16000}
    assert len(double(audio).speaker_diarization) == len(expected)
    assert double.to(torch.device("cpu")) is double


def test_ways_to_name_a_file(double, short, expected):
    for file in (str(short), {"audio": short}, {"audio": str(short), "uri": "other", "channel": 0}):
        output = double(file)
        assert output.diarization.turns == expected.turns
        uri = file["uri"] if isinstance(file, dict) and "uri" in file else "short"
        assert output.speaker_diarization.uri == uri
    with short.open("rb") as opened:
        assert double({"audio": opened}).diarization.turns == expected.turns
    for wrong in ({}, {"waveform": numpy.zeros((1, 10))}):
        with pytest.raises(ValueError):
            double(wrong)
    with pytest.raises(ValueError, match="channels, samples"):
        double({"waveform": numpy.zeros(10), "sample_rate": 16000})


def test_numbers_of_speakers(double, short):
    assert len(double(short, num_speakers=1).labels()) == 1
    assert len(double(short, num_speakers=2, min_speakers=5, max_speakers=3).labels()) == 2
    assert len(double(short, max_speakers=1).labels()) == 1


def test_silence(double):
    output = double({"waveform": numpy.zeros((1, 32000), "float32"), "sample_rate": 16000})
    assert len(output.speaker_diarization) == 0
    assert output.speaker_embeddings.shape[0] == 0
    assert not output


def test_hook(double, short):
    seen = []

    def hook(step, artifact, file=None, total=None, completed=None):
        seen.append((step, artifact, total, completed))
        assert file["audio"] == short

    double(short, hook=hook)
    steps = list(dict.fromkeys(step for step, *_ in seen))
    assert steps == ["segmentation", "speaker_counting", "embeddings", "discrete_diarization"]
    assert ("segmentation", 12, 12) in [
        (step, total, completed) for step, artifact, total, completed in seen if artifact is None
    ]
    segmentation = next(artifact for step, artifact, *_ in seen if artifact is not None)
    assert isinstance(segmentation, core.SlidingWindowFeature)
    assert segmentation.data.shape[1:] == (589, 3)


def test_devices(double):
    assert double.to("cpu") is double
    with pytest.raises(diarist.UnsupportedError, match="mps"):
        double.to("mps")


def test_parameters(models, short):
    pipeline = Pipeline.from_pretrained("open", models=models, legacy=True)
    pipeline.instantiate({"segmentation": {"min_duration_off": 0.5}})
    assert isinstance(pipeline(short), core.Annotation)
    with pytest.raises(diarist.UnsupportedError, match="threshold"):
        pipeline.instantiate({"clustering": {"threshold": 0.1}})
    with pytest.raises(diarist.UnsupportedError, match="revision"):
        Pipeline.from_pretrained("open", revision="main", models=models)
    with pytest.raises(diarist.UnsupportedError, match="someone/else"):
        Pipeline.from_pretrained("someone/else", models=models)


@pytest.mark.parametrize("name", ["community-1", "3.1"])
def test_published_names(name, short, standin_models):
    pipeline = Pipeline.from_pretrained(
        f"pyannote/speaker-diarization-{name}",
        use_auth_token="hf_x",
        cache_dir=standin_models,
        allow_unknown_weights=True,
    )
    output = pipeline(short)
    assert output.speaker_embeddings.shape[1] == 256
    assert len(output.labels()) == output.speaker_embeddings.shape[0]
    assert "DIARIST_HUB_TOKEN" not in os.environ


@pytest.fixture(scope="session")
def standin_models(models, tmp_path_factory):
    """community-1 with weights made for tests, imported from the file the other tests use."""
    weights = Path(os.environ.get("DIARIST_TEST_STANDIN", ""))
    shared = Path(os.environ.get("DIARIST_SHARED", "")) / "data/plda"
    segmentation = models / "open/segmentation.safetensors"
    for needed in (weights, segmentation):
        if not needed.is_file():
            pytest.skip(f"{needed} is missing (DIARIST_TEST_STANDIN, DIARIST_TEST_MODELS)")
    if not shared.is_dir():
        pytest.skip(f"{shared} is missing (DIARIST_SHARED)")
    folder = tmp_path_factory.mktemp("models")
    report = diarist.import_models(
        [segmentation, weights], plda=shared, models=folder, allow_unknown_weights=True
    )
    assert report["ok"], report
    return folder

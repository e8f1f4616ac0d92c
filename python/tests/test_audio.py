"""What may be handed over as audio: the same bytes out, or an error that says what is wrong."""

import array
import io

import diarist
import numpy
import pytest


def body(result: diarist.Diarization) -> list[str]:
    """RTTM without the name of the recording."""
    return [" ".join(line.split()[2:]) for line in result.to_rttm().splitlines()]


def test_the_file_gives_the_bytes_of_the_program(pipeline, sample, models, program):
    import subprocess

    said = subprocess.run(
        [program, "run", "--preset", "open", "--models", models, sample],
        capture_output=True,
        check=True,
    )
    result = pipeline(sample)
    assert result.to_rttm().encode() == said.stdout
    assert result.uri == "sample"


def test_bytes_of_a_file_are_the_file(pipeline, short, expected):
    content = short.read_bytes()
    for audio in (content, bytearray(content), memoryview(content), io.BytesIO(content)):
        result = pipeline(audio)
        assert result.uri == ""
        assert body(result) == body(expected)
    with short.open("rb") as file:
        assert body(pipeline(file)) == body(expected)


@pytest.mark.parametrize(
    "make",
    [
        lambda pcm: pcm,
        lambda pcm: (pcm / 32768).astype(numpy.float32),
        lambda pcm: pcm / 32768,
        lambda pcm: pcm[None, :],
        lambda pcm: pcm[:, None],
        lambda pcm: numpy.stack([pcm, pcm]),
        lambda pcm: numpy.stack([pcm, pcm], axis=1),
        lambda pcm: numpy.asfortranarray(numpy.stack([pcm, pcm], axis=1)),
        lambda pcm: numpy.repeat(pcm, 3)[::3],
        lambda pcm: pcm[::-1].copy()[::-1],
        lambda pcm: numpy.stack([pcm, pcm, pcm], axis=1)[:, 1:2],
        lambda pcm: array.array("h", pcm.tolist()),
    ],
    ids=[
        "int16", "float32", "float64", "row", "column", "planar", "interleaved", "fortran",
        "strided", "reversed", "slice", "array.array",
    ],
)  # fmt: skip
def test_arrays_give_the_turns_of_the_file(pipeline, pcm, expected, make):
    assert body(pipeline(make(pcm), 16000)) == body(expected)


def test_half_precision_is_taken(pipeline, pcm):
    half = (pcm / 32768).astype(numpy.float16)
    assert body(pipeline(half, 16000)) == body(pipeline(half.astype(numpy.float32), 16000))


def test_a_read_only_array_is_taken_and_none_is_changed(pipeline, pcm, expected):
    assert not pcm.flags.writeable
    samples = (pcm / 32768).astype(numpy.float32)
    before = samples.copy()
    pipeline(samples, 16000)
    assert (samples == before).all()


def test_no_samples_are_an_empty_result(pipeline):
    result = pipeline(numpy.zeros(0, numpy.float32), 16000)
    assert (result.turns, result.speakers, result.duration) == ([], [], 0)
    assert result.embeddings is None
    assert bool(result)


def test_raw_bytes(pipeline, pcm, expected):
    assert body(pipeline(pcm.tobytes(), raw="s16le:16000:1")) == body(expected)


@pytest.mark.parametrize(
    ("audio", "arguments", "text"),
    [
        (numpy.zeros(16000, numpy.float32), {}, "sample rate"),
        (numpy.zeros(16000, numpy.float32), {"sample_rate": 0}, "sample rate"),
        (numpy.zeros(16000, numpy.float32), {"sample_rate": -1}, "sample rate"),
        (numpy.zeros(16000, numpy.float32), {"sample_rate": 16000.5}, "sample rate"),
        (numpy.zeros(16000, numpy.float32), {"sample_rate": "16000"}, "sample rate"),
        (numpy.zeros(16000, numpy.int32), {"sample_rate": 16000}, "int32"),
        (numpy.zeros(16000, numpy.uint8), {"sample_rate": 16000}, "uint8"),
        (numpy.zeros(16000, numpy.complex64), {"sample_rate": 16000}, "complex64"),
        (numpy.zeros(16000, bool), {"sample_rate": 16000}, "bool"),
        (numpy.float32(1), {"sample_rate": 16000}, "shape"),
        (numpy.zeros((1, 2, 16000), numpy.float32), {"sample_rate": 16000}, r"\(1, 2, 16000\)"),
        (numpy.zeros((4, 4), numpy.float32), {"sample_rate": 16000}, "channels_first"),
        (numpy.zeros((2000, 2001), numpy.float32), {"sample_rate": 16000}, "2000 channels"),
        ([0.0, 0.1], {"sample_rate": 16000}, "list"),
        (42, {"sample_rate": 16000}, "int"),
        (None, {"sample_rate": 16000}, "NoneType"),
        ("x.wav", {"sample_rate": 16000}, "files say their own"),
        (b"RIFF", {"sample_rate": 16000}, "files say their own"),
        (io.StringIO("text"), {}, "'rb'"),
    ],
)
def test_what_is_no_audio(pipeline, audio, arguments, text):
    with pytest.raises(diarist.InvalidArgumentError, match=text):
        pipeline(audio, **arguments)


def test_files_that_are_none(pipeline, tmp_path):
    with pytest.raises(diarist.NotFoundError, match=r"missing\.wav") as caught:
        pipeline(tmp_path / "missing.wav")
    assert caught.value.code == "not_found"
    assert isinstance(caught.value, FileNotFoundError)
    with pytest.raises(diarist.BadFileError, match="the bytes given"):
        pipeline(b"this is no audio at all" * 100)


@pytest.mark.parametrize(
    "options",
    [
        {"num_speakers": 0},
        {"num_speakers": 2.5},
        {"num_speakers": True},
        {"min_speakers": 3, "max_speakers": 2},
        {"step": 3},
        {"channel": -1},
        {"raw": "nonsense"},
        {"start": -1.0},
    ],
)
def test_options_that_can_not_be_honoured(pipeline, short, options):
    with pytest.raises(diarist.InvalidArgumentError):
        pipeline(short, **options)


def test_an_unknown_option_names_the_known_ones(pipeline, short):
    with pytest.raises(TypeError, match=r"num_speaker'.*num_speakers"):
        pipeline(short, num_speaker=2)


def test_options_are_honoured(pipeline, short):
    assert len(pipeline(short, num_speakers=1).speakers) == 1
    part = pipeline(short, start=5.0, end=11.0)
    assert part.turns[0].start >= 5
    assert part.turns[-1].end <= 11
    assert part.settings["audio"]["from"] == 5
    assert pipeline(short, step=2).settings["step_seconds"] == 2
    assert pipeline(short, num_speakers=numpy.int64(1)).settings["num_speakers"] == 1

"""Enrolled voices."""

import json
import pickle
import subprocess

import diarist
import numpy
import pytest


@pytest.fixture(scope="module")
def expected(pipeline, sample):
    """All 30 s: of the first 12 s one speaker has no vector."""
    result = pipeline(sample)
    assert len(result.speakers) == 2
    return result


@pytest.fixture
def voices(expected):
    made = diarist.VoiceLibrary()
    made.add("Anna", expected, "SPEAKER_01")
    return made


def test_a_speaker_is_named_and_the_other_is_not(voices, expected):
    named = expected.named(voices)
    assert [speaker.name for speaker in named.speakers] == ["SPEAKER_00", "Anna"]
    assert {turn.speaker for turn in named} == {"SPEAKER_00", "Anna"}
    other, anna = named.voices
    assert anna.decision == "named"
    assert anna.speaker == "SPEAKER_01"
    assert anna.best == "Anna"
    assert anna.next is None
    assert anna.score == pytest.approx(1, abs=1e-6)
    assert other.decision == "low_score"
    rows = expected.embeddings.astype(numpy.float64)
    rows /= numpy.linalg.norm(rows, axis=1, keepdims=True)
    assert other.score == pytest.approx(rows[0] @ rows[1], abs=1e-6)
    assert expected.voices is None
    assert [speaker.name for speaker in expected.speakers] == ["SPEAKER_00", "SPEAKER_01"]


def test_the_json_tells_scores_and_settings(voices, expected):
    told = json.loads(expected.named(voices, threshold=0.3, margin=0.1, min_seconds=1).to_json())
    assert told["settings"]["voices"] == {"threshold": 0.3, "margin": 0.1, "min_seconds": 1}
    assert told["speakers"][1]["voice"]["speaker"] == "SPEAKER_01"
    assert "voice" not in json.loads(expected.to_json())["speakers"][0]


def test_numbers_still_find_who_was_named(voices, expected):
    named = expected.named(voices).rename({"SPEAKER_01": "Berta", "SPEAKER_00": "Carl"})
    assert [speaker.name for speaker in named.speakers] == ["Carl", "Berta"]


def test_files_and_pickles_hold_the_same(voices, expected, tmp_path):
    file = tmp_path / "team.voices"
    voices.add("J\u00fcrgen", expected, "SPEAKER_00")
    voices.save(file)
    assert file.stat().st_mode & 0o077 == 0
    for copy in (diarist.VoiceLibrary.load(file), pickle.loads(pickle.dumps(voices))):
        assert copy.voices == voices.voices
        assert "J\u00fcrgen" in copy
        assert "Ben" not in copy
        assert len(copy) == 2
        numpy.testing.assert_array_equal(copy.embeddings("Anna"), voices.embeddings("Anna"))
        assert copy.network == "campplus"
    file.write_text("{")
    with pytest.raises(diarist.BadFileError, match=r"team.voices: .*JSON"):
        diarist.VoiceLibrary.load(file)
    with pytest.raises(diarist.NotFoundError):
        diarist.VoiceLibrary.load(tmp_path / "none")


def test_editing(voices, expected):
    voices.add("Anna", expected, "SPEAKER_01")
    assert [len(voice.samples) for voice in voices] == [2]
    voices.remove("Anna", 0)
    voices.rename("Anna", "Ann")
    assert [voice.name for voice in voices] == ["Ann"]
    for wrong in (
        lambda: voices.remove("Anna"),
        lambda: voices.remove("Ann", 1),
        lambda: voices.remove("Ann", -1),
        lambda: voices.rename("Anna", "B"),
        lambda: voices.add("two\nlines", expected, "SPEAKER_00"),
        lambda: voices.add("", expected, "SPEAKER_00"),
        lambda: voices.add("SPEAKER_00", expected, "SPEAKER_00"),
        lambda: voices.add("X", expected, "SPEAKER_07"),
        lambda: voices.add("X", expected),
    ):
        with pytest.raises(diarist.InvalidArgumentError):
            wrong()
    voices.remove("Ann")
    assert voices.network is None
    assert not list(voices)


def test_vectors_of_an_embedder(voices, expected, models, short):
    embedder = diarist.Embedder("open", models=models)
    vector = embedder(short, spans=[(1.0, 4.0)])
    voices.add_embedding("Ben", vector, embedder, seconds=3, source="by hand")
    assert voices.voices[1].samples[0] == (3, "by hand")
    name, score = voices.match(vector[0], embedder)[0]
    assert name == "Ben"
    assert score == pytest.approx(1, abs=1e-6)
    for wrong in (vector[:, :5], numpy.zeros(192), numpy.full(192, numpy.nan), vector.T):
        with pytest.raises(diarist.InvalidArgumentError):
            voices.add_embedding("Carl", wrong, embedder)


def test_results_from_files_have_no_vectors(voices, expected):
    (read,) = diarist.parse(expected.to_rttm())
    with pytest.raises(diarist.InvalidArgumentError):
        read.named(voices)
    with pytest.raises(diarist.InvalidArgumentError):
        expected.named(voices, threshold=2)


def test_the_program_names_the_same(voices, expected, program, models, sample, tmp_path):
    file = tmp_path / "team.voices"
    voices.save(file)
    run = subprocess.run(
        [program, "run", "--preset", "open", "--models", models, "--voices", file, sample],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == expected.named(voices).to_rttm()
    assert " Anna " in run.stdout

"""Embeddings by themselves."""

import subprocess

import diarist
import numpy
import pytest


@pytest.fixture(scope="module")
def embedder(models):
    return diarist.Embedder("open", models=models)


def cosine(a, b):
    return float(a @ b / numpy.linalg.norm(a) / numpy.linalg.norm(b))


def test_the_numbers_are_those_of_the_program(embedder, sample, models, program, tmp_path):
    out = tmp_path / "voice.npy"
    subprocess.run(
        [program, "embed", sample, "--preset", "open", "--models", models, "--out", out], check=True
    )
    assert embedder.dim == 192
    assert numpy.array_equal(embedder(sample), numpy.load(out))


def test_spans_of_a_result(embedder, pipeline, sample):
    turns = [turn for turn in pipeline(sample).exclusive if turn.duration > 1.5]
    vectors = embedder(sample, spans=turns)
    assert vectors.shape == (len(turns), 192)
    same, other = [], []
    for i, a in enumerate(turns):
        for j, b in enumerate(turns[:i]):
            (same if a.speaker == b.speaker else other).append(cosine(vectors[i], vectors[j]))
    assert numpy.mean(same) > numpy.mean(other) + 0.2


def test_file_bytes_and_array_are_one(embedder, short, pcm):
    expected = embedder(short)
    assert numpy.array_equal(embedder(short.read_bytes()), expected)
    assert numpy.array_equal(embedder(pcm, 16000), expected)


def test_features(embedder, pcm):
    rows = embedder.features(pcm[:160000], 16000)
    assert rows.shape == (998, 80)
    assert abs(rows.mean(axis=0)).max() < 1e-3
    assert embedder.info["network"] == "campplus"


def test_errors(embedder, short):
    with pytest.raises(diarist.InvalidArgumentError, match="empty"):
        embedder(short, spans=[])
    with pytest.raises(diarist.InvalidArgumentError):
        embedder(short, spans=[(3.0, 3.1)])
    with pytest.raises(diarist.InvalidArgumentError, match="float64"):
        embedder.forward(numpy.zeros((1, 998, 80)), numpy.zeros((3, 589)))
    with pytest.raises(diarist.InvalidArgumentError, match="contiguous"):
        embedder.forward(
            numpy.zeros((998, 1, 80), "float32").transpose(1, 0, 2)[:, ::2],
            numpy.zeros((3, 589), "float32"),
        )
    with pytest.raises(diarist.UnsupportedError):
        embedder.forward(numpy.zeros((1, 998, 80), "float32"), numpy.ones((3, 589), "float32"))
    with pytest.raises(TypeError, match="every process"):
        import copy

        copy.copy(embedder)

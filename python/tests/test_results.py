"""Results: what they hold, and what other libraries get of them."""

import builtins
import copy
import json
import pickle
from xml.etree import ElementTree

import diarist
import numpy
import pytest


@pytest.fixture(scope="module")
def full(pipeline, short):
    return pipeline(short, keep_stages=True, keep_waveform=True)


def test_turns_are_those_of_the_json(expected):
    told = json.loads(expected.to_json())
    for turns, key in ((expected.turns, "turns"), (expected.exclusive, "exclusive_turns")):
        assert [(f"{t.start:.3f}", f"{t.end:.3f}", t.speaker) for t in turns] == [
            (f"{t['start']:.3f}", f"{t['end']:.3f}", t["speaker"]) for t in told[key]
        ]
    assert [speaker.name for speaker in expected.speakers] == ["SPEAKER_00", "SPEAKER_01"]
    for speaker in expected.speakers:
        spoken = sum(turn.duration for turn in expected if turn.speaker == speaker.name)
        assert speaker.seconds == pytest.approx(spoken)
    assert expected.duration == 12
    assert expected.settings == told["settings"]
    assert set(expected.timings) == set(told["timings"])
    assert list(expected) == expected.turns
    assert len(expected) == len(expected.turns)


def test_exclusive_turns_do_not_overlap(expected):
    for before, after in zip(expected.exclusive, expected.exclusive[1:], strict=False):
        assert before.end <= after.start + 1e-9


def test_arrays_of_the_stages(full, expected):
    assert full == expected
    stages = full.stages
    chunks = stages.segmentations.shape[0]
    assert stages.segmentations.shape == (chunks, 589, 3)
    assert stages.segmentations.dtype == numpy.uint8
    assert set(numpy.unique(stages.segmentations)) == {0, 1}
    assert stages.segmentations.sum(axis=2).max() <= 2
    assert stages.embeddings.shape == (chunks, 3, 192)
    assert stages.embeddings.dtype == numpy.float32
    assert stages.hard_clusters.shape == (chunks, 3)
    assert stages.counts.ndim == 1
    assert not stages.embeddings.flags.writeable
    assert expected.stages is None
    assert expected.waveform is None
    assert full.waveform.peak.shape == full.waveform.power.shape == (1200,)
    assert full.embeddings.shape == (2, 192)
    # A silent local speaker has no vector and belongs to nobody.
    silent = stages.segmentations.sum(axis=1) == 0
    assert (stages.hard_clusters[silent] == -2).all()


def test_arrays_outlive_their_result(pipeline, short):
    stages = pipeline(short, keep_stages=True).stages
    embeddings, counts = stages.embeddings, stages.counts
    del stages
    kept = embeddings.copy(), counts.copy()
    pipeline(short, keep_stages=True)
    assert numpy.array_equal(embeddings, kept[0], equal_nan=True)
    assert numpy.array_equal(counts, kept[1])


def test_pickling_keeps_everything_but_stages(full):
    for travelled in (pickle.loads(pickle.dumps(full)), copy.deepcopy(full)):
        assert travelled == full
        assert travelled.to_json() == full.to_json()
        assert travelled.to_rttm(exclusive=True) == full.to_rttm(exclusive=True)
        assert numpy.array_equal(travelled.embeddings, full.embeddings)
        assert numpy.array_equal(travelled.waveform.peak, full.waveform.peak)
        assert travelled.stages is None


def test_formats_and_files(expected, tmp_path):
    for name, ending, _, _ in diarist.formats():
        expected.save(tmp_path / f"result.{ending}", format=name)
    for ending in ("rttm", "json", "csv", "TextGrid", "eaf", "srt"):
        file = tmp_path / f"told.{ending}"
        expected.save(file)
        (back,) = diarist.read(file)
        assert {turn.speaker for turn in back} == {"SPEAKER_00", "SPEAKER_01"}
        assert back.turns[0].start == pytest.approx(expected.turns[0].start, abs=1e-3)
    assert diarist.parse(expected.to_rttm())[0].to_rttm() == expected.to_rttm()
    expected.save(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text().lower().startswith("<!doctype html>")
    expected.save(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(diarist.InvalidArgumentError, match="nonsense"):
        expected.to_text("nonsense")
    with pytest.raises(diarist.InvalidArgumentError, match=r"a\.nonsense"):
        expected.save(tmp_path / "a.nonsense")


def test_the_picture_is_xml(expected):
    root = ElementTree.fromstring(expected.to_svg("a < b & c", 500))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    ElementTree.fromstring(expected._repr_html_())
    hostile = expected.rename({"SPEAKER_00": "<script>alert(1)</script>"})
    assert "<script" not in hostile._repr_html_()


def test_shaping_and_names(expected):
    renamed = expected.rename(["Anna", "Ben"])
    assert {turn.speaker for turn in renamed} == {"Anna", "Ben"}
    assert expected.speakers[0].name == "SPEAKER_00"
    assert expected.rename({"SPEAKER_01": "SPEAKER_00"}).speakers[0].seconds > 0
    long = expected.shaped(min_duration_on=0.5)
    assert min(turn.duration for turn in long) >= 0.5
    assert expected.shaped(exclusive=True).turns == expected.exclusive
    with pytest.raises(diarist.InvalidArgumentError):
        expected.shaped(pad=-1)
    with pytest.raises(diarist.InvalidArgumentError):
        expected.rename("Anna")


def test_from_turns():
    made = diarist.Diarization.from_turns(
        [(1.0, 2.5, "B"), (0.0, 1.5, "A"), diarist.Turn(3, 4, "A")], uri="talk", duration=5
    )
    assert [(t.start, t.end, t.speaker) for t in made] == [
        (0, 1.5, "A"),
        (1, 2.5, "B"),
        (3, 4, "A"),
    ]
    assert (made.uri, made.duration) == ("talk", 5)
    with pytest.raises(diarist.InvalidArgumentError):
        diarist.Diarization.from_turns([(2.0, 1.0, "A")])


def test_dataframe(expected):
    pandas = pytest.importorskip("pandas")
    table = expected.to_dataframe()
    assert isinstance(table, pandas.DataFrame)
    assert list(table.columns) == ["start", "end", "duration", "speaker", "confidence"]
    assert table["end"].tolist() == [turn.end for turn in expected]
    with pytest.raises(diarist.InvalidArgumentError):
        expected.to_dataframe("excel")


def test_polars(expected):
    polars = pytest.importorskip("polars")
    assert isinstance(expected.to_dataframe("polars"), polars.DataFrame)


def test_annotation(expected):
    pytest.importorskip("pyannote.core")
    annotation = expected.to_annotation()
    assert annotation.uri == "short"
    assert [(s.start, s.end, who) for s, _, who in annotation.itertracks(yield_label=True)] == [
        (t.start, t.end, t.speaker) for t in expected
    ]


def test_plot(expected):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = expected.plot()
    assert [text.get_text() for text in axes.get_yticklabels()] == ["SPEAKER_00", "SPEAKER_01"]


def test_missing_libraries_are_named(expected, monkeypatch):
    real = builtins.__import__

    def refuse(name, *arguments, **more):
        if name.split(".")[0] in ("pandas", "polars", "pyannote", "matplotlib"):
            raise ImportError(name)
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    for call, name in (
        (expected.to_dataframe, "pandas or polars"),
        (expected.to_annotation, "pyannote.core"),
        (expected.plot, "matplotlib"),
    ):
        with pytest.raises(diarist.UnsupportedError, match=name):
            call()


def test_scores_are_those_of_pyannote_metrics(pipeline, sample, labels):
    metrics = pytest.importorskip("pyannote.metrics.diarization")
    core = pytest.importorskip("pyannote.core")
    (reference,) = diarist.read(labels)
    hypothesis = pipeline(sample)
    metric = metrics.DiarizationErrorRate()
    # RTTM is what is compared elsewhere: three decimals.
    (printed,) = diarist.parse(hypothesis.to_rttm())
    whole = core.Timeline([core.Segment(0, 40)])
    rate = metric(reference.to_annotation(), printed.to_annotation(), uem=whole)
    assert diarist.der(reference, printed) == pytest.approx(rate, abs=1e-9)
    assert diarist.der(labels, hypothesis) == pytest.approx(rate, abs=1e-3)
    assert diarist.der(reference.to_annotation(), printed.to_annotation()) == pytest.approx(rate)
    assert diarist.der(labels, labels) == 0
    assert diarist.score(labels, []).der == 1
    for collar in (0.02, 0.25):
        # pyannote.metrics gives the width of both sides together.
        narrow = metrics.DiarizationErrorRate(collar=2 * collar)
        less = narrow(reference.to_annotation(), printed.to_annotation(), uem=whole)
        assert less < rate
        score = diarist.score(labels, printed, collar=collar)
        assert score.der == pytest.approx(less, abs=1e-6)
    assert float(score) == score.der
    uem = {reference.uri: [(0.0, 10.0)]}
    assert diarist.score(labels, hypothesis, uem=uem).report["total"]["total"] < 10 * 2
    with pytest.raises(diarist.InvalidArgumentError, match="hypothesis"):
        diarist.score(labels, 42)

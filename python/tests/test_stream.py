"""Recordings in pieces."""

import gc
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import diarist
import numpy
import pytest


def push_all(stream, samples, piece):
    for at in range(0, len(samples), piece):
        stream.push(samples[at : at + piece])


@pytest.mark.parametrize("piece", [37, 1600, 10**9])
def test_pieces_give_what_the_whole_gives(pipeline, pcm, expected, piece):
    with pipeline.stream() as stream:
        push_all(stream, pcm, piece)
        assert stream.heard == 12
        assert stream.snapshot().turns == expected.turns
        assert stream.seen <= 12
        result = stream.finish()
    assert result.turns == expected.turns
    assert [speaker.name for speaker in result.speakers] == ["SPEAKER_00", "SPEAKER_01"]
    assert result.duration == 12


def test_a_snapshot_is_the_run_of_what_was_pushed(pipeline, pcm):
    with pipeline.stream(sample_rate=16000) as stream:
        stream.push(pcm[: 7 * 16000])
        first = stream.snapshot()
        assert first.turns == pipeline(pcm[: 7 * 16000], 16000).turns
        assert first.duration == 7
        stream.push(pcm[7 * 16000 :])
        assert stream.finish().turns == pipeline(pcm, 16000).turns


@pytest.mark.parametrize("kind", [numpy.int16, numpy.float32, numpy.float64])
@pytest.mark.parametrize("first", [False, True])
def test_rates_channels_and_types(pipeline, pcm, kind, first):
    stereo = numpy.stack([pcm, pcm // 2], axis=0 if first else 1)
    if kind is not numpy.int16:
        stereo = (stereo / 32768).astype(kind)
    wanted = pipeline(stereo, 22050).turns
    with pipeline.stream(22050, channels=2) as stream:
        for at in range(0, len(pcm), 5000):
            stream.push(stereo[:, at : at + 5000] if first else stereo[at : at + 5000])
        assert stream.finish().turns == wanted
    assert wanted


def test_options(pipeline, pcm):
    with pipeline.stream(num_speakers=1, keep_stages=True, step=2, start=3.0) as stream:
        push_all(stream, pcm, 4000)
        result = stream.finish()
    wanted = pipeline(pcm, 16000, num_speakers=1, keep_stages=True, step=2, start=3.0)
    assert result.turns == wanted.turns
    assert numpy.array_equal(result.stages.embeddings, wanted.stages.embeddings, equal_nan=True)
    with pytest.raises(diarist.UnsupportedError):
        pipeline.stream(channels=2, split_channels=True)
    with pytest.raises(TypeError):
        pipeline.stream(speakers=2)


def test_what_is_no_audio(pipeline):
    for rate in (0, -1, 1.5, "16000", None):
        with pytest.raises(diarist.InvalidArgumentError):
            pipeline.stream(rate)
    with pytest.raises(diarist.InvalidArgumentError):
        pipeline.stream(channels=0)
    with pipeline.stream(channels=2) as stream:
        for array in (
            [0.0, 1.0],
            numpy.zeros(4, "float32"),
            numpy.zeros((5, 3), "float32"),
            numpy.zeros((2, 2), "float32"),
            numpy.zeros((2, 5), "int32"),
            b"\0\0\0\0",
            None,
        ):
            with pytest.raises(diarist.InvalidArgumentError):
                stream.push(array)
        assert stream.heard == 0
        stream.push(numpy.zeros((2, 2), "float32"), channels_first=True)
        stream.push(numpy.zeros((0, 2), "int16"))
        assert stream.heard == 2 / 16000


def test_after_the_end(pipeline, pcm):
    stream = pipeline.stream()
    stream.push(pcm)
    stream.finish()
    for call in (lambda: stream.push(pcm), stream.snapshot, stream.finish):
        with pytest.raises(diarist.InvalidArgumentError, match="finished"):
            call()
    assert not stream.closed
    assert "16000 Hz" in repr(stream)
    stream.close()
    stream.close()
    assert stream.closed
    assert "closed" in repr(stream)
    for call in (lambda: stream.push(pcm), stream.snapshot, stream.finish, lambda: stream.heard):
        with pytest.raises(diarist.InvalidArgumentError, match="closed"):
            call()


def test_it_closes_in_the_middle_of_its_work(pipeline, pcm):
    minute = numpy.tile(pcm, 4)
    with pipeline.stream() as stream:
        stream.push(minute)
        began = time.perf_counter()
    assert time.perf_counter() - began < 1.5
    stream = pipeline.stream()
    stream.push(minute)
    gone = weakref.ref(stream)
    del stream
    gc.collect()
    assert gone() is None


def test_stop_and_callbacks(pipeline, pcm, expected):
    stopper = diarist.Stopper()
    stopper.stop()
    seen = []
    with pipeline.stream() as stream:
        stream.push(pcm)
        with pytest.raises(diarist.CancelledError):
            stream.snapshot(stop=stopper)
        with pytest.raises(ZeroDivisionError):
            stream.snapshot(progress=lambda *_: 1 / 0)
        with pytest.raises(diarist.CancelledError):
            stream.finish(stop=stopper)
        result = stream.finish(progress=lambda *at: seen.append(at))
    assert result.turns == expected.turns
    assert ("clustering", 12, 12) in seen


def test_other_threads_push(pipeline, pcm, expected):
    with pipeline.stream() as stream:
        thread = threading.Thread(target=push_all, args=(stream, pcm, 800))
        thread.start()
        while thread.is_alive():
            assert stream.snapshot().duration <= 12
        thread.join()
        assert stream.finish().turns == expected.turns


def test_a_slow_machine_holds_push_back_and_a_stop_ends_it(pipeline, pcm):
    stopper = diarist.Stopper()
    with pipeline.stream() as stream:
        timer = threading.Timer(0.3, stopper.stop)
        timer.start()
        with pytest.raises(diarist.CancelledError):
            stream.push(numpy.tile(pcm, 50), stop=stopper)
        assert 60 <= stream.heard < 600


def test_it_is_not_pickled(pipeline):
    with pipeline.stream() as stream, pytest.raises(TypeError, match="pickled"):
        pickle.dumps(stream)


def test_ctrl_c_and_the_end_of_the_interpreter(models):
    """A signal ends a push that waits; a stream that nobody closed does not hold the exit up."""
    code = textwrap.dedent(
        """
        import os, signal, threading
        import diarist, numpy
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
        stream = diarist.Pipeline("open", device="cpu", models=os.environ["MODELS"]).stream()
        noise = numpy.tile(numpy.random.default_rng(1).normal(0, 0.1, 16000), 1000)
        noise = noise.astype("float32")
        try:
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
            stream.push(noise)
        except KeyboardInterrupt:
            print("interrupted")
        """
    )
    environment = {**os.environ, "MODELS": str(models)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")

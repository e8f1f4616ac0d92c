"""Threads, signals, callbacks, many recordings, event loops."""

import asyncio
import gc
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import time

import diarist
import pytest


def test_other_threads_go_on(pipeline, short):
    """A thread that counts gets the interpreter many times while one call runs."""
    counted, done = 0, threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        began = time.perf_counter()
        pipeline(short)
        took = time.perf_counter() - began
    finally:
        done.set()
        thread.join()
    assert counted > 20 * took, (counted, took)


def test_threads_share_a_pipeline(pipeline, short, pcm, expected):
    results = []

    def run(audio, *rate):
        results.append(pipeline(audio, *rate))

    threads = [
        threading.Thread(target=run, args=arguments)
        for arguments in ((short,), (pcm, 16000), (short.read_bytes(),))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [result.turns for result in results] == [expected.turns] * 3


def test_progress_comes_from_the_callers_thread(pipeline, short):
    seen = []

    def progress(stage, done, total):
        assert threading.current_thread() is threading.main_thread()
        seen.append((stage, done, total))

    pipeline(short, progress=progress)
    networks = [(done, total) for stage, done, total in seen if stage == "networks"]
    assert networks
    assert networks == sorted(networks)
    assert networks[-1] == (12, 12)


def test_an_exception_in_a_callback_ends_the_run(pipeline, short, expected):
    class EnoughError(Exception):
        pass

    def progress(*_):
        raise EnoughError

    with pytest.raises(EnoughError):
        pipeline(short, progress=progress)
    assert pipeline(short) == expected


def test_tqdm(pipeline, short, capsys):
    pytest.importorskip("tqdm")
    pipeline(short, progress=True)
    assert "12.0/12.0" in capsys.readouterr().err
    list(pipeline.map([short], progress=True))
    assert "1/1" in capsys.readouterr().err


def test_a_stopper_ends_runs(pipeline, sample):
    stop = diarist.Stopper()
    timer = threading.Timer(0.2, stop.stop)
    timer.start()
    with pytest.raises(diarist.CancelledError) as caught:
        for _ in range(1000):
            pipeline(sample, stop=stop)
    assert caught.value.code == "cancelled"
    assert stop.stopped
    with pytest.raises(diarist.CancelledError):
        pipeline(sample, stop=stop)


def test_map_gives_outcomes_in_order_and_errors_by_file(pipeline, short, expected, tmp_path):
    broken = tmp_path / "broken.wav"
    broken.write_bytes(b"no audio")
    files = [short, broken, tmp_path / "missing.wav", str(short)]
    outcomes = list(pipeline.map(files))
    assert [outcome.number for outcome in outcomes] == [0, 1, 2, 3]
    assert [outcome.audio for outcome in outcomes] == files
    assert outcomes[0].get() == outcomes[3].get() == expected
    assert isinstance(outcomes[1].error, diarist.BadFileError)
    assert isinstance(outcomes[2].error, diarist.NotFoundError)
    with pytest.raises(diarist.NotFoundError, match="missing"):
        outcomes[2].get()


def test_map_takes_arrays_as_well(pipeline, short, pcm, expected):
    outcomes = list(pipeline.map([pcm, short, pcm.astype("int64")], 16000))
    assert [outcome.result and outcome.result.turns for outcome in outcomes] == [
        expected.turns,
        expected.turns,
        None,
    ]
    assert isinstance(outcomes[2].error, diarist.InvalidArgumentError)


def test_a_closed_map_ends_its_work(pipeline, short):
    run = pipeline.map([short] * 1000)
    next(run)
    began = time.perf_counter()
    run.close()
    gc.collect()
    assert time.perf_counter() - began < 20
    assert list(run) == []


def test_map_of_one_name_is_a_mistake(pipeline):
    with pytest.raises(diarist.InvalidArgumentError, match="several"):
        pipeline.map("a.wav")


def test_arun(pipeline, short, expected):
    async def both():
        beats, seen = 0, []

        async def beat():
            nonlocal beats
            while True:
                beats += 1
                await asyncio.sleep(0.001)

        task = asyncio.create_task(beat())
        results = await asyncio.gather(
            pipeline.arun(short, progress=lambda *at: seen.append(at)), pipeline.arun(short)
        )
        task.cancel()
        return results, beats, seen

    results, beats, seen = asyncio.run(both())
    assert results == [expected, expected]
    assert beats > 3
    assert seen[-1][1] == 12 or any(stage == "networks" for stage, _, _ in seen)


def test_a_cancelled_task_ends_its_run(pipeline, sample):
    async def cancel():
        task = asyncio.create_task(pipeline.arun(sample))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())


def test_an_exception_in_a_callback_reaches_the_task(pipeline, short):
    def progress(*_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(pipeline.arun(short, progress=progress))


INTERRUPTED = """
    import sys, threading, time, signal, os, diarist
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
    pipeline = diarist.Pipeline("open", device="cpu", models=sys.argv[1])
    sent = []
    def send():
        time.sleep(float(sys.argv[4]))
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=send, daemon=True).start()
    try:
        if sys.argv[3] == "map":
            for outcome in pipeline.map([sys.argv[2]] * 1000):
                pass
        else:
            while True:
                pipeline(sys.argv[2])
    except KeyboardInterrupt:
        print(time.perf_counter() - sent[0])
        pipeline(sys.argv[2], end=1.0)      # and the pipeline is still good
        sys.exit(7)
"""


@pytest.mark.parametrize("how", ["call", "map"])
def test_ctrl_c(models, sample, how):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(INTERRUPTED), models, sample, how, "1.0"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 7, done.stderr
    # A fraction of a second where processors are free; a batch of windows is worked off first.
    assert float(done.stdout) < 10


def test_work_that_still_runs_at_exit_is_ended(models, sample):
    script = """
        import sys, threading, time, diarist
        pipeline = diarist.Pipeline("open", device="cpu", models=sys.argv[1])
        run = pipeline.map([sys.argv[2]] * 1000)
        next(run)
        more = pipeline.map([sys.argv[2]] * 1000)
        threading.Thread(target=lambda: list(more), daemon=True).start()
        time.sleep(0.1)
        print("bye")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), models, sample],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stdout) == (0, "bye\n"), done.stderr


def test_pipelines_are_not_pickled(pipeline):
    with pytest.raises(TypeError, match="make one in every process"):
        pickle.dumps(pipeline)


def test_errors_are_pickled(pipeline):
    with pytest.raises(diarist.NotFoundError) as caught:
        pipeline("missing.wav")
    travelled = pickle.loads(pickle.dumps(caught.value))
    assert type(travelled) is diarist.NotFoundError
    assert (str(travelled), travelled.code) == (str(caught.value), "not_found")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_of_fork_gets_a_typed_error(models, short):
    """Documented: make the pipeline in the child; one from before the fork says so."""
    script = """
        import os, sys, diarist
        pipeline = diarist.Pipeline("open", device="cpu", threads=2, models=sys.argv[1])
        before = pipeline(sys.argv[2])
        run = pipeline.map([sys.argv[2]] * 5)
        next(run)
        child = os.fork()
        if child == 0:
            for call in (lambda: pipeline(sys.argv[2]), lambda: next(run)):
                try:
                    call()
                    os._exit(1)
                except diarist.Error as error:
                    print(error.code, error, flush=True)
            del run
            own = diarist.Pipeline("open", device="cpu", threads=2, models=sys.argv[1])
            os._exit(0 if own(sys.argv[2]) == before else 2)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), models, short],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_models_that_are_missing(tmp_path):
    with pytest.raises(diarist.Error, match="pull") as caught:
        diarist.Pipeline("open", models=tmp_path)
    assert caught.value.code in ("not_found", "bad_model")
    with pytest.raises(diarist.InvalidArgumentError, match="nonsense"):
        diarist.Pipeline("nonsense", models=tmp_path)


def test_arguments_of_the_pipeline(models):
    for wrong in ({"precision": "best"}, {"threads": -1}, {"device": "tpu"}):
        with pytest.raises(diarist.Error):
            diarist.Pipeline("open", models=models, **wrong)
    auto = diarist.Pipeline("open", models=models)
    assert auto.device in ("cpu", "cuda")
    assert auto.preset == "open"
    assert repr(auto) == f"<diarist.Pipeline 'open' on '{auto.device}'>"

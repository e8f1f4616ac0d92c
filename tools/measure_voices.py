#!/usr/bin/env python3
"""Measure how well enrolled voices are recognized: false accepts and rejects over thresholds.

usage: measure_voices.py [--preset P]... [--piece SECONDS] [--cache DIR] FOLDER...

Every FOLDER holds recordings (NAME.flac or NAME.wav) with their truth (NAME.rttm), in which one
label means one person in all recordings of the folder. Each recording is diarized; a speaker found
is the person whom it shares most time with. Then every person of every recording is enrolled and
compared with every speaker of every other recording. Needs the Python package and NumPy. The scores
are computed here, not by the engine. docs/voices.md has the results.
"""

import argparse
import itertools
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import diarist
import numpy as np


class Found(NamedTuple):
    """A speaker that a run found."""

    recording: str  # piece of a recording: dev1@30
    person: str  # "" where the truth has nobody
    share: float  # of its time that is this person's
    seconds: float
    vector: np.ndarray

    @property
    def session(self) -> str:
        return self.recording.split("@")[0]


class Truth(NamedTuple):
    start: float
    end: float
    person: str


def read_truth(file: Path) -> list[Truth]:
    turns = []
    for line in file.read_text(encoding="utf-8").splitlines():
        fields = line.split()
        if fields and fields[0] == "SPEAKER":
            start, length = float(fields[3]), float(fields[4])
            turns.append(Truth(start, start + length, fields[7]))
    return turns


def person_of(turns: list, truth: list[Truth], offset: float) -> tuple[str, float]:
    """Who shares most time with the turns, and what share of theirs that is."""
    shared: dict[str, float] = defaultdict(float)
    total = 0.0
    for turn in turns:
        total += turn.end - turn.start
        for true in truth:
            common = min(turn.end + offset, true.end) - max(turn.start + offset, true.start)
            shared[true.person] += max(0.0, common)
    if not shared or total == 0:
        return "", 0.0
    person = max(sorted(shared), key=lambda name: shared[name])
    return (person, shared[person] / total) if shared[person] > 0 else ("", 0.0)


def find_speakers(pipeline: "diarist.Pipeline", audio: Path, piece: float) -> list[Found]:
    truth = read_truth(audio.with_suffix(".rttm"))
    length = max(turn.end for turn in truth)
    starts = np.arange(0, length, piece) if piece else [0.0]
    found = []
    for start in starts:
        name = f"{audio.stem}@{start:g}" if piece else audio.stem
        span = {"start": float(start), "end": float(start + piece)} if piece else {}
        if piece and start + piece / 2 > length:
            continue  # what is left is short
        result = pipeline(audio, **span)
        if result.embeddings is None:
            continue
        # Times of a stretch are those of the whole recording.
        for speaker, vector in zip(result.speakers, result.embeddings, strict=True):
            turns = [turn for turn in result.exclusive if turn.speaker == speaker.name]
            person, share = person_of(turns, truth, 0.0)
            if np.any(vector):
                unit = np.asarray(vector, dtype=np.float64)
                unit /= np.linalg.norm(unit)
                found.append(Found(name, person, share, speaker.seconds, unit))
    return found


def cached(preset: str, audio: Path, piece: float, folder: Path | None, make) -> list[Found]:
    file = folder / f"{preset}-{audio.parent.name}-{audio.stem}-{piece:g}.json" if folder else None
    if file and file.exists():
        rows = json.loads(file.read_text())
        return [Found(*row[:4], np.array(row[4])) for row in rows]
    found = make()
    if file:
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps([[*row[:4], row[4].tolist()] for row in found]))
    return found


class Trial(NamedTuple):
    score: float
    same: bool
    seconds: float  # of the speaker that is judged
    what: str


def voices_of(found: list[Found], least: float) -> dict[str, Found]:
    """Of each person the speaker with most speech, as somebody who enrols would choose."""
    voices: dict[str, Found] = {}
    for speaker in found:
        if speaker.person and speaker.seconds >= least:
            best = voices.get(speaker.person)
            if best is None or speaker.seconds > best.seconds:
                voices[speaker.person] = speaker
    return voices


def make_trials(enrolled: list[Found], judged: list[Found], least: float) -> list[Trial]:
    """Every person of a recording against every speaker of the others."""
    sessions = defaultdict(list)
    for speaker in enrolled:
        sessions[speaker.session].append(speaker)
    trials = []
    for session, speakers in sorted(sessions.items()):
        for person, voice in sorted(voices_of(speakers, 10).items()):
            for speaker in judged:
                if speaker.session == session or speaker.seconds < least or not speaker.person:
                    continue
                score = float(voice.vector @ speaker.vector)
                what = (
                    f"{session}:{person} - {speaker.recording}:{speaker.person}"
                    f" ({speaker.seconds:.0f} s, {100 * speaker.share:.0f} % theirs)"
                )
                trials.append(Trial(score, person == speaker.person, speaker.seconds, what))
    return trials


def rates(trials: list[Trial], threshold: float) -> tuple[float, float]:
    same = [trial.score for trial in trials if trial.same]
    other = [trial.score for trial in trials if not trial.same]
    accepted = sum(score >= threshold for score in other) / max(1, len(other))
    rejected = sum(score < threshold for score in same) / max(1, len(same))
    return accepted, rejected


def equal_error(trials: list[Trial]) -> tuple[float, float]:
    """Rate and threshold where false accepts and false rejects are nearest to each other."""
    scores = sorted({trial.score for trial in trials})
    best = min(scores, key=lambda s: (abs(np.subtract(*rates(trials, s))), s))
    return sum(rates(trials, best)) / 2, best


class Counts(NamedTuple):
    right: int
    wrong: int  # another enrolled person's name
    missed: int  # enrolled, but without a name
    false: int  # not enrolled, but named
    unknown: int  # not enrolled and without a name


def name_all(
    libraries: dict[str, dict[str, list[np.ndarray]]],
    judged: list[Found],
    threshold: float,
    margin: float,
    least: float,
    how: str,
) -> Counts:
    """Names as name_speakers() gives them; `libraries` by the session that is judged."""
    counts = [0] * 5
    by_recording = defaultdict(list)
    for speaker in judged:
        if speaker.person:
            by_recording[speaker.recording].append(speaker)
    for recording, speakers in by_recording.items():
        library = libraries[recording.split("@")[0]]
        wishes = []
        for index, speaker in enumerate(speakers):
            ranked = sorted(
                (
                    (voice_score(vectors, speaker.vector, how), name)
                    for name, vectors in library.items()
                ),
                reverse=True,
            )
            if not ranked or speaker.seconds < least or ranked[0][0] < threshold:
                continue
            if len(ranked) > 1 and ranked[0][0] - ranked[1][0] < margin:
                continue
            wishes.append((*ranked[0], index))
        names: dict[int, str] = {}
        for _, name, index in sorted(wishes, key=lambda wish: (-wish[0], wish[2])):
            if name not in names.values():
                names[index] = name
        for index, speaker in enumerate(speakers):
            name = names.get(index)
            known = speaker.person in library
            if known:
                place = 2 if name is None else 0 if name == speaker.person else 1
            else:
                place = 4 if name is None else 3
            counts[place] += 1
    return Counts(*counts)


def voice_score(vectors: list[np.ndarray], vector: np.ndarray, how: str) -> float:
    if how == "best":
        return max(float(one @ vector) for one in vectors)
    if how == "average":
        return float(np.mean([one @ vector for one in vectors]))
    mean = np.mean(vectors, axis=0)
    return float(mean @ vector / np.linalg.norm(mean))


def leave_one_out(found: list[Found]) -> dict[str, dict[str, list[np.ndarray]]]:
    """For every session the voices of all others."""
    sessions = sorted({speaker.session for speaker in found})
    libraries: dict[str, dict[str, list[np.ndarray]]] = {}
    for left in sessions:
        library: dict[str, list[np.ndarray]] = defaultdict(list)
        for session in sessions:
            if session == left:
                continue
            speakers = [speaker for speaker in found if speaker.session == session]
            for person, voice in voices_of(speakers, 10).items():
                library[person].append(voice.vector)
        libraries[left] = library
    return libraries


def report(title: str, trials: list[Trial]) -> None:
    same = [trial for trial in trials if trial.same]
    other = [trial for trial in trials if not trial.same]
    print(f"\n## {title}: {len(same)} same, {len(other)} different")
    if not same or not other:
        return
    for name, group in (("same", same), ("different", other)):
        scores = [trial.score for trial in group]
        marks = np.percentile(scores, [0, 5, 50, 95, 100])
        print(f"{name:10s} min, 5 %, median, 95 %, max:", *(f"{mark:.3f}" for mark in marks))
    rate, at = equal_error(trials)
    print(f"equal error rate {100 * rate:.1f} % at {at:.3f}")
    print("  threshold  false accepts  false rejects")
    for threshold in np.arange(0.30, 0.71, 0.05):
        accepted, rejected = rates(trials, float(threshold))
        print(f"  {threshold:9.2f}  {100 * accepted:11.1f} %  {100 * rejected:11.1f} %")
    for trial in sorted(other, key=lambda trial: -trial.score)[:4]:
        print(f"  highest different {trial.score:.3f} {trial.what}")
    for trial in sorted(same, key=lambda trial: trial.score)[:4]:
        print(f"  lowest same {trial.score:.3f} {trial.what}")


def report_lengths(trials: list[Trial]) -> None:
    print("  speech        same: number, median, lowest   different: number, highest, from 0.55")
    for low, high in ((0, 1), (1, 2), (2, 3), (3, 5), (5, 10), (10, 1e9)):
        part = [trial for trial in trials if low <= trial.seconds < high]
        same = [trial.score for trial in part if trial.same]
        other = [trial.score for trial in part if not trial.same]
        if same and other:
            above = sum(score >= 0.55 for score in other)
            print(
                f"  {low:2d} to {high:<5g} s  {len(same):4d} {np.median(same):.3f} {min(same):.3f}"
                f"   {len(other):4d} {max(other):.3f} {above}"
            )


def report_names(whole: list[Found], pieces: list[Found]) -> None:
    libraries = leave_one_out(whole)
    print("\nnames, enrolled from all other recordings: right, wrong, missed, false, unknown")
    for name, judged in (("whole", whole), ("pieces", pieces)):
        for how in ("mean", "best", "average"):
            for margin, threshold in itertools.product(
                (0.0, 0.05, 0.1), (0.4, 0.45, 0.5, 0.55, 0.6)
            ):
                counts = name_all(libraries, judged, threshold, margin, 2.0, how)
                print(
                    f"  {name:6s} {how:7s} threshold {threshold:.2f} margin {margin:.2f}:",
                    *(f"{count:4d}" for count in counts),
                )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--preset", action="append")
    parser.add_argument("--piece", type=float, default=30.0, help="seconds of short recordings")
    parser.add_argument("--least", type=float, default=0.0, help="seconds of a judged speaker")
    parser.add_argument("--cache", type=Path, help="folder that keeps what the runs found")
    arguments = parser.parse_args()
    audio = sorted(
        file
        for folder in arguments.folders
        for file in folder.iterdir()
        if file.suffix in (".flac", ".wav") and file.with_suffix(".rttm").exists()
    )
    whole: dict[str, list[Found]] = {}
    pieces: dict[str, list[Found]] = {}
    presets = arguments.preset or ["open", "open-lite"]
    for preset in presets:
        pipeline = diarist.Pipeline(preset)
        for piece, place in ((0.0, whole), (arguments.piece, pieces)):
            place[preset] = []
            for file in audio:
                place[preset] += cached(
                    preset,
                    file,
                    piece,
                    arguments.cache,
                    lambda file=file, piece=piece: find_speakers(pipeline, file, piece),  # noqa: B023
                )
                print(preset, file.stem, piece, file=sys.stderr, flush=True)
    for left, right in itertools.product(presets, presets):
        trials = make_trials(whole[left], whole[right], arguments.least)
        report(f"enrolled {left}, judged {right}, whole recordings", trials)
    for preset in presets:
        trials = make_trials(whole[preset], pieces[preset], arguments.least)
        report(f"{preset}, judged pieces of {arguments.piece:g} s", trials)
        report_lengths(trials)
        report_names(whole[preset], pieces[preset])
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The files that the pages speak of, made of 12 s of the sample recording and its labels."""

import array
import json
import shutil
import wave
from pathlib import Path

SECONDS = 12

WHISPER = {
    "text": "Hello there. Yes, hello.",
    "language": "en",
    "segments": [
        {
            "id": 0,
            "start": 7.0,
            "end": 8.3,
            "text": " Hello there.",
            "words": [
                {"word": " Hello", "start": 7.0, "end": 7.5, "probability": 0.9},
                {"word": " there.", "start": 7.7, "end": 8.3, "probability": 0.9},
            ],
        },
        {
            "id": 1,
            "start": 8.4,
            "end": 9.8,
            "text": " Yes, hello.",
            "words": [
                {"word": " Yes,", "start": 8.4, "end": 8.9, "probability": 0.9},
                {"word": " hello.", "start": 9.0, "end": 9.8, "probability": 0.9},
            ],
        },
    ],
}
ANNOTATION = {
    "pyannote": "Annotation",
    "content": [{"segment": {"start": 0.5, "end": 2.5}, "track": "0", "label": "Anna"}],
    "uri": "meeting",
}
CUE = "00:00:07{0}000 --> 00:00:09{0}800\nHello there.\n"


def write_wav(path: Path, samples: array.array, channels: int = 1) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(samples.tobytes())


def read_samples(path: Path) -> array.array:
    with wave.open(str(path), "rb") as file:
        if (file.getnchannels(), file.getsampwidth(), file.getframerate()) != (1, 2, 16000):
            raise ValueError(f"{path}: is not mono with 16 bits and 16 kHz")
        samples = array.array("h")
        samples.frombytes(file.readframes(SECONDS * 16000))
    return samples


def clipped_rttm(path: Path, uri: str) -> str:
    """The labels that lie in the first seconds, of a recording called `uri`."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        fields = line.split()
        start, length = float(fields[3]), float(fields[4])
        if start >= SECONDS:
            continue
        fields[1], fields[4] = uri, f"{min(length, SECONDS - start):.3f}"
        lines.append(" ".join(fields))
    return "".join(f"{line}\n" for line in lines)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def make_corpora(folder: Path, wav: Path, labels: Path) -> None:
    """One recording in the shape of each corpus of docs/evaluation.md."""

    def recording(audio: str, rttm: str, uri: str) -> None:
        (folder / audio).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(wav, folder / audio)
        write(folder / rttm, clipped_rttm(labels, uri))

    ami = "AMI-diarization-setup"
    recording(
        "amicorpus/EN2002a/audio/EN2002a.Mix-Headset.wav",
        f"{ami}/only_words/rttms/test/EN2002a.rttm",
        "EN2002a",
    )
    write(folder / ami / "lists/test.meetings.txt", "EN2002a\n")
    write(folder / ami / "uems/test/EN2002a.uem", f"EN2002a 1 0.000 {SECONDS}.000\n")
    recording("voxconverse_test_wav/aepyx.wav", "voxconverse/test/aepyx.rttm", "aepyx")
    dihard = "LDC2022S14/data"
    recording(
        f"{dihard}/flac/DH_EVAL_0001.flac", f"{dihard}/rttm/DH_EVAL_0001.rttm", "DH_EVAL_0001"
    )
    for part in ("full", "core"):
        uem = f"DH_EVAL_0001 1 0.000 {SECONDS}.000\n"
        write(folder / dihard / "uem_scoring" / part / "all.uem", uem)
    recording("callhome_wav/en_0638.wav", "fullref.rttm", "en_0638")
    write(folder / "part2.txt", "hyp/en_0638.rttm\n")
    write(folder / "part2.uem", f"en_0638 1 0.000 {SECONDS}.000\n")
    for part in ("ref", "hyp", "old", "new"):
        write(folder / "my" / part / "one.rttm", clipped_rttm(labels, "one"))
    write(folder / "my/labelled.uem", f"one 1 0.000 {SECONDS}.000\n")
    for part in ("ref", "hyp", "other"):
        write(folder / part / "one.rttm", clipped_rttm(labels, "one"))


def make_samples(folder: Path, wav: Path, labels: Path) -> None:
    """Fills a scratch folder. Names of other containers hold WAV: readers look at the bytes."""
    samples = read_samples(wav)
    for name in (
        *("meeting.wav", "a.wav", "b.wav", "call.mp3", "meeting.m4a", "talk.flac"),
        *("archive/one.wav", "archive/two.wav"),
    ):
        write_wav(folder / name, samples)
    write_wav(folder / "speaker.wav", samples[7 * 16000 : 11 * 16000])
    sides = array.array("h", bytes(4 * len(samples)))
    sides[0::2] = samples
    sides[1::2] = samples[8 * 16000 :] + samples[: 8 * 16000]
    write_wav(folder / "call.wav", sides, channels=2)
    for name in ("meeting", "talk"):
        write(folder / f"{name}.rttm", clipped_rttm(labels, name))
    write(folder / "labels.rttm", clipped_rttm(labels, "meeting"))
    write(folder / "before.rttm", clipped_rttm(labels, "meeting"))
    write(folder / "after.rttm", clipped_rttm(labels, "meeting"))
    write(folder / "all.rttm", clipped_rttm(labels, "talk") + clipped_rttm(labels, "meeting"))
    for name in ("whisper.json", "meeting.json"):
        write(folder / name, json.dumps(WHISPER))
    write(folder / "meeting.pyannote.json", json.dumps(ANNOTATION))
    write(folder / "talk.srt", "1\n" + CUE.format(","))
    write(folder / "talk.vtt", "WEBVTT\n\n" + CUE.format("."))
    make_corpora(folder, folder / "meeting.wav", labels)

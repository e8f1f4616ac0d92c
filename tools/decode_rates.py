#!/usr/bin/env python3
"""How quickly recordings are decoded and resampled, per format, and their share of a run.

Renders a recording into many formats with the ffmpeg program, runs diarist on each, and reads the
stage times of its JSON: `decode` is reading, decoding, down-mix and resampling. Prints a Markdown
table for docs/audio.md.

    tools/decode_rates.py build/bin/diarist meeting.wav --minutes 10 -- --preset open-lite
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

# name, ending, arguments of ffmpeg
FORMATS = [
    ("WAV 16 kHz mono", "wav", "-ar 16000 -ac 1 -c:a pcm_s16le"),
    ("WAV 8 kHz stereo, mu-law", "wav", "-ar 8000 -ac 2 -c:a pcm_mulaw"),
    ("WAV 44.1 kHz stereo", "wav", "-ar 44100 -ac 2 -c:a pcm_s16le"),
    ("WAV 48 kHz stereo, float", "wav", "-ar 48000 -ac 2 -c:a pcm_f32le"),
    ("WAV 192 kHz stereo, 24 bits", "wav", "-ar 192000 -ac 2 -c:a pcm_s24le"),
    ("FLAC 16 kHz mono", "flac", "-ar 16000 -ac 1 -c:a flac"),
    ("FLAC 44.1 kHz stereo", "flac", "-ar 44100 -ac 2 -c:a flac"),
    ("MP3 44.1 kHz stereo, 128 kbit/s", "mp3", "-ar 44100 -ac 2 -c:a libmp3lame -b:a 128k"),
    ("AAC in M4A 44.1 kHz stereo", "m4a", "-ar 44100 -ac 2 -c:a aac -b:a 128k"),
    ("Vorbis 44.1 kHz stereo", "ogg", "-ar 44100 -ac 2 -c:a libvorbis -q:a 4"),
    ("Opus 48 kHz stereo, 64 kbit/s", "opus", "-ar 48000 -ac 2 -c:a libopus -b:a 64k"),
    ("Opus in Matroska 48 kHz stereo", "mkv", "-ar 48000 -ac 2 -c:a libopus -b:a 64k"),
    ("WMA 44.1 kHz stereo", "wma", "-ar 44100 -ac 2 -c:a wmav2 -b:a 128k"),
]


def times_of(program, file, options):
    """Duration and stage times in seconds of one run."""
    command = [program, "run", "--format", "json", *options, str(file)]
    result = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return result["duration"], result["timings"]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("program", help="the built diarist")
    parser.add_argument("recording")
    parser.add_argument(
        "--minutes", type=float, default=10, help="length; the recording is repeated"
    )
    parser.add_argument(
        "--repeats", type=int, default=3, help="runs per format; the quickest counts"
    )
    # What stands behind "--" is for diarist.
    words = sys.argv[1:]
    split = words.index("--") if "--" in words else len(words)
    arguments = parser.parse_args(words[:split])
    options = words[split + 1 :]
    print("| format | decode + resample, x real time | share of the run |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, ending, codec) in enumerate(FORMATS):
            file = Path(folder) / f"{number}.{ending}"
            command = [
                "ffmpeg",
                "-v",
                "error",
                "-stream_loop",
                "-1",
                "-i",
                arguments.recording,
                "-t",
            ]
            command += [str(60 * arguments.minutes), *codec.split(), str(file)]
            if subprocess.run(command).returncode != 0:
                print(f"no encoder for {name}", file=sys.stderr)
                continue
            runs = [times_of(arguments.program, file, options) for _ in range(arguments.repeats)]
            duration, best = min(runs, key=lambda run: run[1]["decode"])
            rate = duration / max(best["decode"], 1e-9)
            print(
                f"| {name} | {rate:,.0f} | {100 * best['decode'] / best['total']:.2f} % |",
                flush=True,
            )


if __name__ == "__main__":
    main()

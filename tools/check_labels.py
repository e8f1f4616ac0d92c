#!/usr/bin/env python3
"""Compare `diarist label` with its rule (docs/transcripts.md), written down a second time.

usage: check_labels.py DIARIST [--seed N] [--count N]

Random turns and transcripts whose times are whole milliseconds: speakers are found by counting
cells of one millisecond, without intervals, sorting or trees. Every form of transcript is tried,
and what came out is put together again and must be what went in, but for the speakers.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LENGTH = 20000  # cells
NOBODY = "UNKNOWN"
WORDS = ["yes", "no,", "we", "met", "in", "Paris.", "25", "«naïve»", "日本", "it's", "a", "a"]


def random_turns(rng):
    """(start, end, name) in milliseconds; few or many, overlapping, touching, doubled."""
    names = ["Anna", "Bob", "Cy", "Dee"][: rng.randint(1, 4)]
    grid = rng.choice([1, 50, 250])
    turns = []
    for _ in range(rng.randint(0, 14)):
        start = rng.randrange(0, LENGTH - 3000, grid)
        end = start + grid * rng.randint(1, max(1, 3000 // grid))
        turns.append((start, end, rng.choice(names)))
    return turns


class Rule:
    """The rule of docs/transcripts.md on cells of one millisecond."""

    def __init__(self, turns, offset, reach):
        self.offset = offset
        self.reach = reach
        self.last = None
        self.cells = {}
        for start, end, name in turns:
            row = self.cells.setdefault(name, bytearray(LENGTH))
            for cell in range(start, end):
                row[cell] = 1

    def count(self, name, start, end):
        return self.cells[name][max(start, 0) : max(end, 0)].count(1)

    def begin(self, name, start, end):
        """Start of the first stretch of a speaker that reaches into cells [start, end)."""
        row = self.cells[name]
        cell = next(c for c in range(max(start, 0), min(end, LENGTH)) if row[c])
        while cell > 0 and row[cell - 1]:
            cell -= 1
        return cell

    def choose(self, names, start, end):
        if self.last in names:
            return self.last
        return min(names, key=lambda name: (self.begin(name, start, end), name))

    def speaker(self, span):
        """Speaker of a span on the transcript's clock; None for nobody."""
        if span is None:
            return None
        start, end = (time + self.offset for time in span)
        found = None
        counts = {name: self.count(name, start, end) for name in self.cells}
        most = max(counts.values(), default=0)
        if most > 0:
            found = self.choose([n for n in counts if counts[n] == most], start, end)
        else:
            for distance in range(self.reach + 1):
                # Cells that touch the span at this distance, one on each side.
                around = (start - distance - 1, end + distance + 1)
                near = [name for name in self.cells if self.count(name, *around) > 0]
                if near:
                    found = self.choose(near, *around)
                    break
        self.last = found or self.last
        return found

    def words(self, spans, whole):
        """Speakers of a segment's words; `whole` is the segment's span."""
        found = [self.speaker(span) for span in spans]
        if all(span is None for span in spans):
            return [self.speaker(whole)] * len(spans)
        result = list(found)
        for i, span in enumerate(spans):
            if span is not None:
                continue
            before = next((j for j in range(i, -1, -1) if spans[j] is not None), None)
            after = next((j for j in range(i, len(spans)) if spans[j] is not None), None)
            if before is None or after is None:
                result[i] = found[after if before is None else before]
                continue
            result[i] = found[before]
            gap = spans[after][0] - spans[before][1]
            if found[before] == found[after] or gap <= 0:
                continue
            # Shares of the gap in microseconds, each cell counted by how much of it they hold.
            share = gap * 1000 // (after - before - 1)
            start = (spans[before][1] + self.offset) * 1000 + share * (i - before - 1)
            spoken = {None: 0}
            for name in (found[before], found[after]):
                if name is not None:
                    spoken[name] = self.partly(name, start, start + share)
            if spoken[found[after]] > spoken[found[before]]:
                result[i] = found[after]
        return result

    def partly(self, name, start, end):
        total = 0
        for cell in range(max(start // 1000, 0), min(end // 1000 + 1, LENGTH)):
            if self.cells[name][cell]:
                total += max(0, min(end, cell * 1000 + 1000) - max(start, cell * 1000))
        return total


def random_segments(rng, form):
    """Segments with spans in milliseconds and words; None where a time is missing."""
    segments = []
    at = rng.randint(0, 1500)
    for _ in range(rng.randint(1, 6)):
        words = []
        start = at
        for _ in range(rng.randint(1, 7)):
            length = rng.choice([0, 0, 20, 150, 400, 900])
            words.append(((at, at + length), rng.choice(WORDS)))
            at += length + rng.choice([0, 0, 0, 30, 400])
        segments.append({"span": (start, at), "words": words})
        at += rng.choice([0, 100, 2500])
        if at > LENGTH - 9000:
            break
    missing = {"whisperx": 0.25, "cpp": 0.1}.get(form, 0)
    for segment in segments:
        segment["words"] = [
            (None if rng.random() < missing else span, text) for span, text in segment["words"]
        ]
    return segments


def whisper_document(segments, form, rng):
    """JSON of openai-whisper, faster-whisper or WhisperX."""
    blank = "" if form == "whisperx" else " "
    listed, loose = [], []
    for number, segment in enumerate(segments):
        words = []
        for span, text in segment["words"]:
            word = {"word": blank + text}
            if span is not None:
                word |= {"start": span[0] / 1000, "end": span[1] / 1000, "score": 0.5}
            elif rng.random() < 0.3:
                word |= {"start": None, "end": float("nan")}
            words.append(word)
        loose += words
        text = "".join(" " + text for _, text in segment["words"])
        node = {"id": number, "start": segment["span"][0] / 1000, "end": segment["span"][1] / 1000}
        node |= {"text": text.strip() if form == "whisperx" else text, "tokens": [1, 2]}
        if form != "plain":
            node["words"] = words
        listed.append(node)
    if form == "faster":
        return listed
    document = {"segments": listed, "language": "en"}
    return document | ({"word_segments": loose} if form == "whisperx" else {})


def clock(time, point):
    minutes, milliseconds = divmod(time, 60000)
    seconds, milliseconds = divmod(milliseconds, 1000)
    return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}{point}{milliseconds:03}"


def cpp_document(segments):
    """JSON of whisper.cpp -ojf: every word but the shortest is two tokens."""

    def times(span):
        return {
            "timestamps": {"from": clock(span[0], ","), "to": clock(span[1], ",")},
            "offsets": {"from": span[0], "to": span[1]},
        }

    listed = []
    for segment in segments:
        tokens = [{"text": "[_BEG_]", "id": 50363}]
        for span, text in segment["words"]:
            halves = [" " + text[:2], text[2:]] if len(text) > 2 else [" " + text]
            for place, piece in enumerate(halves):
                token = {"text": piece}
                if span is not None:
                    middle = (span[0] + span[1]) // 2
                    cut = [span[0], middle, span[1]] if len(halves) == 2 else list(span)
                    token |= times((cut[place], cut[place + 1]))
                tokens.append(token | {"id": 7, "p": 0.25})
        text = "".join(" " + text for _, text in segment["words"])
        listed.append(times(segment["span"]) | {"text": text, "tokens": tokens})
    return {"model": {"type": "base"}, "transcription": listed}


def expected_pieces(rule, segments, with_words):
    """(segment, words, speaker) of every piece, in order."""
    pieces = []
    for number, segment in enumerate(segments):
        texts = [text for _, text in segment["words"]]
        if not with_words:
            pieces.append((number, texts, rule.speaker(segment["span"]) or NOBODY))
            continue
        found = rule.words([span for span, _ in segment["words"]], segment["span"])
        for text, name in zip(texts, found, strict=True):
            name = name or NOBODY
            if pieces and pieces[-1][0] == number and pieces[-1][2] == name:
                pieces[-1][1].append(text)
            else:
                pieces.append((number, [text], name))
    return pieces


def pieces_of_json(document, form):
    pieces = []
    listed = document if isinstance(document, list) else None
    listed = listed or document.get("segments") or document["transcription"]
    for node in listed:
        if form == "cpp":
            tokens = [t for t in node["tokens"] if not t["text"].startswith("[_")]
            words = "".join(token["text"] for token in tokens).split()
            names = {token["speaker"] for token in tokens}
        else:
            words = [word["word"].strip() for word in node.get("words", [])]
            words = words or node["text"].split()
            names = {word["speaker"] for word in node.get("words", [])}
        assert names <= {node["speaker"]}, f"a piece of {names}"
        assert node["text"].split() == words, f"{node['text']!r} is not {words}"
        pieces.append((words, node["speaker"]))
    return pieces


def without_speakers(value):
    if isinstance(value, dict):
        return {k: without_speakers(v) for k, v in value.items() if k != "speaker"}
    if isinstance(value, list):
        return [without_speakers(item) for item in value]
    return repr(value) if isinstance(value, float) else value


def joined_again(document, form, pieces):
    """The document with its pieces put together, to be compared with what went in."""
    document = without_speakers(document)
    key = "transcription" if form == "cpp" else "segments"
    listed = document if isinstance(document, list) else document[key]
    result = []
    last = None
    for node, (number, _, _) in zip(listed, pieces, strict=True):
        if number != last:
            result.append(node)
        else:
            whole = result[-1]
            blank = " " if form == "whisperx" else ""
            whole["text"] += blank + node["text"]
            for part in ("words", "tokens"):
                if part in whole and isinstance(whole[part][0], dict):
                    whole[part] += node[part]
            for edge in [("end",), ("timestamps", "to"), ("offsets", "to")]:
                if edge[0] in whole and len(edge) == 1:
                    whole["end"] = node["end"]
                elif edge[0] in whole:
                    whole[edge[0]]["to"] = node[edge[0]]["to"]
        last = number
    if isinstance(document, list):
        return result
    return document | {key: result}


def subtitles(segments, form):
    point = "," if form == "srt" else "."
    text = "" if form == "srt" else "WEBVTT\n\n"
    for number, segment in enumerate(segments, start=1):
        start, end = (clock(time, point) for time in segment["span"])
        words = " ".join(text for _, text in segment["words"])
        text += f"{number}\n{start} --> {end}\n{words}\n\n"
    return text


def pieces_of_subtitles(text, form):
    pattern = r"-->.*\n(\w+): (.*)\n" if form == "srt" else r"-->.*\n<v (\w+)>(.*)\n"
    return [(match[1].split(), match[0]) for match in re.findall(pattern, text)]


def run(program, folder, source, turns, offset, reach, extra=()):
    (folder / "turns.rttm").write_text(
        "".join(
            f"SPEAKER r 1 {start / 1000:.3f} {(end - start) / 1000:.3f} <NA> <NA> {name}\n"
            for start, end, name in turns
        )
    )
    (folder / "transcript").write_text(source, encoding="utf-8")
    command = [program, "label", folder / "transcript", "--turns", folder / "turns.rttm"]
    command += ["--offset", str(offset / 1000), "--max-distance", str(reach / 1000), *extra]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout


def check_one(program, folder, rng):
    form = rng.choice(["whisper", "faster", "whisperx", "plain", "cpp", "srt", "vtt"])
    turns = random_turns(rng)
    offset = rng.choice([0, 0, -300, 1250])
    reach = rng.choice([0, 500, 500, 2000])
    segments = random_segments(rng, form)
    subtitle = form in ("srt", "vtt")
    if subtitle:
        source = subtitles(segments, form)
    elif form == "cpp":
        source = json.dumps(cpp_document(segments), ensure_ascii=False, indent="\t")
    else:
        style = rng.choice([{}, {"indent": 2}, {"separators": (",", ":")}])
        ascii_only = rng.random() < 0.5
        document = whisper_document(segments, form, rng)
        source = json.dumps(document, ensure_ascii=ascii_only, **style)
    rule = Rule(turns, offset, reach)
    expected = expected_pieces(rule, segments, not subtitle and form != "plain")
    out = run(program, folder, source, turns, offset, reach)
    found = pieces_of_subtitles(out, form) if subtitle else pieces_of_json(json.loads(out), form)
    wanted = [(words, name) for _, words, name in expected]
    if found != wanted:
        return f"{form}: expected {wanted}\nfound {found}\nturns {turns}\n{source}"
    if not subtitle:
        again = joined_again(json.loads(out), form, expected)
        if again != without_speakers(json.loads(source)):
            return f"{form}: not what went in\n{source}\n{out}"
        lines = run(program, folder, source, turns, offset, reach, ["--format", "srt"])
        if pieces_of_subtitles(lines, "srt") != wanted:
            return f"{form}: as SRT {lines}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        for case in range(arguments.count):
            problem = check_one(arguments.program, Path(name), rng)
            if problem is not None:
                wrong += 1
                print(f"case {case}: {problem}")
    print(f"{arguments.count} transcripts, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

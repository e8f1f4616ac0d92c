#!/usr/bin/env python3
"""Makes long recordings full of speech out of short ones, for measurements.

usage: make_hours.py --out FOLDER [options] SOURCE...
       make_hours.py --pack FILE.npz SOURCE...

A SOURCE is a recording, a folder of them (searched to the bottom), or a pack. The sources are cut
into stretches of speech: long silences go, long stretches are cut where they are quietest. Each
recording is a shuffle of all stretches, each at a level of its own, over and over until it is long
enough; pauses of faint noise between them make the wanted share of speech. (Silences under 0.3 s
count as speech; a segmentation network finds some 5 % less.)

The same sources, options and seed give the same bytes on every machine, since samples at 16 kHz see
integers only. (Sources at other rates are resampled in floating point.)

A pack holds the samples of its sources in a third of their size, so that a machine that can be sent
little makes the same hours from it.

needs: numpy; libsndfile for anything but WAV files of 16 bits at 16 kHz
"""

import argparse
import concurrent.futures
import ctypes
import ctypes.util
import io
import os
import pathlib
import random
import sys
import wave
import zipfile

import numpy as np

RATE = 16000
FRAME = 320  # samples: 20 ms, the unit of every decision about speech
LOUD_OVER_QUIET = 64  # in energy: frames 18 dB below the loud ones are no speech
GAP = 15  # frames: shorter silences belong to the speech around them
SHORTEST = 5  # frames of a stretch
MARGIN = 2  # frames kept around speech
CUT_FROM, CUT_TO = 200, 600  # frames: where a long stretch is cut, 4 to 12 s from its start
FADE = 80  # samples at each end of a stretch
UNITY = 4096  # gains are integers over it
GAIN_LOW, GAIN_HIGH = 1638, 6144  # 0.4 to 1.5
PEAK = 29491  # nine tenths of full scale
ENDINGS = {".wav", ".flac", ".ogg", ".opus", ".mp3", ".aif", ".aiff", ".au", ".w64", ".npz"}


class RefusalError(Exception):
    """What a user can mend."""


# ---- reading -----------------------------------------------------------------------------------


class SndfileInfo(ctypes.Structure):
    _fields_ = (
        ("frames", ctypes.c_int64),
        ("rate", ctypes.c_int),
        ("channels", ctypes.c_int),
        ("format", ctypes.c_int),
        ("sections", ctypes.c_int),
        ("seekable", ctypes.c_int),
    )


def load_sndfile():
    name = ctypes.util.find_library("sndfile") or "libsndfile.so.1"
    try:
        library = ctypes.CDLL(name)
    except OSError:
        raise RefusalError(
            "libsndfile is missing; install it, or give WAV files or a pack"
        ) from None
    library.sf_open.restype = ctypes.c_void_p
    library.sf_open.argtypes = (ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(SndfileInfo))
    library.sf_readf_float.restype = ctypes.c_int64
    library.sf_readf_float.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    library.sf_close.argtypes = (ctypes.c_void_p,)
    return library


def read_with_sndfile(file):
    """Samples [frames, channels] as floats, and their rate."""
    library = load_sndfile()
    info = SndfileInfo()
    handle = library.sf_open(os.fsencode(file), 0x10, ctypes.byref(info))
    if not handle:
        raise RefusalError("%s: libsndfile can't read it" % file)
    try:
        blocks = []
        while True:
            block = np.empty((1 << 16, info.channels), np.float32)
            count = library.sf_readf_float(handle, block.ctypes.data, len(block))
            if count <= 0:
                break
            blocks.append(block[:count])
    finally:
        library.sf_close(handle)
    return np.concatenate(blocks or [np.empty((0, info.channels), np.float32)]), info.rate


def resample(samples, rate):
    """The spectrum up to the lower half rate, at 16 kHz."""
    count = len(samples) * RATE // rate
    spectrum = np.fft.rfft(samples)[: count // 2 + 1]
    return np.fft.irfft(spectrum, count) * (count / len(samples))


def read_recording(file):
    """Samples of a file as 16-bit integers, 16 kHz, one channel."""
    try:
        with wave.open(str(file)) as sound:
            if (sound.getsampwidth(), sound.getnchannels(), sound.getframerate()) == (2, 1, RATE):
                data = sound.readframes(sound.getnframes())
                return np.frombuffer(data[: len(data) // 2 * 2], "<i2").astype(np.int16)
    except (wave.Error, EOFError):
        pass  # another format, or a kind of WAV that is left to libsndfile
    samples, rate = read_with_sndfile(file)
    mono = samples.mean(axis=1, dtype=np.float64)
    if rate != RATE and len(mono):
        mono = resample(mono, rate)
    return np.clip(np.rint(mono * 32768), -32768, 32767).astype(np.int16)


def find_files(places):
    files = []
    for place in map(pathlib.Path, places):
        if not place.exists():
            raise RefusalError("%s: there is no such file or folder" % place)
        if place.is_dir():
            inside = sorted(f for f in place.rglob("*") if f.suffix.lower() in ENDINGS)
            if not inside:
                raise RefusalError("%s: no recordings in this folder" % place)
            files += inside
        else:
            files.append(place)
    return files


def read_sources(places):
    sources = []
    for file in find_files(places):
        sources += read_pack(file) if file.suffix.lower() == ".npz" else [read_recording(file)]
    return sources


# ---- packs -------------------------------------------------------------------------------------


def write_pack(file, sources):
    """Second differences with the sign last, high bytes and low bytes apart: LZMA likes those."""
    part = file.with_name(file.name + ".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_LZMA) as pack:
        for number, samples in enumerate(sources):
            steps = samples
            for _ in range(2):
                steps = np.diff(steps, prepend=np.int16(0))
            folded = (steps << 1) ^ (steps >> 15)
            planes = np.ascontiguousarray(folded.astype("<i2").view(np.uint8).reshape(-1, 2).T)
            array = io.BytesIO()
            np.lib.format.write_array(array, planes)
            # A fixed date: packs of the same sources are the same files.
            entry = zipfile.ZipInfo("%03d.npy" % number, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_LZMA
            pack.writestr(entry, array.getvalue())
    os.replace(part, file)


def read_pack(file):
    sources = []
    try:
        with np.load(file, allow_pickle=False) as pack:
            arrays = [pack[name] for name in sorted(pack.files)]
    except (OSError, ValueError, AttributeError, zipfile.BadZipFile):
        arrays = []
    if not arrays or any(a.ndim != 2 or len(a) != 2 or a.dtype != np.uint8 for a in arrays):
        raise RefusalError("%s: this is no pack of make_hours.py" % file)
    for planes in arrays:
        folded = np.ascontiguousarray(planes.T).view("<u2").ravel()
        steps = (folded >> 1).astype(np.int16) ^ -(folded & 1).astype(np.int16)
        for _ in range(2):
            steps = np.cumsum(steps, dtype=np.int16)
        sources.append(steps)
    return sources


# ---- cutting -----------------------------------------------------------------------------------


def frame_energy(samples):
    frames = samples[: len(samples) // FRAME * FRAME].reshape(-1, FRAME).astype(np.int64)
    return (frames * frames).sum(axis=1)


def runs_of(flags):
    """[first, end) of every run of ones."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], flags.astype(np.int8), [0]))))
    return edges.reshape(-1, 2).tolist()


def speech_runs(energy):
    if not len(energy):
        return []
    loud = int(np.sort(energy)[len(energy) * 95 // 100])
    joined = []
    for first, end in runs_of(energy > max(loud // LOUD_OVER_QUIET, FRAME)):
        if joined and first - joined[-1][1] < GAP:
            joined[-1][1] = end
        else:
            joined.append([first, end])
    return [run for run in joined if run[1] - run[0] >= SHORTEST]


def cut_long(first, end, energy):
    """Pieces of a run, cut at the quietest five frames where it is long."""
    while end - first > CUT_TO:
        sums = np.concatenate(([0], np.cumsum(energy[first + CUT_FROM - 2 : first + CUT_TO + 3])))
        around = sums[5:] - sums[:-5]
        cut = first + CUT_FROM + int(np.argmin(around))
        yield first, cut
        first = cut
    if end - first >= SHORTEST:
        yield first, end


def stretches_of(samples):
    energy = frame_energy(samples)
    stretches = []
    for run_first, run_end in speech_runs(energy):
        for first, end in cut_long(run_first, run_end, energy):
            begin = max(0, first - (MARGIN if first == run_first else 0)) * FRAME
            stop = min(len(samples), (end + (MARGIN if end == run_end else 0)) * FRAME)
            stretches.append(samples[begin:stop])
    return stretches


# ---- mixing ------------------------------------------------------------------------------------


def levelled(samples, dice):
    peak = max(1, int(np.abs(samples.astype(np.int32)).max()))
    gain = GAIN_LOW + int(dice.random() * (GAIN_HIGH - GAIN_LOW))
    gain = min(gain, PEAK * UNITY // peak)
    out = (samples.astype(np.int32) * gain + UNITY // 2) // UNITY
    fade = min(FADE, len(out) // 2)
    ramp = np.arange(fade, dtype=np.int32)
    out[:fade] = out[:fade] * ramp // FADE
    out[len(out) - fade :] = out[len(out) - fade :] * ramp[::-1] // FADE
    return out.astype(np.int16)


def mix(stretches, length, share, seed):
    """`length` samples, and how many of them are no pause."""
    dice = random.Random(seed)
    # Of Python's and NumPy's generators only these two outputs are promised to stay as they are.
    noise = np.random.PCG64(int(dice.random() * 2**53)).random_raw(length // 8 + 1).astype("<u8")
    out = (noise.view(np.int8)[:length] >> 6).astype(np.int16)  # -2 to 1
    at = speech = 0
    missing = 0.0  # samples of pause, to reach the share
    while at < length:
        for stretch in sorted(stretches, key=lambda _: dice.random()):
            piece = levelled(stretch, dice)[: length - at]
            out[at : at + len(piece)] = piece
            at += len(piece)
            speech += len(piece)
            missing += len(piece) / share - len(piece)
            # Longer than a gap, so that they are silences by any measure.
            if missing > (0.4 + 0.6 * dice.random()) * RATE:
                at += int(missing)
                missing = 0.0
            if at >= length:
                break
    return out, speech


def make_one(job):
    file, stretches, length, share, seed = job
    samples, speech = mix(stretches, length, share, seed)
    part = file.with_name(file.name + ".part")
    with wave.open(str(part), "wb") as sound:
        sound.setparams((1, 2, RATE, 0, "NONE", ""))
        sound.writeframes(samples.astype("<i2").tobytes())
    os.replace(part, file)
    return speech


def make_hours(arguments, sources):
    stretches = [stretch for samples in sources for stretch in stretches_of(samples)]
    if not stretches:
        raise RefusalError("no speech in these sources")
    arguments.out.mkdir(parents=True, exist_ok=True)
    length = round(arguments.minutes * 60 * RATE)
    digits = max(2, len(str(arguments.count - 1)))
    jobs = [
        (
            arguments.out / ("%s%0*d.wav" % (arguments.name, digits, number)),
            stretches,
            length,
            arguments.speech_share,
            "%d/%d" % (arguments.seed, number),
        )
        for number in range(arguments.count)
    ]
    with concurrent.futures.ProcessPoolExecutor(min(arguments.jobs, len(jobs))) as pool:
        speech = sum(pool.map(make_one, jobs))
    print(
        "%d recordings of %.1f min in %s: %.1f %% speech; %d stretches of %.1f min in %d sources"
        % (
            arguments.count,
            arguments.minutes,
            arguments.out,
            100 * speech / (length * arguments.count),
            len(stretches),
            sum(map(len, sources)) / RATE / 60,
            len(sources),
        )
    )


# ---- command line ------------------------------------------------------------------------------


def number_in(convert, low, high):
    def parse(text):
        value = convert(text)
        if not low <= value <= high:  # NaN is in no range
            raise argparse.ArgumentTypeError("%s is not from %s to %s" % (text, low, high))
        return value

    parse.__name__ = convert.__name__
    return parse


def parse(arguments):
    head, _, rest = __doc__.partition("\nusage:")
    parser = argparse.ArgumentParser(
        description=head,
        epilog=rest[rest.index("\n\n") :],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="recording, folder or pack")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--out", type=pathlib.Path, help="folder for the recordings")
    target.add_argument("--pack", type=pathlib.Path, metavar="FILE", help="write a pack (.npz)")
    parser.add_argument(
        "--count", type=number_in(int, 1, 10000), default=20, help="recordings (20)"
    )
    parser.add_argument(
        "--minutes", type=number_in(float, 0.01, 1440), default=60, help="each (60)"
    )
    parser.add_argument("--seed", type=int, default=1, help="another seed, other recordings (1)")
    parser.add_argument(
        "--speech-share", type=number_in(float, 0.05, 1), default=0.95, help="(0.95)"
    )
    parser.add_argument("--name", default="hour", help="start of the file names (hour)")
    parser.add_argument(
        "--jobs", type=number_in(int, 1, 1024), default=os.cpu_count() or 1, help="processes (all)"
    )
    options = parser.parse_args(arguments)
    if options.pack and options.pack.suffix.lower() != ".npz":
        parser.error("--pack: the name of a pack ends in .npz")
    return options


def main(arguments):
    options = parse(arguments)
    try:
        sources = read_sources(options.sources)
        if options.pack:
            write_pack(options.pack, sources)
            seconds = sum(map(len, sources)) / RATE
            size = options.pack.stat().st_size
            print("%s: %.1f min, %.1f MB" % (options.pack, seconds / 60, size / 1e6))
        else:
            make_hours(options, sources)
    except (RefusalError, OSError) as problem:
        sys.exit("make_hours: %s" % problem)


if __name__ == "__main__":
    main(sys.argv[1:])

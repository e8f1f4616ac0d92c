#!/usr/bin/env python3
"""Tests of make_hours.py on sources made here. Needs numpy, in this Python or the tests' own."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
import wave
from pathlib import Path

if importlib.util.find_spec("numpy") is None:
    other = os.environ.get("DIARIST_TEST_PYTHON", "")
    if not other or os.environ.get("DIARIST_TEST_REEXEC"):
        print("needs numpy, or DIARIST_TEST_PYTHON naming a Python that has it")
        sys.exit(77)
    os.environ["DIARIST_TEST_REEXEC"] = "1"
    os.execv(other, [other, *sys.argv])

import make_hours
import numpy as np

RATE = make_hours.RATE


def bursts(seed, seconds, level=8000):
    """Noise that comes and goes: 1 to 3 s loud, 0.1 to 2 s nearly silent."""
    rng = np.random.default_rng(seed)
    parts, length = [], 0
    while length < seconds * RATE:
        loud = rng.integers(-level, level, rng.integers(RATE, 3 * RATE))
        quiet = rng.integers(-3, 3, rng.integers(RATE // 10, 2 * RATE))
        parts += [loud, quiet]
        length += len(loud) + len(quiet)
    return np.concatenate(parts)[: seconds * RATE].astype(np.int16)


def write_wav(file, samples, rate=RATE, channels=1):
    with wave.open(str(file), "wb") as sound:
        sound.setparams((channels, 2, rate, 0, "NONE", ""))
        sound.writeframes(samples.astype("<i2").tobytes())


def read_wav(file):
    with wave.open(str(file)) as sound:
        assert (sound.getframerate(), sound.getnchannels(), sound.getsampwidth()) == (RATE, 1, 2)
        return np.frombuffer(sound.readframes(sound.getnframes()), "<i2")


class MakeHours(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.sources = self.root / "sources"
        (self.sources / "inside").mkdir(parents=True)
        write_wav(self.sources / "a.wav", bursts(1, 40))
        write_wav(self.sources / "inside" / "b.wav", bursts(2, 30, 20000))

    def run_script(self, *arguments):
        command = [sys.executable, make_hours.__file__, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def make(self, name, *arguments, source=None):
        out = self.root / name
        result = self.run_script(
            "--out", out, "--minutes", "1.5", *arguments, source or self.sources
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        return [file.read_bytes() for file in sorted(out.iterdir())]

    def test_a_seed_makes_the_same_bytes_and_every_file_is_another(self):
        first = self.make("first", "--count", "3", "--seed", "7")
        again = self.make("again", "--count", "3", "--seed", "7", "--jobs", "1")
        self.assertEqual(len(first), 3)
        self.assertEqual(first, again)
        other = self.make("other", "--count", "3", "--seed", "8")
        self.assertEqual(len({*first, *other}), 6)
        # More recordings leave the first ones alone.
        self.assertEqual(self.make("more", "--count", "4", "--seed", "7")[:3], first)

    def test_a_pack_makes_the_hours_of_its_sources(self):
        pack = self.root / "sources.npz"
        self.assertEqual(self.run_script("--pack", pack, self.sources).returncode, 0)
        for samples, packed in zip(
            make_hours.read_sources([self.sources]), make_hours.read_sources([pack]), strict=True
        ):
            np.testing.assert_array_equal(samples, packed)
        self.assertEqual(
            self.make("a", "--count", "1"), self.make("b", "--count", "1", source=pack)
        )
        again = self.root / "again.npz"
        self.run_script("--pack", again, self.sources)
        self.assertEqual(pack.read_bytes(), again.read_bytes())

    def test_a_pack_keeps_the_largest_steps(self):
        samples = np.array([32767, -32768, 32767, 32767, 0, -1, 1, -32768], np.int16)
        make_hours.write_pack(self.root / "odd.npz", [samples, samples[:0]])
        back = make_hours.read_pack(self.root / "odd.npz")
        np.testing.assert_array_equal(back[0], samples)
        self.assertEqual(len(back[1]), 0)

    def test_length_and_share(self):
        for share in (0.95, 0.5):
            self.make("share%s" % share, "--count", "1", "--speech-share", share)
            samples = read_wav(self.root / ("share%s" % share) / "hour00.wav")
            self.assertEqual(len(samples), 90 * RATE)
            frames = samples[: len(samples) // 320 * 320].reshape(-1, 320).astype(np.float64)
            flags = np.sqrt((frames**2).mean(axis=1)) > 100
            # Silences under 0.3 s count as speech, as the script counts them.
            for first, end in make_hours.runs_of(~flags):
                if end - first < make_hours.GAP:
                    flags[first:end] = True
            self.assertAlmostEqual(flags.mean(), share, delta=0.03)

    def test_levels_vary_and_stay_below_the_peak(self):
        write_wav(self.root / "loud.wav", bursts(3, 40, 32767))
        self.make("loud", "--count", "1", source=self.root / "loud.wav")
        samples = read_wav(self.root / "loud" / "hour00.wav")
        peaks = np.abs(samples.astype(np.int32)).reshape(-1, RATE // 2).max(axis=1)
        self.assertLessEqual(peaks.max(), 29500)
        self.assertGreater(len(set(peaks[peaks > 1000] // 1000)), 5)

    def test_long_stretches_are_cut_where_they_are_quiet(self):
        samples = np.full(30 * RATE, 5000, np.int16)
        samples[7 * RATE : 7 * RATE + 3200] = 600
        samples[:RATE] = samples[-RATE:] = 0
        lengths = [len(stretch) / RATE for stretch in make_hours.stretches_of(samples)]
        self.assertLess(max(lengths), 12.5)
        self.assertAlmostEqual(sum(lengths), 28, delta=0.2)
        self.assertAlmostEqual(lengths[0], 6.1, delta=0.15)

    def test_other_rates_and_channels(self):
        time = np.arange(44100 * 2) / 44100
        tone = (8000 * np.sin(2 * np.pi * 440 * time)).astype(np.int16)
        file = self.root / "stereo.wav"
        write_wav(file, np.stack([tone, tone], axis=1), rate=44100, channels=2)
        try:
            samples = make_hours.read_recording(file)
        except make_hours.RefusalError as problem:
            self.skipTest(str(problem))
        self.assertEqual(len(samples), 2 * RATE)
        peak = np.argmax(np.abs(np.fft.rfft(samples)))
        self.assertEqual(peak / 2, 440)
        self.assertAlmostEqual(np.abs(samples[1000:-1000]).max(), 8000, delta=100)

    def test_refusals(self):
        silence = self.root / "silence.wav"
        write_wav(silence, np.zeros(RATE))
        (self.root / "empty").mkdir()
        (self.root / "none.npz").write_bytes(b"no pack")
        for arguments, code, words in (
            ((silence,), 1, "no speech"),
            ((self.root / "missing.wav",), 1, "no such file"),
            ((self.root / "empty",), 1, "no recordings"),
            ((self.root / "none.npz",), 1, "none.npz"),
            (("--minutes", "nan", self.sources), 2, "minutes"),
            (("--speech-share", "1.5", self.sources), 2, "share"),
            (("--count", "0", self.sources), 2, "count"),
        ):
            result = self.run_script("--out", self.root / "out", *arguments)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertIn(words, result.stderr)
            self.assertNotIn("Traceback", result.stderr)
        self.assertEqual(self.run_script("--pack", self.root / "a.zip", self.sources).returncode, 2)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Runs a command with a terminal on standard error and tells what appeared there.

usage: terminal.py [--columns N] [--resize N] [--signal NAME] [--after SECONDS] [--when TEXT]
                   [--times N] [--no-terminal] -- COMMAND...

--resize changes the width once something was written. --signal sends a signal --after so many
seconds, or once --when was seen on standard error (0.05 s pass between --times of them).
Prints JSON: code (-signal when killed), err (all that was written to standard error), out, seconds
from the first signal (or the start) to the end.
"""

import argparse
import fcntl
import json
import os
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time


def set_columns(descriptor, columns):
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--columns", type=int, default=80)
    parser.add_argument("--resize", type=int)
    parser.add_argument("--signal")
    parser.add_argument("--after", type=float)
    parser.add_argument("--when")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--no-terminal", action="store_true")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    if options.no_terminal:
        ours, theirs = os.pipe()
    else:
        ours, theirs = os.openpty()
        set_columns(ours, options.columns)
    with tempfile.TemporaryFile() as out:
        start = time.monotonic()
        child = subprocess.Popen(
            options.command, stdin=subprocess.DEVNULL, stdout=out, stderr=theirs
        )
        os.close(theirs)
        err = b""
        sent = 0
        sent_at = start
        resized = False
        while time.monotonic() < start + 120:
            ready, _, _ = select.select([ours], [], [], 0.01)
            if ready:
                try:
                    data = os.read(ours, 65536)
                except OSError:  # Linux says so when the other side of a terminal is closed
                    data = b""
                if not data:
                    break
                err += data
            if options.resize and err and not resized:
                set_columns(ours, options.resize)
                resized = True
            now = time.monotonic()
            if options.signal and sent < options.times:
                if sent == 0:
                    due = now >= start + options.after if options.after is not None else False
                    due = due or (options.when is not None and options.when.encode() in err)
                else:
                    due = now >= sent_at + 0.05 * sent
                if due:
                    if sent == 0:
                        sent_at = now
                    child.send_signal(getattr(signal, options.signal))
                    sent += 1
        else:
            child.kill()
        code = child.wait()
        seconds = time.monotonic() - sent_at
        out.seek(0)
        json.dump(
            {
                "code": code,
                "err": err.decode("utf-8", "replace"),
                "out": out.read().decode("utf-8", "replace"),
                "seconds": seconds,
            },
            sys.stdout,
        )


main()

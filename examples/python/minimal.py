"""Who spoke when in a recording. usage: minimal.py RECORDING"""

import sys

import diarist

pipeline = diarist.Pipeline("open")
for turn in pipeline(sys.argv[1]):
    print(f"{turn.start:8.3f} {turn.end:8.3f}  {turn.speaker}")

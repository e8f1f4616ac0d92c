"""Many recordings, one RTTM file each; one that fails stops nothing.

usage: batch.py FOLDER RECORDING...
"""

import sys
from pathlib import Path

import diarist

folder, files = Path(sys.argv[1]), sys.argv[2:]
pipeline = diarist.Pipeline("open")
failures = 0
for outcome in pipeline.map(files):
    if outcome.result is None:
        failures += 1
        print(f"batch: {outcome.error}", file=sys.stderr)
    else:
        outcome.result.save(folder / f"{outcome.result.uri}.rttm")
print(f"{len(files) - failures} of {len(files)} recordings")
sys.exit(1 if failures else 0)

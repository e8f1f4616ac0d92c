"""How far a result is from labels. usage: score.py LABELS RECORDING"""

import sys

import diarist

labels, recording = sys.argv[1:]
result = diarist.Pipeline("open")(recording)
score = diarist.score(labels, result)
print(f"DER {100 * score.der:.2f} %, JER {100 * score.jer:.2f} %")

#!/usr/bin/env python3
"""Check that a program for x86-64 has newer instructions only where they are chosen.

usage: check_instructions.py PROGRAM

Kernels for an instruction set live in a namespace of their own (N_AVX2, N_AVX3, ..., N_BF16) and
are called only where the processor has the set. An instruction of that kind anywhere else ends the
program on an older machine. Prints one line per function that has such an instruction and must not,
and exits with 1 when there is any. Needs objdump.
"""

import re
import subprocess
import sys
from collections.abc import Iterable

# Instruction sets by namespace, each with those before it.
ORDER = [
    "SCALAR",
    "SSE2",
    "SSSE3",
    "SSE4",
    "AVX2",
    "AVX3",
    "AVX3_DL",
    "AVX3_ZEN4",
    "AVX3_SPR",
    "BF16",
]
NAMESPACE = re.compile(r"\bN_([A-Z0-9_]+)::")
# Chosen by other means: src/base/sha256_native.cpp asks the processor.
ASKS_ITSELF = re.compile(r"\bdiarist::base::\(anonymous namespace\)::blocks_sha\(")

SSSE3 = re.compile(r"(pshufb|palignr|pabs[bwd]|psign[bwd]|ph(add|sub)s?[wd]|pmaddubsw|pmulhrsw)$")
SSE4 = re.compile(
    r"(pmulld|pmuldq|round[ps][sd]|ptest|p?blendv?(ps|pd|w|b)|pinsr[bdq]|pextr[bdq]|extractps"
    r"|insertps|dpp[sd]|mpsadbw|pm(in|ax)(sb|sd|uw|ud)|pmov[sz]x\w+|packusdw|pcmpeqq|pcmpgtq"
    r"|pcmp[ei]str[im]|crc32[bwlq]?|popcnt[wlq]?|movntdqa|pclmul\w*|aes\w+)$"
)
AVX3 = re.compile(r"%zmm|%[xy]mm(1[6-9]|2[0-9]|3[01])\b|%k[0-7]\b")
VEX_LIKE = {"verr", "verw", "vmcall", "vmlaunch", "vmresume", "vmxoff", "vmxon", "vmfunc"}
BMI2 = re.compile(r"(mulx|pdep|pext|rorx|sarx|shlx|shrx|bzhi|andn|bextr|blsi|blsr|blsmsk)[lq]?$")


def needed_set(mnemonic: str, operands: str) -> str | None:
    """The set that an instruction needs; None for what every x86-64 machine has."""
    if AVX3.search(operands):
        return "AVX3"
    if (mnemonic.startswith("v") and mnemonic not in VEX_LIKE) or BMI2.match(mnemonic):
        return "AVX2"
    if SSE4.match(mnemonic):
        return "SSE4"
    if SSSE3.match(mnemonic):
        return "SSSE3"
    return None


def check(lines: Iterable[str]) -> tuple[dict[str, str], set[str]]:
    """Lines of objdump -> functions with an instruction they must not have, and sets seen."""
    bad: dict[str, str] = {}
    seen: set[str] = set()
    function, allowed = "", ""
    for line in lines:
        if line.endswith(">:\n") or line.endswith(">:"):
            function = line[line.index("<") + 1 : line.rindex(">")]
            found = NAMESPACE.search(function)
            allowed = found[1] if found and found[1] in ORDER else ""
            if allowed:
                seen.add(allowed)
            continue
        parts = line.split("\t")
        if len(parts) < 2 or not parts[0].endswith(":"):
            continue
        words = parts[1].split(None, 1)
        if not words:
            continue
        needs = needed_set(words[0], words[1] if len(words) > 1 else "")
        if needs is None or function in bad or ASKS_ITSELF.search(function):
            continue
        if not allowed or ORDER.index(needs) > ORDER.index(allowed):
            bad[function] = f"{parts[1].strip()} needs {needs}"
    return bad, seen


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    command = ["objdump", "--disassemble", "--demangle", "--no-show-raw-insn", sys.argv[1]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as dump:
        assert dump.stdout is not None
        bad, seen = check(dump.stdout)
    if dump.returncode != 0:
        print(f"objdump failed on {sys.argv[1]}", file=sys.stderr)
        return 2
    for function, why in sorted(bad.items()):
        print(f"{function}: {why}")
    if "AVX2" not in seen or "AVX3" not in seen:
        print("no kernels of AVX2 and AVX3 were found: is the program stripped?")
        return 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

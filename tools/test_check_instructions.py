#!/usr/bin/env python3
"""Tests of check_instructions.py on lines as objdump prints them."""

import unittest

from check_instructions import check, needed_set


def dump(**functions: list[str]) -> list[str]:
    lines = []
    for name, instructions in functions.items():
        lines.append(f"0000000000001000 <{name.replace('__', '::')}(int)>:\n")
        lines += [f"    1000:\t{instruction}\n" for instruction in instructions]
    return lines


class NeededSet(unittest.TestCase):
    def test_names_and_registers(self) -> None:
        for mnemonic, operands, wanted in [
            ("addps", "%xmm0,%xmm1", None),
            ("movdqu", "(%rax),%xmm15", None),
            ("verr", "%ax", None),
            ("pshufb", "%xmm0,%xmm1", "SSSE3"),
            ("roundps", "$0x1,%xmm0,%xmm1", "SSE4"),
            ("vaddps", "%xmm0,%xmm1,%xmm2", "AVX2"),
            ("vfmadd231ps", "%ymm0,%ymm1,%ymm2", "AVX2"),
            ("shlx", "%rax,%rbx,%rcx", "AVX2"),
            ("vaddps", "%ymm16,%ymm1,%ymm2", "AVX3"),
            ("vaddps", "%zmm0,%zmm1,%zmm2", "AVX3"),
            ("kmovw", "%eax,%k1", "AVX3"),
            ("vmovups", "%xmm0,(%rax){%k2}", "AVX3"),
        ]:
            self.assertEqual(needed_set(mnemonic, operands), wanted, f"{mnemonic} {operands}")


class Check(unittest.TestCase):
    def test_kernels_may_use_their_own_set_and_those_before(self) -> None:
        bad, seen = check(
            dump(a__N_AVX3__run=["vaddps %zmm0,%zmm1,%zmm2", "pshufb %xmm0,%xmm1"])
            + dump(a__N_AVX2__run=["vaddps %ymm0,%ymm1,%ymm2"])
            + dump(main=["addps %xmm0,%xmm1", "ret"])
        )
        self.assertEqual((bad, seen), ({}, {"AVX2", "AVX3"}))

    def test_everything_else_is_named(self) -> None:
        bad, _ = check(
            dump(a__N_AVX2__run=["vaddps %zmm0,%zmm1,%zmm2"])
            + dump(std__min=["vminss %xmm0,%xmm1,%xmm2"])
            + dump(_GLOBAL__sub_I_a=["ptest %xmm0,%xmm0"])
        )
        self.assertEqual(len(bad), 3)
        self.assertIn("needs AVX3", bad["a::N_AVX2::run(int)"])


if __name__ == "__main__":
    unittest.main()

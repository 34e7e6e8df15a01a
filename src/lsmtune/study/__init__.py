"""The drivers: they ask optimizers, run trials, keep what came out, and verify it.

A package `studies` would hide the function of this name in `import lsmtune`.
"""

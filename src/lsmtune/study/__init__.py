"""The drivers: they ask optimizers, run trials, keep what came out, and verify it."""

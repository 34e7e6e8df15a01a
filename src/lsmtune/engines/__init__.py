"""The systems under test: each turns a trial spec into a measurement, or says why not."""

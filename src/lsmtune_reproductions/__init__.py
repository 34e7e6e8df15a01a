"""Published studies and optimizers, run again, and optimizers compared."""

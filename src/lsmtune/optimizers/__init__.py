"""Optimizers: pure decisions, from a history of plain records to the next config."""

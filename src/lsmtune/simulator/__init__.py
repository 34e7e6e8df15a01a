"""The simulator of the tree: a run of the rocksdb engine, predicted instead of measured."""

from lsmtune.simulator.native import Prediction, Run, is_installed, known_knobs, predict

__all__ = ["Prediction", "Run", "is_installed", "known_knobs", "predict"]

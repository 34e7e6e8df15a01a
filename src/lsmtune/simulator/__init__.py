"""The simulator of the tree: a run of the rocksdb engine, predicted instead of measured."""

from lsmtune.simulator.native import Prediction, Run, predict

__all__ = ["Prediction", "Run", "predict"]

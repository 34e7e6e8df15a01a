"""The optimizers of lsmtune: one file each, which has the name of the optimizer.

The attribute `make` of a file makes the optimizer. So a new file here is a new optimizer.
"""

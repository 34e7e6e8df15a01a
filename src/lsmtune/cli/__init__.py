"""The command line: one file per command.

The bodies of the commands import what they need, so that `lsmtune --help` is quick.
"""

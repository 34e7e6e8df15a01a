"""The command line: one file a command; wires everything, decides nothing.

The bodies of the commands import what they need themselves, so that `lsmtune --help` answers
at once.
"""

"""What a Python program and the command line call: one function per command.

Nothing here prints, asks or ends the process. Functions return records, raise `LsmtuneError`, and
tell an `Observer` what goes on.
"""

"""The errors of lsmtune: one root, and a class of its own for what the user can mend.

A `UserError` is told in one sentence and ends the program with exit code 2; any other
`LsmtuneError` is told in one sentence and ends it with exit code 1; everything else is a bug
and keeps its traceback.
"""


class LsmtuneError(Exception):
    """Something went wrong that lsmtune foresaw; the message is one sentence for the user."""


class UserError(LsmtuneError):
    """The user's input or wish is at fault; the message names the place and what is allowed."""


class ParseError(LsmtuneError):
    """A file or an output is not what it should be; the message names the line."""

"""First screen of a recipe's page: the result, one sentence, and one chart."""

from lsmtune.report.markup import Html, element
from lsmtune.report.text.words import sentence_start, unbroken

TOO_SMALL = "Too little data to judge the results"
"""Headline of a page without verdicts."""


def opening(topic: str, headline: str, sentence: str, *content: str) -> Html:
    """Return the header of a page; `content` is its chart."""
    return element(
        "header",
        element("p", topic, class_="topic"),
        element("h1", unbroken(sentence_start(headline))),
        element("p", unbroken(sentence)),
        *content,
    )


def too_small_opening(topic: str, reason: str) -> Html:
    """Return the header of a page without verdicts."""
    return opening(
        topic,
        TOO_SMALL,
        f"{sentence_start(reason)}. A run must fill the memtable several times to show how a real "
        "store behaves.",
    )


def too_small_line(reason: str) -> str:
    """Return the line for the terminal when the runs are too small to judge."""
    return f"{TOO_SMALL}: {reason}"

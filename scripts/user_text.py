#!/usr/bin/env python3
"""Collects the text that users read, counts how long its sentences are, and samples it.

    scripts/user_text.py counts [--list] [--check]
    scripts/user_text.py sample docs --seed 1 -n 40
    scripts/user_text.py dump FOLDER

The text has three groups: `docs` (README.md and docs/), `messages` (messages and help in the
source, texts of the catalogue) and `pages` (HTML pages, from --pages or scripts/pages.py).

user_text_markdown.py, user_text_messages.py and user_text_pages.py read the groups;
user_text_sentences.py splits and counts.
"""

import argparse
import math
import random
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from user_text_markdown import docs_texts
from user_text_messages import message_texts
from user_text_pages import page_texts
from user_text_sentences import (
    Sentence,
    Text,
    count_brackets,
    count_semicolons,
    count_words,
    ends_with,
    find_sentences,
)

ROOT = Path(__file__).resolve().parents[1]
GROUPS = ("docs", "messages", "pages")
MAX_MEDIAN, MAX_WORDS, MIN_SHARE = 16, 25, 0.95
_MIN_SAMPLE_WORDS = 5


@dataclass(frozen=True)
class Counts:
    """Lengths of the sentences of a group, and the sentences that break a rule."""

    sentences: int
    median: float
    p95: int
    long: list[Sentence]
    semicolons: list[Sentence]
    brackets: list[Sentence]

    def broken_rules(self) -> list[str]:
        """Return the rules that the group breaks."""
        broken = []
        if self.median > MAX_MEDIAN:
            broken.append(f"median of {self.median:g} words; at most {MAX_MEDIAN}")
        if len(self.long) > (1 - MIN_SHARE) * self.sentences:
            share = len(self.long) / self.sentences
            broken.append(f"{share:.1%} of the sentences have over {MAX_WORDS} words; at most 5 %")
        if self.semicolons:
            broken.append(f"{len(self.semicolons)} sentences with two semicolons")
        if self.brackets:
            broken.append(f"{len(self.brackets)} sentences with two pairs of brackets")
        return broken


def count(sentences: list[Sentence]) -> Counts:
    """Count the words of each sentence."""
    lengths = sorted(count_words(s.text) for s in sentences) or [0]
    return Counts(
        len(sentences),
        statistics.median(lengths),
        lengths[math.ceil(0.95 * len(lengths)) - 1],
        [s for s in sentences if count_words(s.text) > MAX_WORDS],
        [s for s in sentences if count_semicolons(s.text) > 1],
        [s for s in sentences if count_brackets(s.text) > 1],
    )


def sample(sentences: list[Sentence], group: str, seed: int, number: int) -> str:
    """Return random sentences, each below its heading, as Markdown."""
    fit = [s for s in sentences if count_words(s.text) >= _MIN_SAMPLE_WORDS and s.complete]
    if group != "messages":
        fit = [s for s in fit if ends_with(s.text, ".!?")]
    chosen = random.Random(seed).sample(fit, min(number, len(fit)))  # noqa: S311
    items = [f"{i}. **{s.heading}**\n   {s.shown}\n" for i, s in enumerate(chosen, 1)]
    return "\n".join([f"# {len(chosen)} sentences of {group}, seed {seed}\n", *items])


def dump(sentences: list[Sentence]) -> str:
    """Return all sentences of a group, below their headings, as Markdown."""
    lines = []
    for heading, found in groupby(sentences, key=lambda s: s.heading):
        lines += [f"## {heading}\n", *(f"{s.shown}\n" for s in found)]
    return "\n".join(lines)


def _print_counts(groups: dict[str, list[Sentence]], listed: bool) -> bool:
    """Print the counts and, if wanted, the offenders; return whether all rules are kept."""
    print(f"{'group':10}sentences  median  95 %  over {MAX_WORDS}  semicolons  brackets")
    found = {group: count(sentences) for group, sentences in groups.items()}
    for group, c in found.items():
        print(
            f"{group:10}{c.sentences:9}{c.median:8g}{c.p95:6}{len(c.long):9}"
            f"{len(c.semicolons):12}{len(c.brackets):10}"
        )
    if listed:
        for c in found.values():
            _print_offenders("words", c.long, lambda s: count_words(s.text))
            _print_offenders("semicolons", c.semicolons, lambda s: count_semicolons(s.text))
            _print_offenders("pairs of brackets", c.brackets, lambda s: count_brackets(s.text))
    broken = [f"{group}: {rule}" for group, c in found.items() for rule in c.broken_rules()]
    print(*broken, sep="\n", end="\n" if broken else "")
    return not broken


def _print_offenders(
    what: str, sentences: list[Sentence], number: Callable[[Sentence], int]
) -> None:
    for s in sorted(sentences, key=number, reverse=True):
        print(f"{s.path}:{s.line}: {number(s)} {what}: {s.shown}")


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Collect and count the text that users read.")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--root", type=Path, default=ROOT, help="tree to read [this repository]")
    common.add_argument("--pages", type=Path, help="folder of HTML pages [render them]")
    commands = parser.add_subparsers(dest="command", required=True)
    counts = commands.add_parser("counts", parents=[common], help="count words per sentence")
    counts.add_argument("groups", nargs="*", metavar="GROUP", help="groups to count [all]")
    counts.add_argument("--list", action="store_true", help="list sentences that break a rule")
    counts.add_argument("--check", action="store_true", help="exit with 1 if a rule is broken")
    sampled = commands.add_parser("sample", parents=[common], help="print random sentences")
    sampled.add_argument("group", choices=GROUPS)
    sampled.add_argument("--seed", type=int, default=1)
    sampled.add_argument("-n", dest="number", type=int, default=40)
    dumped = commands.add_parser("dump", parents=[common], help="write all sentences to files")
    dumped.add_argument("folder", type=Path)
    options = parser.parse_args(arguments)
    if unknown := sorted(set(getattr(options, "groups", ())) - set(GROUPS)):
        parser.error(f"unknown group {unknown[0]!r}; available: {', '.join(GROUPS)}")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run one command; return its exit code."""
    options = _parse(arguments)
    wanted = [options.group] if options.command == "sample" else getattr(options, "groups", [])
    groups: dict[str, list[Sentence]] = {}
    readers: dict[str, Callable[[], Iterator[Text]]] = {
        "docs": lambda: docs_texts(options.root),
        "messages": lambda: message_texts(options.root),
        "pages": lambda: page_texts(options.root, options.pages),
    }
    complete = True
    for group in wanted or GROUPS:
        try:
            groups[group] = find_sentences(readers[group](), group)
        except LookupError as error:
            print(error, file=sys.stderr)
            complete = False
    if options.command == "counts":
        kept = _print_counts(groups, options.list) and complete
        return int(options.check and not kept)
    if options.command == "sample" and complete:
        print(sample(groups[options.group], options.group, options.seed, options.number))
    elif options.command == "dump":
        options.folder.mkdir(parents=True, exist_ok=True)
        for group, sentences in groups.items():
            (options.folder / f"{group}.md").write_text(dump(sentences), encoding="utf-8")
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())

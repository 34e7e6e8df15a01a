"""Lines in which another program wraps a whole line of RocksDB: JSON, CSV, quotes, colours, folds.

Each function of `LAYERS` gets the first lines of a file. It returns a function that unwraps all
lines, or None if the lines do not have this layer. Layers may lie in one another.
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from html import unescape
from itertools import pairwise

from lsmtune.metrics.anchors import CONTINUED, Ending, Sample, anchor, text_behind
from lsmtune.metrics.frame_order import oldest_first
from lsmtune.metrics.frame_times import last_date, prefix_of
from lsmtune.metrics.log_lines import STAMP
from lsmtune.metrics.prefixes import shape

Layer = Callable[[Iterable[str]], Iterator[str]]

_DECODER = json.JSONDecoder()
_COLOUR = re.compile(r"(?:\x1b|\^\[|#033)\[[0-9;?]*[A-Za-z]")
_NEWLINE, _TAB = "#012", "#011"
_BOUNDARY = re.compile(r"[\s:|>]+")
_ALL = 0.97
_DELIMITERS = ",;\t|"
_MOST_JOINED, _LONGEST_JOINED = 5000, 100_000
_LITERALS = re.compile(r'"(?:[^"\\]|\\.)*"?')
_LITERAL = re.compile(r'((?:[^"\\]|\\.)*)(?:"(.*))?', re.DOTALL)
_FIELD = re.compile(r' \[?([\w.-]+)=("(?:[^"\\]|\\.)*"|[^\s\]]*)\]?')
"""Text behind a message in quotes, such as `[err="…"]` or `level=info`."""
_WORD_BEFORE = re.compile(r"\S*\s?$")
_FURTHER = re.compile(
    r"(\s*)(?:\*\* (?:DB|Compaction) Stats |Uptime\(secs\): |Cumulative (?:writes|stall): "
    r"|  cache_index_and_filter_blocks: )"
)
"""White space in front of a line that RocksDB writes without it."""
_LEAST_WIDTH, _LEAST_FOLDS = 40, 3
_BEGINNINGS = (STAMP.pattern, CONTINUED.pattern, "EVENT_LOG_v1 ", "RocksDB version: ")
_EACH = -1
"""In a path, all records of a list."""
_SECOND_TIME = "(Original Log Time "
"""RocksDB writes it behind the time of a message."""
_DEEPEST, _LONGEST_BEGIN = 20, 40

Path = tuple[str | int, ...]


def _colours(sample: Sample) -> Layer | None:
    if not any(_COLOUR.search(line) for line in sample.lines):
        return None
    return lambda lines: (_COLOUR.sub("", line) if "[" in line else line for line in lines)


def _html(sample: Sample) -> Layer | None:
    return partial(map, unescape) if any("{&quot;" in line for line in sample.lines) else None


def _prefix(sample: Sample) -> Layer | None:
    """Text of one shape in front of all lines, if what follows has times of its own."""
    if sample.is_plain:
        return None
    line, found = sample.anchored[0]
    before = re.split('["{]', line[: found.start()], maxsplit=1)[0]
    lines = [line for line in sample.lines if line.strip()]
    for end in sorted((match.end() for match in _BOUNDARY.finditer(before)), reverse=True):
        pattern = re.compile(shape(before[:end]))
        matches = [match for line in lines if (match := pattern.match(line))]
        if len(matches) >= len(lines) * _ALL:
            rests = [match.string[match.end() :] for match in matches]
            return partial(_without_prefix, pattern) if _is_timed(rests) else None
    return None


def _without_prefix(pattern: re.Pattern[str], lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        match = pattern.match(line)
        yield line if match is None else line[match.end() :]


Fields = tuple[list[str], Iterable[str]]
"""The texts in a record that may be RocksDB's, and the other fields."""


def _texts(
    fields: Callable[[str], Fields | None], records: Iterable[str], *, is_timed: bool
) -> Iterator[str]:
    """Yield the lines in the records; a message without an own time gets that of its record."""
    for text in oldest_first(_timed_texts(fields, records, is_timed=is_timed)):
        yield from text.split("\n")


def _timed_texts(
    fields: Callable[[str], Fields | None], records: Iterable[str], *, is_timed: bool
) -> Iterator[str]:
    for record in records:
        if (found := fields(record)) is None:
            yield record
            continue
        prefix = "" if is_timed else prefix_of(found[1])
        for text in found[0]:
            yield prefix + text.rstrip("\r\n")


def _is_timed(texts: Iterable[str]) -> bool:
    """Return whether most messages have a time of their own, of RocksDB or of a prefix."""
    found = [(text[: match.start()], match) for text in texts if (match := anchor(text))]
    own = [(before, match) for before, match in found if _SECOND_TIME not in before]
    timed = [match.re is STAMP or last_date(before) is not None for before, match in own]
    return sum(timed) * 2 > len(timed)


def _json(sample: Sample) -> Layer | None:
    paths: Counter[Path] = Counter()
    lengths: Counter[Path] = Counter()
    records = [] if sample.is_plain else [_object(line) for line in sample.lines]
    for record in records:
        for path, text in _strings(record):
            if anchor(text):
                paths[path] += 1
                lengths[path] += len(text)
    most = max(paths.values(), default=0)
    is_one_line = any(_EACH in path for path in paths)
    if not sample.explains(most) and not is_one_line:
        return None
    path = min((path for path in paths if paths[path] == most), key=lambda path: lengths[path])
    is_timed = _is_timed(text for record in records for text in _at(record, path))
    return partial(_texts, partial(_of_object, path), is_timed=is_timed)


def _of_object(path: Path, line: str) -> Fields | None:
    record = _object(line)
    texts = list(_at(record, path))
    others = (text for inner, text in _strings(record) if inner != path)
    return (texts, others) if texts else None


def _object(line: str) -> object:
    """Return the first JSON object in a line, or a list of them; None if there is none."""
    try:
        return _DECODER.raw_decode(line, 0 if line[:2] in ("[{", "[[") else line.index("{"))[0]
    except (ValueError, RecursionError):
        return None


def _strings(value: object, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield all texts and numbers with their paths."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, int | float):
        yield path, str(value)
    elif isinstance(value, dict) and len(path) < _DEEPEST:
        for key, inner in value.items():
            yield from _strings(inner, (*path, key))
    elif isinstance(value, list) and len(path) < _DEEPEST:
        for place, inner in enumerate(value):
            is_record = isinstance(inner, dict | list)
            yield from _strings(inner, (*path, _EACH if is_record else place))


def _at(value: object, path: Path) -> Iterator[str]:
    """Yield the texts with a path."""
    if not path:
        if isinstance(value, str):
            yield value
        return
    step, rest = path[0], path[1:]
    if isinstance(value, dict) and isinstance(step, str):
        yield from _at(value.get(step), rest)
    elif isinstance(value, list) and isinstance(step, int):
        for inner in value if step == _EACH else value[step : step + 1]:
            yield from _at(inner, rest)


def _csv(sample: Sample) -> Layer | None:
    """Rows with a text in quotes, in which quotes are doubled."""
    if sample.is_plain and not any('{""' in line for line in sample.lines):
        return None
    for delimiter in _DELIMITERS:
        quoted, places, texts = False, Counter[tuple[int, int]](), []
        for record in _joined(sample.lines):
            row = csv_row(record, delimiter)
            for place, text in enumerate(row if len(row) > 1 else ()):
                if count := sum(anchor(line) is not None for line in text.split("\n")):
                    places[place, len(row)] += count
                    texts.append(text)
                    quoted |= _is_quoted(text, record, delimiter)
        if quoted and sample.explains(places.most_common(1)[0][1]):
            (place, width), _ = places.most_common(1)[0]
            fields = partial(_of_row, delimiter, place)
            rows = partial(_joined, delimiter=delimiter, width=width)
            is_timed = _is_timed(texts)
            return lambda lines: _texts(fields, rows(lines), is_timed=is_timed)
    return None


def _of_row(delimiter: str, place: int, record: str) -> Fields | None:
    row = csv_row(record, delimiter)
    return ([row.pop(place)], row) if len(row) > max(place, 1) else None


def csv_row(record: str, delimiter: str) -> list[str]:
    """Return the cells of a line of CSV; none if a cell is longer than 128 KiB."""
    try:
        return next(csv.reader([record], delimiter=delimiter), [])
    except csv.Error:
        return []


def _is_quoted(text: str, record: str, delimiter: str) -> bool:
    quoted = '"' + text[:_LONGEST_BEGIN].replace('"', '""')
    return record.startswith(quoted) or delimiter + quoted in record


def _joined(lines: Iterable[str], delimiter: str = "", width: int = 0) -> Iterator[str]:
    """Yield rows: a text in quotes may have several lines. A cut row does not hide whole rows."""
    held: list[str] = []
    length = is_open = 0
    for line in lines:
        quotes = line.count('"')
        if held and width and quotes and not quotes & 1 and len(csv_row(line, delimiter)) == width:
            yield from held
            held, length, is_open = [], 0, 0
        is_open ^= quotes & 1
        if not is_open and not held:
            yield line
            continue
        held.append(line)
        length += len(line)
        if not is_open:
            yield "\n".join(held)
        elif len(held) > _MOST_JOINED or length > _LONGEST_JOINED:
            yield from held
        else:
            continue
        held, length, is_open = [], 0, 0
    yield from held


def _syslog(sample: Sample) -> Layer | None:
    """Ends of lines and tabs as rsyslog writes them."""
    return unescaped if any(_NEWLINE in line for line in sample.lines) else None


def unescaped(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines in lines of rsyslog."""
    for line in lines:
        if "#01" in line:
            yield from line.replace(_TAB, "\t").split(_NEWLINE)
        else:
            yield line


def _quotes(sample: Sample) -> Layer | None:
    """Texts in quotes, in which further quotes follow a backslash."""
    if sample.is_plain:
        return None
    begins: Counter[str] = Counter()
    for line, found in sample.anchored:
        for literal in _LITERALS.finditer(line):
            if literal.start() < found.start() < literal.end():
                before = _WORD_BEFORE.search(line, 0, literal.start())
                begins[f'{before[0] if before else ""}"'] += 1
                break
    begin, count = begins.most_common(1)[0] if begins else ("", 0)
    if not sample.explains(count):
        return None
    behind = [quoted[2] or "" for line in sample.lines if (quoted := _literal(line, begin))]
    keys = Counter(field[1] for text in behind for field in _FIELD.finditer(text))
    usual = {key for key, count in keys.items() if count * 2 > len(behind)}
    return partial(_unquoted, begin, Ending.of(behind), usual)


def _unquoted(
    begin: str, ending: Ending | None, usual: set[str], lines: Iterable[str]
) -> Iterator[str]:
    is_json = '"' in begin[:-1]
    for line in lines:
        if (literal := _literal(line, begin)) is not None:
            before = "" if is_json else line[: literal.start() - 1]
            text = _unescaped(literal[1])
            more = "" if is_json else _unusual(literal[2] or "", usual)
            # A message of RocksDB whose end is known is whole.
            text += more if more and text_behind(text) is None else ""
            yield from f"{before}{text}".split("\n")
        elif not is_json:  # TiKV does not quote single words
            yield line if ending is None else ending.off(line)


def _unusual(behind: str, usual: set[str]) -> str:
    """Return the fields behind a text that most texts lack, such as the cause of an error."""
    return "".join(field[0] for field in _FIELD.finditer(behind) if field[1] not in usual)


def _literal(line: str, begin: str) -> re.Match[str] | None:
    at = line.find(begin)
    return None if at < 0 else _LITERAL.match(line, at + len(begin))


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"', strict=False)) if "\\" in text else text
    except ValueError:
        return text


def _indents(sample: Sample) -> Layer | None:
    """White space in front of all further lines of messages."""
    blocks = [match[1] for line in sample.lines if (match := _FURTHER.match(line))]
    if not blocks or not (indent := min(blocks, key=len)):
        return None
    if not all(block.startswith(indent) for block in blocks):
        return None
    return lambda lines: (line.removeprefix(indent) for line in lines)


def _folds(sample: Sample) -> Layer | None:
    """Lines that were cut at one width."""
    width = max(map(len, sample.lines))
    begins = _beginnings(sample)
    pairs = [pair for pair in pairwise(sample.lines) if len(pair[0]) == width]
    cut = [after for _, after in pairs if not begins.match(after) and not after[:1].isspace()]
    cut = [after for after in cut if not anchor(after)]
    if width < _LEAST_WIDTH or len(cut) < max(_LEAST_FOLDS, len(pairs) / 2):
        return None
    return partial(_unfolded, begins, width)


def _unfolded(begins: re.Pattern[str], width: int, lines: Iterable[str]) -> Iterator[str]:
    lines = iter(lines)
    held = next(lines)
    is_full = len(held) == width
    for line in lines:
        if is_full and not begins.match(line):
            held += line
        else:
            yield held
            held = line
        is_full = len(line) == width
    yield held


def _beginnings(sample: Sample) -> re.Pattern[str]:
    """Return a pattern for the begin of a line that is not the rest of another one."""
    line, found = sample.anchored[0]
    first = shape(line[: found.start()]) if line[: found.start()].strip() else STAMP.pattern
    return re.compile("|".join([first, *_BEGINNINGS]))


def _behind(sample: Sample) -> Layer | None:
    """Text behind most messages whose end is known."""
    behind = [text for line, _ in sample.anchored if (text := text_behind(line)) is not None]
    texts = [text for text in behind if text.strip()]
    ending = Ending.of(texts) if len(texts) * 2 > len(behind) else None
    return None if ending is None else partial(map, ending.off)


LAYERS = (_colours, _csv, _prefix, _json, _syslog, _quotes, _html, _indents, _folds, _behind)
"""All layers, in the order in which they are tried."""

"""The lines of a LOG, plain or gzip, whole or damaged, read in one pass, and their times."""

import codecs
import gzip
import io
import re
import sys
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from lsmtune.errors import UserError
from lsmtune.reading import GZIP, check_regular
from lsmtune.units import MIB

STANDARD_INPUT = Path("-")
"""The name of standard input on a command line."""
STAMP = re.compile(
    r"\d{4}/(?:0[1-9]|1[0-2])/(?:0[1-9]|[12]\d|3[01])-(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6} "
)
"""The local time at the begin of a message of RocksDB."""
STAMP_LENGTH = 26
_CHUNK_BYTES = 1 << 18
_LONGEST_LINE_BYTES = 1 << 23
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
MOST_UNPACKED_BYTES = 512 * MIB
"""A gzip file of 2 MB can contain 2 GB, which takes half a minute."""
MOST_LINES = 5_000_000
"""A LOG of 1 GB has fewer lines. Other texts can have hundreds of millions."""
_HOUR_LENGTH = 13
_STAMP_FORMAT = "%Y/%m/%d-%H:%M:%S.%f"
_QUARTER_HOUR_MICROS = 15 * 60 * 10**6


def read_lines(
    path: Path,
    faults: list[str],
    *,
    most_lines: int = MOST_LINES,
    most_unpacked_bytes: int = MOST_UNPACKED_BYTES,
) -> Iterator[str]:
    """Yield the lines without their ends; problems are added to `faults`.

    The text is UTF-8, or UTF-16 with its byte order mark. Other bytes are replaced. A line of more
    than 1 MiB is skipped; RocksDB writes none. About `most_lines` lines are read, and so many bytes
    of a gzip file or of standard input. Raises UserError if the file is missing or not
    readable.
    """
    rest = b""
    overlong, count = 0, 0
    for chunk in _as_utf_8(_chunks(path, faults, most_unpacked_bytes)):
        whole, newline, tail = chunk.rpartition(b"\n")
        if newline:
            text = (rest + whole).decode("utf-8", "replace").replace("\r\n", "\n")
            lines = text.removesuffix("\r").split("\n")
            yield from lines
            count += len(lines)
            if count > most_lines:
                faults.append(f"lsmtune read only the first {count:,} lines")
                return
        rest = tail if newline else rest + tail
        if len(rest) > _LONGEST_LINE_BYTES:
            overlong, rest = overlong + len(rest), b""
    if rest:
        yield rest.decode("utf-8", "replace").rstrip("\r")
    if overlong:
        faults.append(
            f"lsmtune skipped {overlong:,} bytes without a line end, because they are not text"
        )


def _as_utf_8(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Return the text in UTF-8, without a byte order mark."""
    first = next(chunks, b"")
    if first.startswith(_UTF_16):
        decoder = codecs.getincrementaldecoder("utf-16")("replace")
        yield decoder.decode(first).encode("utf-8", "replace")
        for chunk in chunks:
            yield decoder.decode(chunk).encode("utf-8", "replace")
        return
    yield first.removeprefix(codecs.BOM_UTF8)
    yield from chunks


def _chunks(path: Path, faults: list[str], most_bytes: int) -> Iterator[bytes]:
    if path == STANDARD_INPUT:
        yield from _of_standard_input(faults, most_bytes)
        return
    check_regular(path, str(path))
    try:
        with path.open("rb") as file:
            packed = file.read(len(GZIP)) == GZIP
            file.seek(0)
            if not packed:
                while chunk := file.read(_CHUNK_BYTES):
                    yield chunk
                return
            with gzip.open(file) as unpacked:
                yield from _unpacked(unpacked, faults, most_bytes)
    except OSError as error:
        raise UserError(f"{path}: cannot read the file: {error.strerror or error}") from error


def _of_standard_input(faults: list[str], most_bytes: int) -> Iterator[bytes]:
    file = io.BufferedReader(sys.stdin.buffer)  # type: ignore[type-var]  # for peek
    if file.peek(len(GZIP))[: len(GZIP)] == GZIP:
        with gzip.open(file) as unpacked:
            yield from _unpacked(unpacked, faults, most_bytes)
        return
    read = 0
    while chunk := file.read1(_CHUNK_BYTES):
        yield chunk
        read += len(chunk)
        if read > most_bytes:
            faults.append(f"lsmtune read only the first {most_bytes // MIB} MiB of standard input")
            return


def _unpacked(file: gzip.GzipFile, faults: list[str], most_bytes: int) -> Iterator[bytes]:
    """What can be unpacked; small pieces, so that little is lost where the file is cut."""
    unpacked = 0
    try:
        while chunk := file.read1(_CHUNK_BYTES):
            yield chunk
            unpacked += len(chunk)
            if unpacked > most_bytes:
                faults.append(
                    f"lsmtune read only the first {most_bytes // MIB} MiB of the unpacked file"
                )
                return
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        faults.append(
            f"the gzip file is damaged; lsmtune used only the part before the damage: {error}"
        )


class LogClock:
    """Turns local times of lines into Unix times, once an event has told both of one moment."""

    def __init__(self) -> None:
        self._offset_micros: int | None = None
        self._latest = 0
        self._learnt = ""

    def learn(self, stamp: str, micros: int) -> int:
        """An event tells its Unix time in a line that tells its local time.

        Returns by how much earlier times were wrong: by the whole difference to UTC, which was
        not known before the first event. A change to or from summer time wrongs none.
        """
        if stamp[:_HOUR_LENGTH] == self._learnt or (local := _local_micros(stamp)) is None:
            return 0
        self._learnt = stamp[:_HOUR_LENGTH]
        offset = round((micros - local) / _QUARTER_HOUR_MICROS) * _QUARTER_HOUR_MICROS
        wrong_by = offset if self._offset_micros is None else 0
        self._offset_micros = offset
        return wrong_by

    def micros(self, stamp: str) -> int:
        """The Unix time of a line in µs; without any event the local time counts as UTC.

        Of a time that there is not, such as the 99th of a month, the last one that there was.
        """
        if (local := _local_micros(stamp)) is not None:
            self._latest = local + (self._offset_micros or 0)
        return self._latest


def stamp_of(micros: int) -> str:
    """Return a Unix time in µs as the time of a line, in UTC."""
    moment = datetime.fromtimestamp(micros // 10**6, UTC).replace(microsecond=micros % 10**6)
    return moment.strftime(_STAMP_FORMAT)


def _local_micros(stamp: str) -> int | None:
    try:  # strptime takes six times as long
        moment = datetime.fromisoformat(stamp.replace("/", "-")).replace(tzinfo=UTC)
    except ValueError:
        return None
    return round(moment.timestamp() * 1e6)

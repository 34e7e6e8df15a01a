"""Times of the lines of a LOG: local times become Unix times."""

from datetime import UTC, datetime

_HOUR_LENGTH = 13
_STAMP_FORMAT = "%Y/%m/%d-%H:%M:%S.%f"
_QUARTER_HOUR_MICROS = 15 * 60 * 10**6


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

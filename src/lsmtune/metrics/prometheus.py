"""Parser of metrics in Prometheus' text format, and differences of counters."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

from lsmtune.errors import ParseError

_TOTAL = "_total"
_MOST = 1e300

Labels = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Series:
    """The samples of one moment. A name means the same with and without the ending `_total`."""

    values: Mapping[str, Mapping[Labels, float]]

    def total(
        self, name: str, /, where: Callable[[Mapping[str, str]], bool] | None = None, **labels: str
    ) -> float | None:
        """The sum of the samples that have these labels; None where there is none at all."""
        found = [
            value
            for told, value in self._samples(name)
            if labels.items() <= told and (where is None or where(dict(told)))
        ]
        return sum(found) if found else None

    def by_label(self, name: str, label: str, /, **labels: str) -> dict[str, float]:
        """The samples that have these labels, by the value of one more."""
        found: dict[str, float] = {}
        for told, value in self._samples(name):
            if labels.items() <= told and label in (named := dict(told)):
                found[named[label]] = found.get(named[label], 0.0) + value
        return found

    def since(self, before: "Series") -> "Series":
        """Return the increase of counters since another moment of the same process.

        A series that did not exist then started at 0. A series that decreased is not a counter, or
        was reset; it is left out.
        """
        grown: dict[str, dict[Labels, float]] = {}
        for name, samples in self.values.items():
            then = before.values.get(name, {})
            for labels, value in samples.items():
                if value >= (start := then.get(labels, 0.0)):
                    grown.setdefault(name, {})[labels] = value - start
        return Series(grown)

    def _samples(self, name: str) -> Iterable[tuple[Labels, float]]:
        return self.values.get(name.removesuffix(_TOTAL), {}).items()


def parse_metrics(text: str) -> Series:
    """Read one answer of `/metrics`; ParseError naming what cannot be understood.

    A sample that is not a finite number says nothing, for example a quantile of no observation.
    """
    values: dict[str, dict[Labels, float]] = {}
    try:
        for family in text_string_to_metric_families(text):
            for sample in filter(lambda sample: abs(sample.value) < _MOST, family.samples):
                name = sample.name.removesuffix(_TOTAL)
                values.setdefault(name, {})[frozenset(sample.labels.items())] = sample.value
    except (ValueError, KeyError, IndexError) as error:
        raise ParseError(f"the metrics are not in Prometheus text format: {error}") from error
    return Series(values)

"""Comparison before and after a change in words and rows, for the terminal and the page."""

from collections.abc import Iterator, Sequence

from lsmtune.analysis.inspect.before_after import Compared, Side
from lsmtune.analysis.inspect.compared_options import Texts
from lsmtune.analysis.inspect.compared_runs import ComparedBenchmark, Difference
from lsmtune.analysis.inspect.judging import HIGHER_IS_BETTER, JudgedPair, Pair
from lsmtune.metrics.benchmark_run import Fact
from lsmtune.report.text.metric_words import Ratio
from lsmtune.report.text.words import TIMES, counted, listed, number, quantity

UNKNOWN = "unknown"
NOT_GIVEN = "not given"
_FACTS = {
    "records": "number of records", "key_bytes": "key size (bytes)",
    "value_bytes": "value size (bytes)", "threads": "threads",
    "bytes_per_op": "bytes per operation", "tree_bytes": "size of the tree (bytes)",
    "compressed_value_bytes": "value size after compression (bytes)",
    "found_percent": "keys found (%)", "write_limit_bytes_s": "limit of writes (bytes/s)",
    "read_limit_ops_s": "limit of reads (operations/s)", "duration_limit_s": "duration (s)",
    "duration_s": "duration (s)", "cpu": "processor", "build": "build", "version": "version",
    "githash": "commit", "compression": "compression", "memtable": "memtable",
    "db_path": "folder of the database",
}  # fmt: skip
_PROGRAM = ("version", "githash")
_FAST_BUILD = "optimized"
_SIZES = ("live_sst_bytes", "peak_rss_bytes")
_CHANCE = "chance cannot be excluded"
_UNPROVEN = "No metric is proven better or worse"
_NO_CHANGE = "No metric of the store changed by more than 10 %"
_LONGEST_LIST = 5

Row = tuple[str, ...]


def side_text(word: str, side: Side) -> str:
    """Return the files of a side with their kinds and versions."""
    parts = []
    for name, kind, version in zip(side.names, side.kinds, side.versions, strict=True):
        of = f" of RocksDB {version}" if version else ""
        parts.append(f"{name} ({kind}{of})")
    return f"{word}: {', '.join(parts)}"


def difference_lines(compared: Compared) -> list[str]:
    """Return what a reader must know before the results: another load, another program."""
    lines = []
    loads = [one for one in compared.differences if one.is_load]
    if loads:
        text = "; ".join(_difference(one) for one in loads)
        lines.append(f"Another load: {text}. The results may differ for this reason alone.")
    programs = [one for one in compared.differences if one.name in _PROGRAM]
    if programs:
        lines.append(f"Another program: {'; '.join(_difference(one) for one in programs)}.")
    return lines


def further_lines(compared: Compared) -> list[str]:
    """Return what else differs, and the benchmarks that are not compared."""
    lines = []
    others = [one for one in compared.differences
              if not one.is_load and one.name not in _PROGRAM]  # fmt: skip
    if others:
        lines.append(f"Also different: {'; '.join(_difference(one) for one in others)}.")
    for word, names in (("before", compared.runs.only_before), ("after", compared.runs.only_after)):
        if names:
            lines.append(f"Not compared, because only the side {word} ran it: {', '.join(names)}.")
    return lines


def _difference(one: Difference) -> str:
    label = _FACTS.get(one.name, one.name)
    of = f" ({listed(list(one.benchmarks))})" if one.benchmarks else ""
    missing = _FAST_BUILD if one.name == "build" else NOT_GIVEN
    old, new = (_fact_texts(side, missing) for side in (one.before, one.after))
    return f"{label} {old} before, {new} after{of}"


def _fact_texts(facts: Sequence[Fact], missing: str) -> str:
    texts = [fact if isinstance(fact, str) else _whole(fact) for fact in facts]
    return _first(texts) if texts else missing


def _first(texts: Sequence[str]) -> str:
    more = len(texts) - _LONGEST_LIST
    if more > 0:
        return f"{', '.join(texts[:_LONGEST_LIST])} and {more} more"
    return listed(list(texts))


def _whole(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else number(value)


def benchmark_text(benchmark: ComparedBenchmark) -> str:
    """Return the verdict on a benchmark: how much faster or slower, and whether it is proven."""
    main = benchmark.main
    if main is None or main.values.ratio is None:
        return f"{benchmark.name}: the operations per second are missing on one side"
    return f"{benchmark.name}: after the change {speed_text(main)}{_proof(benchmark, main)}"


def speed_text(main: JudgedPair) -> str:
    """Return the ratio of speeds in words: `1.8 x faster (95 % interval 1.6 to 2.0)`."""
    ratio = main.values.ratio or 1.0
    interval = main.interval
    if interval is not None and interval.low <= 1 <= interval.high:
        return Ratio(ratio, interval.low, interval.high).sentence("the speed before")
    found = Ratio(ratio) if interval is None else Ratio(ratio, interval.low, interval.high)
    turned, word = (found, "faster") if ratio >= 1 else (found.inverse(), "slower")
    if interval is None and number(turned.value) == "1":
        return "the same speed"
    return turned.sentence(word)


def _proof(benchmark: ComparedBenchmark, main: JudgedPair) -> str:
    runs = f"{counted(main.runs[0], 'run')} before, {main.runs[1]} after"
    load = [_FACTS.get(one.name, one.name) for one in benchmark.differences if one.is_load]
    if main.verdict == "depends_on_load":
        few = f"; {_few(main)}" if main.interval is None else f"; {runs}"
        return f"{few}; the difference may come from the other load: {', '.join(load)}"
    if main.verdict in ("one_run_each", "too_few_runs"):
        return f"; {_few(main)}"
    return f"; {main.verdict}: {runs}"


def _few(main: JudgedPair) -> str:
    if main.runs == (1, 1) and main.verdict != "too_few_runs":
        return f"one run each: {_CHANCE}"
    if min(main.runs) < 2:  # noqa: PLR2004 - an interval needs two runs
        before, after = main.runs
        return f"too few runs with a known spread ({before} before, {after} after): {_CHANCE}"
    return _CHANCE


METRIC_HEADS = ("metric", "before", "after", "ratio", "95 % interval", "verdict")


def benchmark_rows(benchmark: ComparedBenchmark) -> list[Row]:
    """Return a row per metric of a benchmark, under METRIC_HEADS."""
    return [metric_row(name, judged) for name, judged in benchmark.metrics.items()]


def workload_rows(compared: Compared) -> list[Row]:
    """Return the loads of LOGs; of benchmarks they are no load but a result."""
    if compared.benchmarks or not compared.are_measured:
        return []
    return [
        (name, *_numbers(pair, name), "", "")
        for name, pair in compared.workload.items()
        if name not in compared.metrics and (pair.before is not None or pair.after is not None)
    ]


def metric_row(name: str, judged: JudgedPair) -> Row:
    """Return the values, the ratio, the interval and the verdict of a metric."""
    verdict = judged.verdict.replace("_", " ")
    return (name, *_numbers(judged.values, name), interval_text(judged), verdict)


def interval_text(judged: JudgedPair) -> str:
    """Return the 95 % interval of the ratio, or of the difference of shares."""
    if judged.interval is None:
        return ""
    low, high = judged.interval.low, judged.interval.high
    if judged.is_difference:
        return f"{number(low)} to {number(high)} points"
    return f"{number(low)} to {number(high)}"


def _numbers(pair: Pair, name: str) -> tuple[str, str, str]:
    unit = "bytes" if name in _SIZES else "ratio"
    before, after = (UNKNOWN if value is None else quantity(value, unit)
                     for value in (pair.before, pair.after))  # fmt: skip
    return before, after, "" if pair.ratio is None else f"{pair.ratio:.2f}"


def headline(compared: Compared) -> str:
    """Return the answer in one sentence."""
    if compared.benchmarks:
        texts = [benchmark_text(benchmark) for benchmark in compared.benchmarks]
        return texts[0] if len(texts) == 1 else _several(compared)
    if compared.why:
        return f"Not comparable: {'; '.join(compared.why)}"
    if not compared.has_measurements:
        return options_title(compared)
    return _of_store(compared)


def _of_store(compared: Compared) -> str:
    """Return the metrics of the stores that changed, with their values."""
    parts = []
    for verdict in ("better", "worse"):
        texts = [_change(n, j) for n, j in compared.metrics.items() if j.verdict == verdict]
        if texts:
            parts.append(f"{verdict}: {', '.join(texts)}")
    if parts or not _is_one_run_each(compared):
        found = f"After the change {'; '.join(parts)}" if parts else _UNPROVEN
        return f"{found}{_runs(compared)}"
    texts = [f"{_change(name, judged)} ({_aim(name)} is better)"
             for name, judged in compared.metrics.items()
             if judged.verdict == "one_run_each" and judged.direction(name)]  # fmt: skip
    found = f"After the change {', '.join(texts)}" if texts else _NO_CHANGE
    return f"{found}; one run each: {_CHANCE}"


def _runs(compared: Compared) -> str:
    """Return the most runs that a metric has on each side."""
    runs = [judged.runs for judged in compared.metrics.values()]
    before, after = (max(of[side] for of in runs) for side in (0, 1))
    return f"; {counted(before, 'run')} before, {after} after"


def _is_one_run_each(compared: Compared) -> bool:
    return any(judged.verdict == "one_run_each" for judged in compared.metrics.values())


def _change(name: str, judged: JudgedPair) -> str:
    before, after, _ = _numbers(judged.values, name)
    return f"{name} {after} instead of {before}"


def _aim(name: str) -> str:
    return "higher" if name in HIGHER_IS_BETTER else "lower"


def _several(compared: Compared) -> str:
    """Return how many benchmarks are better and worse, or the range of the ratios."""
    verdicts = [benchmark.verdict for benchmark in compared.benchmarks]
    better, worse = verdicts.count("better"), verdicts.count("worse")
    ratios = [
        benchmark.main.values.ratio
        for benchmark in compared.benchmarks
        if benchmark.main is not None and benchmark.main.values.ratio is not None
    ]
    count = counted(len(verdicts), "benchmark")
    spread = (
        f"{count}: {number(min(ratios))} {TIMES} to {number(max(ratios))} {TIMES} the speed before"
        if ratios
        else count
    )
    if set(verdicts) == {"one_run_each"}:
        return f"{spread}; one run each: {_CHANCE}"
    return f"{spread}; {better} better, {worse} worse, {len(verdicts) - better - worse} open"


def spread_note(compared: Compared) -> str | None:
    """Return what gives a verdict if there is one run per side; None if there are more."""
    verdicts = {benchmark.verdict for benchmark in compared.benchmarks}
    if not compared.benchmarks:
        verdicts = {judged.verdict for judged in compared.metrics.values()}
    if not verdicts & {"one_run_each", "too_few_runs"}:
        return None
    return (
        "For a verdict with a 95 % interval, run each side at least twice and name all files "
        "(--after FILE)."
    )


def options_title(compared: Compared) -> str:
    """Return how many options differ."""
    shown = len(option_rows(compared))
    if not compared.compared_options.are_compared:
        return "No options compared: a side contains none"
    if shown:
        return f"{counted(shown, 'option')} differ{'s' if shown == 1 else ''}"
    return "No option differs in its meaning"


def option_rows(compared: Compared) -> list[Row]:
    """Return the options that differ: on both sides first, then those of one side alone.

    An option that differs in the same way in several column families has one row.
    """
    groups: dict[tuple[str, Texts], list[str]] = {}
    families = compared.compared_options.scopes
    for name, texts in compared.compared_options.shown.items():
        groups.setdefault((_plain(name, families), texts), []).append(name)
    rows = [
        (
            names[0] if len(names) == 1 else f"{plain} (in {len(names)} families)",
            *(NOT_GIVEN if text is None else text or "(empty)" for text in texts),
        )
        for (plain, texts), names in groups.items()
    ]
    return sorted(rows, key=lambda row: NOT_GIVEN in row[1:])


def _plain(name: str, families: Sequence[str]) -> str:
    own = next((family for family in families if name.startswith(f"{family}.")), None)
    return name if own is None else name.removeprefix(f"{own}.")


def option_notes(compared: Compared) -> Iterator[str]:
    """Give the options and the column families that only one side contains."""
    options = compared.compared_options
    hidden = [texts for name, texts in options.differ.items() if name not in options.shown]
    if hidden:
        before, after = (
            counted(sum(texts[side] is None for texts in hidden), "option") for side in (1, 0)
        )
        yield f"only in one LOG or file: {before} before, {after} after; see --json"
    for word, names in zip(("before", "after"), options.families, strict=True):
        if names:
            yield f"column families only {word}: {_first(names)}"

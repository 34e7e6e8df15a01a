"""`lsmtune simulate`: what runs would come to, without running them."""

from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.common import note, say


def simulate(
    batch: Annotated[
        Path, typer.Option(help="the runs: JSON lines as `lsmtune screen` writes and reads them")
    ],
) -> None:
    """Predict runs of the rocksdb engine by the simulator of its tree, one JSON line for each."""
    import json

    from lsmtune.batch import read_batch
    from lsmtune.errors import UserError
    from lsmtune.simulator import Run, predict

    lines = read_batch(batch)
    if others := sorted({line.engine for line in lines} - {"rocksdb"}):
        raise UserError(f"batch {batch}: has runs of {others[0]}; the simulator stands for rocksdb")
    runs = [Run(line.workload, line.knobs, line.seed or 1) for line in lines if line.error is None]
    predicted = iter(predict(runs))
    note("lsmtune: times are those of a machine of two cores as it is guessed, not of this one")
    for line in lines:
        if line.error is not None:
            say(json.dumps({"id": line.id, "error": line.error}))
            continue
        told = next(predicted)
        answer = {"error": told.error} if told.error else {"metrics": dict(told.metrics)}
        say(json.dumps({"id": line.id, **answer}))

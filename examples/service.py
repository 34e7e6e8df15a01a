"""Two studies one after the other in one process, and a third that is cancelled.

python examples/service.py FOLDER
"""

import sys
import threading

import lsmtune


def main(home: str) -> None:
    """Run the studies in a thread, as a service does."""
    cancel = threading.Event()
    results = []

    def work() -> None:
        for study in ("first", "second", "third"):
            if study == "third":
                threading.Timer(1.0, cancel.set).start()
            try:
                found = lsmtune.tune(
                    study=study, workload={"name": "fillrandom", "num": 20_000}, trials=2,
                    repeats=0, pairs=0, simplify=False, home=home, cancel=cancel,
                )  # fmt: skip
                results.append(f"{study}: {found.claim.status}")
            except lsmtune.Cancelled as error:
                results.append(f"{study}: {error}")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    sys.stdout.write("\n".join(results) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])

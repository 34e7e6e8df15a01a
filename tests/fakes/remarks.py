"""An observer that keeps what it is told."""

from lsmtune.progress import Observer


class Remarks(Observer):
    """Keeps the remarks in their order."""

    def __init__(self) -> None:
        self.remarks: list[str] = []

    def remark(self, text: str) -> None:
        self.remarks.append(text)

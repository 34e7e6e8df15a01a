"""What a caller can see while lsmtune works: see `Observer`."""

from lsmtune.spec import StudySettings
from lsmtune.study.observer import Observer, RunListener
from lsmtune.study.runner import Event

__all__ = ["Event", "Observer", "RunListener", "StudySettings"]

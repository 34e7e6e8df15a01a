"""What a caller can see while lsmtune works: see `Observer`."""

from lsmtune.spec import StudySettings
from lsmtune.study.observer import SOON_S, Observer, RunListener
from lsmtune.study.runner import Event

__all__ = ["SOON_S", "Event", "Observer", "RunListener", "StudySettings"]

"""Rehearsal with a store of the user: what a copy of it did with both files."""

from pydantic import BaseModel, ConfigDict

from lsmtune.rehearsal import Rehearsal


class StorePlan(BaseModel):
    """What a rehearsal is about to do with a store.

    copied_bytes  bytes of the files that are copied
    linked_files  tables and blob files, which get hard links
    linked_bytes  bytes of these files
    limit_s       time limit of the rehearsal in seconds
    place         folder in which lsmtune makes the folder of the copy
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    copied_bytes: int
    linked_files: int
    linked_bytes: int
    limit_s: float
    place: str


class StoreRehearsal(Rehearsal):
    """What a copy of a store did with the exported file and with the undo file.

    folder        folder of the store
    store_version RocksDB that wrote the newest OPTIONS file of the store; None if there is none
    plan          what was copied, and the time limit
    tables        tables of which the first and the last key were read
    read          records that were read
    written       new column families in the copy, by the tuned family with the same options
    added         sections that were added to the undo file in the copy, for these families
    quiet         whether automatic compactions were off in the copy
    """

    folder: str
    store_version: str | None
    plan: StorePlan
    tables: int = 0
    read: int = 0
    written: dict[str, str]
    added: tuple[str, ...] = ()
    quiet: bool = True

"""Rehearsal: a store of the baseline was opened with the exported file, then with the undo file.

The record is stored with the verification of the config. With a store of the user, its copy is
opened instead.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict

File = Literal["exported", "undo"]


class Rehearsal(BaseModel):
    """What a store did with the exported file and with the undo file.

    version   of the store that opened them
    reader    who read the files: the store itself, or lsmtune, which gave the store each option,
              because this version cannot read a file
    opened    whether stores were opened; False: the values only came into force in a running store
    new_store whether the exported file made a new store, for which there is no undo file
    families  column families that the files name
    records   records that were read with both files and compared
    replaced  options of folders. In the rehearsal they named folders of the copy
    seconds   time that it took, with the run of the baseline
    failed    the file with which it failed; None if it passed
    step      what failed: reading the options, open, flush, keys …
    message   the store's own words
    options   the changed options that cause the failure, by their names in the file
    needs     the steps that deploy or undo these options all the same; only if the user allowed
              changes without a way back (`one_way`)
    remarks   what this rehearsal does not show
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    version: str
    reader: Literal["store", "lsmtune"] = "store"
    opened: bool = True
    new_store: bool = False
    families: tuple[str, ...] = ()
    records: int = 0
    replaced: tuple[str, ...] = ()
    seconds: float = 0.0
    failed: File | None = None
    step: str | None = None
    message: str | None = None
    options: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the file can be deployed, and taken back unless the user needs no way back."""
        return self.failed is None or bool(self.needs)


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

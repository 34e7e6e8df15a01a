"""Folders of installed libraries, as an installation leaves them; the libraries do not work."""

from pathlib import Path

from lsmtune.engines.libraries.installed import LIBRARY, RECORD, Installed, Record, sha256_of


def put(cache: Path, *versions: str, pinned: bool = True) -> list[Installed]:
    """Put libraries of these versions where lsmtune looks if XDG_CACHE_HOME is `cache`."""
    return [_put(cache / "lsmtune" / "engines", version, pinned) for version in versions]


def _put(engines: Path, version: str, pinned: bool) -> Installed:
    draft = engines / "draft"
    draft.mkdir(parents=True)
    library = draft / LIBRARY
    library.write_text(f"library of {version}, {'pinned' if pinned else 'trusted'}")
    record = Record(
        version=version, source=f"org.rocksdb:rocksdbjni:{version}", jar_sha256="0" * 64,
        sha256=sha256_of(library), pinned=pinned,
    )  # fmt: skip
    (draft / RECORD).write_text(record.model_dump_json())
    return Installed(record, draft.rename(engines / record.folder_name))

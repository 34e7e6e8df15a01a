"""The file of the store: an .ini file with a section for its options."""

from configparser import ConfigParser, Error

from lsmtune.engines.exports import Export, Exported, ExportFormat, comment
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.knob_text import find_knob, parse_value
from lsmtune.knobs.option_files import BaseFile
from lsmtune.knobs.types import Settings

INI = BaseFile("toy.ini", lambda text: "[toy]" in text.splitlines())


class Ini(ExportFormat):
    """The tuned options as an .ini file."""

    name = "ini"
    file_name = "toy.ini"

    def write(self, export: Export) -> Exported:
        """Return the section of the store."""
        lines = [f"{name} = {value}" for name, value in export.tuned_settings.items()]
        return Exported(comment(export.heading) + "\n".join(["[toy]", *lines, ""]))


def read_ini(written: str, catalogue: Catalogue) -> Settings:
    """Return the options of a file; UserError if it is damaged."""
    file = ConfigParser()
    try:
        file.read_string(written)
        return {
            name: parse_value(find_knob(catalogue, name, "base"), text, "base:")
            for name, text in file["toy"].items()
        }
    except (Error, KeyError) as error:
        raise UserError(f"base: the file is damaged: {error}") from error

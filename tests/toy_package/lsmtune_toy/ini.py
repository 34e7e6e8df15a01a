"""The file of the store: an .ini file with a section for its options."""

from lsmtune.engines.exports import Export, Exported, ExportFormat, comment


class Ini(ExportFormat):
    """The tuned options as an .ini file."""

    name = "ini"
    file_name = "toy.ini"

    def write(self, export: Export) -> Exported:
        """Return the section of the store."""
        lines = [f"{name} = {value}" for name, value in export.tuned_settings.items()]
        return Exported(comment(export.heading) + "\n".join(["[toy]", *lines, ""]))

"""`lsmtune schema`: keys and values of study files, for editors."""

from lsmtune.cli.output import print_json


def schema() -> None:
    """Print the JSON schema of study files; editors use the schema to check the files.

    Save the schema as study.schema.json. Then write this first line into a study file:
    #:schema ./study.schema.json (for editors with taplo, e.g. VS Code's "Even Better TOML").
    """
    from lsmtune.api.schema import study_schema

    print_json(study_schema())

"""`lsmtune schema`: what a study file may hold, for editors."""

from lsmtune.cli.common import print_json


def schema() -> None:
    """Print the JSON schema of study files, by which an editor completes and checks them.

    With the schema in study.schema.json, editors that use taplo (VS Code's "Even Better TOML"
    among them) need this as the first line of a study file: #:schema ./study.schema.json
    """
    from lsmtune.cli.study_schema import study_schema

    print_json(study_schema())

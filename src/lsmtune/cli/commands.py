"""The commands of lsmtune by topic."""

COMMANDS: dict[str, dict[str, tuple[str | None, str]]] = {
    "Tune": {
        "tune": ("tune", "Find better options, verify the gain, write the file to deploy."),
        "show": ("show", "Show the result of a study."),
        "trials": ("trials", "List the trials of a study."),
        "studies": ("studies", "List the studies of a home folder."),
        "rename": ("studies", "Rename a study."),
        "delete": ("studies", "Delete the runs of a study."),
        "verify": ("verify", "Measure the winner against the baseline in new runs."),
        "simplify": ("simplify", "Take back changes of the winner that do not matter."),
        "report": ("report", "Write an HTML page about one or several studies."),
        "export": ("export", "Write the file to deploy, or the file that undoes the change."),
        "rehearse": ("rehearse", "Try the file to deploy, and its undo, on a copy of your store."),
    },
    "Understand a LOG": {"inspect": ("inspect", "Report what slows a store down, from its LOG.")},
    "Study": {
        "screen": ("screen", "Measure many configs, to find the knobs that matter."),
        "importance": ("importance", "Rank the knobs by their effect on each metric."),
        "sweep": ("sweep", "Measure all combinations of knob values that you list."),
        "reproduce": (None, "Run a published study again and compare the numbers."),
    },
    "Predict": {"simulate": ("simulate", "Predict runs with the simulator, without RocksDB.")},
    "Compare": {"compare": (None, "Compare optimizers at equal budgets.")},
    "Set up": {
        "doctor": ("doctor", "Check this machine, and print how to fix what is missing."),
        "engines": ("engines", "List the installed versions of RocksDB, or install one."),
        "knobs": ("lists", "List the knobs of an engine."),
        "workloads": ("lists", "List the workloads."),
        "optimizers": ("lists", "List the optimizers."),
        "hosts": ("hosts", "Set up many hosts: certificates, scheduler, list of hosts."),
        "worker": ("worker", "Run the trials that a scheduler gives to this host."),
        "schema": ("schema", "Print the JSON schema of study files, for editors."),
    },
}  # fmt: skip
"""Each command with its module and its short help, in the order of the help.

Its function has the name of the command. A command without a module is that of an entry point
`lsmtune.commands`, so that the help need not read the metadata of packages.
"""

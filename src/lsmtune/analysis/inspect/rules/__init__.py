"""Rules: each file looks at one subject of a LOG, and all files here are found by themselves.

A new finding is a function, a rule and a step in one file. A file has three attributes:

- `RULES`: its rules.
- `FIRST_STEPS`: what to try first, for each code of its findings.
- `ORDER`: if findings have the same weight, those of the file with the lower number come first.

Rules about lines of the LOG also need `NOTICES`: the words of each line by a short name. RocksDB's
lines with these words are counted in `notices` of the inspection.

A step is an order of at most 14 words that names an option with a direction or a value, such as
`raise max_subcompactions to 4`:

- The first words that say a direction choose the cost that is shown: `raise`, `double`, `lower`,
  `halve`, `to true` or `to false`. A number that is only set counts as lower.
- The first option of the finding that the step names is the one that costs.
- A code has several steps if its findings name different options: the step for the first option
  in `look_at` counts.

An option that no finding has named before needs its cost in `knobs/catalogue/advice.toml`.
"""

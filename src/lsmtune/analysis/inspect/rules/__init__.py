"""Rules: each file looks at one subject of a LOG, and all files here are found by themselves.

A new finding is a function, a rule and a step in one file. A file has these attributes:

- `RULES`: its rules.
- `FIRST_STEPS`: what to try first, for each code of its findings.
- `CHECKS`: for codes of findings that measure something, which number shows in the next text that
  the step helped.
- `ORDER`: if findings have the same weight, those of the file with the lower number come first.

Rules about lines of the LOG also need `NOTICES`: the words of each line by a short name. RocksDB's
lines with these words are counted in `notices` of the inspection.

A step is `Step("raise", "max_subcompactions")`: a direction and an option, with a value if one
follows from the text. It never repeats a number that the present value may exceed: see `Step`.

- A code has several steps if its findings name different options: they are tried in the order of
  `look_at`, and the first counts whose number lies in its direction.
- A step that changes no option is a text, such as `release snapshots sooner`.

An option that no finding has named before needs its cost in `knobs/catalogue/advice.toml`. A new
code needs a section in docs/findings.md. In tests/analysis/, it needs a text that causes it in
planted_texts.py, and the complaint that it answers in complaints.py.
"""

"""The report page: records of what there is to see, pictures and HTML drawn from them.

`figures`, `comparison`, `claim_text` and `study_facts` turn a study into records, which hold every
number and sentence of the page; `plots` and `page` only draw them. `page.toml` has longer texts.
"""

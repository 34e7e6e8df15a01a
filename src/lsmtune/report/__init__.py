"""The report page: records of what there is to see, pictures and HTML drawn from them.

`figures`, `comparison` and `headline` turn a study into records, which hold every number and
sentence of the page; `plots` and `page` only draw them.
"""

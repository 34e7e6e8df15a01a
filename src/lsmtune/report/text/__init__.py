"""Records as words: sentences, labels and rows of tables, for terminal, page and exported file.

No module here draws a page or imports one.
"""

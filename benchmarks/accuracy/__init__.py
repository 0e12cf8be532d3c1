"""How well pages are read: text, tables, order, and the tests of olmOCR-bench.

Engines run in processes of their own over a corpus; their Markdown is kept, scored, and reported.
"""

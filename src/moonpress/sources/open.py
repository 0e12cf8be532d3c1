"""Opening a file by what its first bytes say it is.

Owns the table of media types and the choice of the source. Never trusts suffixes: a PNG named
``.pdf`` is a PNG. To add a source, write its module and add its line to the table.
"""

"""Measurements of Moonpress and of other tools on the same pages; not part of the wheel."""

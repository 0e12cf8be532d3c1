"""Whole documents that are read in their own time: kept on the disk, whatever happens meanwhile."""

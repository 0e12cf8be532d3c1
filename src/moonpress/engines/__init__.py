"""Engines: who reads a page."""

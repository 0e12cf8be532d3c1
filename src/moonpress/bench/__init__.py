"""Measuring servers that read pages."""

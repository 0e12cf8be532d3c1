"""Outputs: a document in, text out."""

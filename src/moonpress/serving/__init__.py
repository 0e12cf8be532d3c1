"""The HTTP service: one API in front of an engine, whatever that is."""

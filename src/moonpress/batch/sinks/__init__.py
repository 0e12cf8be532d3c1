"""Where the documents of a run are written to."""

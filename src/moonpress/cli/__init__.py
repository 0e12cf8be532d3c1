"""Commands: thin fronts of the pipeline."""

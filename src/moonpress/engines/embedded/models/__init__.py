"""Model weights that travel with the package; NOTICE in the repository root lists their origin."""

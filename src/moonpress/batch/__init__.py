"""Many documents: found, read, written, and accounted for."""

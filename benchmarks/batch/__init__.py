"""Benchmarks of runs over many documents."""

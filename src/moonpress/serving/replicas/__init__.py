"""vLLM servers that the service starts itself: planned, started, watched, replaced."""

"""What the service adds to a request, and how soon a stream begins."""

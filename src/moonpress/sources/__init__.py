"""Sources: what bytes are, and how a page of them is drawn."""

"""Pipeline: pages flow through render workers into an engine and come back as a document."""

"""The embedded engine: reads pages on any CPU with small models that travel in the package."""

"""The web page for people: documents beside their readings, batch runs, engines compared."""

"""Moonpress: papers, scans and photographed pages into Markdown, HTML and JSON."""

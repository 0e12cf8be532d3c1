"""What reading costs: CPU-seconds a page, gain by a second process, memory, time to first page."""

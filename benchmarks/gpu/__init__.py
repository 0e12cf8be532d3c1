"""Runs on servers with random weights of the real sizes: speed only, never quality."""

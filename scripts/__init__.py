"""Tools for working on Moonpress; none of them is installed with it."""

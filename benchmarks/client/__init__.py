"""What the client of a model server costs: encodings, CPU a page, many pages at once, parsing."""

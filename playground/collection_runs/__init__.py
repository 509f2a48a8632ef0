"""Collection runs: start, page, live updates and reports."""

"""History of runs: list, filters, deletion and retention."""

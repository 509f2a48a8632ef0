"""What every page has: sidebar, template tags, errors, log-in, probes."""

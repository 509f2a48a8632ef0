"""Verdicts on a run: conformance report and expectations."""

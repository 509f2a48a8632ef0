"""Snapshots of all pages, fragments and pushed messages, to compare two versions of the code."""

"""Management commands of the playground."""

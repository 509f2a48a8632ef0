"""Links to a run or a collection, for readers without an account."""

"""Two runs side by side: past ones, or one request sent to two targets."""

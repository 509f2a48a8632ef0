"""How values, bytes and calls are shown, wherever they are."""

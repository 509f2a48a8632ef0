"""Live connections: what is stored reaches the pages that show it."""

"""How large the code is, and how much of it one request passes through."""

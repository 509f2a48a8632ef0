"""Sequence diagrams: who sent what to whom in a conversation, as a drawing, a list and Mermaid.

Frames become steps of a run, the runs of a conversation become one diagram, and small renderers
read nothing but the diagram. Only `run_steps` and `conversation` read the database.
"""

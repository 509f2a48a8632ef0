"""Sequence diagrams: who sent what to whom in a conversation, as a drawing, a list and Mermaid.

Frames become steps of a run, the runs of a conversation become one diagram, and small renderers
read nothing but the diagram. Only `stored_steps` and `conversation` read the database.

===============  =================================================================
`conversation`   runs of a conversation as a diagram, a window of turns at a time
`diagram`        lanes, messages, notes and turns of a diagram
`drawing`        positions of a diagram's parts, for SVG
`labels`         text of agents as one line of a label, and its estimated width
`mermaid`        a diagram as Mermaid text
`run_steps`      frames of one run as a bounded number of steps
`stored_steps`   steps of stored runs, read once and continued while frames arrive
===============  =================================================================
"""

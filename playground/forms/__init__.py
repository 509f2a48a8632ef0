"""Django forms, one module per resource: the readers of what pages submit.

Forms of a single view (retention, shares, filters of the history) are in that view's module; the
parsers that forms share with imports and commands are in `playground.json_input`.

=================  ===============================================================
`agents`           an agent, with write-only secrets and headers
`collection_runs`  the options of a collection run
`collections`      collections, folders, saved requests and their positions
`composer`         the composer's fields, for Send, Save and preview
`environments`     environments and their table of variables
`lessons`          lessons and their steps
=================  ===============================================================
"""

"""Frames to events to HTML. Anything unknown is shown raw; nothing here raises on agent data.

Used by the page, by the live push and by the catch-up alike, so that they cannot differ.

============  ====================================================================
`fold`        a run's frames read into entries (what the thread shows) and counts
`entries`     events to entries: which partial shows an event, and with what
`cards`       result items to cards, by schema.org type
`asking`      an agent's questions as the controls of a form
`turns`       a run's branch of its conversation: what came before, beside and after
`ledger`      what each turn sent and got back as session context, and the difference
`rows`        frames to rows of the Events list
`timeline`    frames to one time axis
`wire`        frames to blocks of bytes
`bar`         a run to the figures of the sticky bar
`live`        what a viewer has not seen yet, as one websocket message
============  ====================================================================
"""

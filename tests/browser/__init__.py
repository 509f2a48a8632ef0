"""Journeys through the pages in a real Chromium.

What a page says, links to and refuses is tested over Django's client, in `tests/views`; rules of
the scripts that need no page are tested in `tests/js`. Here is what only a browser can show:
keys and focus, live sockets, the editor, dragging, the clipboard, storage, layout, and what axe
finds. A test is one person's way through a feature, with what is to be seen on the way, since to
load a page costs more than to look at it ten times.
"""

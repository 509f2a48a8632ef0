"""Collections as files: written, read, compared, taken in; and the formats of others.

Everything that comes in takes one path, whatever it was before: text, read and checked
(`fixtures.read`), compared with what is there (`fixtures.plan`), taken in as a whole or not at
all (`fixtures.apply`).

===============  =================================================================
`fixtures`       what others use of the modules below
`shape`          a collection as plain values, and the text of its file
`dumping`        from the database to that shape
`parsing`        from text to that shape, with the place of whatever is wrong
`checking`       what each field of a file may hold
`comparing`      what is added, changed and left alone, and how it differs
`planning`       what an import would do, and doing it
`restoring`      putting back what was deleted
`reading`        which format a text has: the seam for the formats of others
`disk`           the file of a collection in fixtures/, and which of both is newer
`credentials`    literal credentials out of whatever is stored or written
===============  =================================================================
"""

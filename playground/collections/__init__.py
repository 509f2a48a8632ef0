"""Collections as files: fixtures, their import and export, the trash, the order, the disk.

Every import takes one path: a text is parsed and validated (`fixture_parser`), compared with the
stored collection (`import_diff`), and stored completely or not at all (`importer`). The formats of
other tools are in `playground.formats`, which this package does not import.

======================  ============================================================================
`credentials`           removal of literal credentials from stored or written data
`disk`                  files of collections in fixtures/: status, load and save
`fixture`               a collection as plain values, the text of its file, and the dump
`fixture_parser`        parser of collection files, with the location of every problem
`fixture_schema`        JSON Schema of the fields of a file's items (`fixture.schema.json`)
`fixture_validation`    validation of the fields: JSON Schema, and the checks beyond a schema
`import_diff`           differences between a fixture and a stored collection
`importer`              plan of an import, and the transaction that carries it out
`ordering`              order of collections, folders and requests: positions, moves, duplicates
`recordings`            recorded replies of saved requests: validation, and replay as runs
`shipped`               collections shipped in fixtures/, loaded when the playground starts
`trash`                 deleted collections, folders and requests, and how they are restored
`unsaved`               unsaved model instances of a fixture, to be run without an import
======================  ============================================================================
"""

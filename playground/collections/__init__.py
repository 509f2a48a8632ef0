"""Collections as files: fixtures, their import and export, the trash, the order, the disk.

Every import takes one path: a text is parsed and validated (`fixture_parser`), compared with the
stored collection and stored completely or not at all (`importer`). The formats of
other tools are in `playground.import_export`, which this package does not import.
"""

"""A measurement of the judge: replies with one break each, and what must be found in them.

======================  ================================================================
`mutants`               a reply with at most one deviation, and the verdict on it
`from_specification`    the set from the text of the protocols alone
`from_schemas`          the set from the JSON Schemas
`sets`                  both, by the heading of their rates
`measurement`           what the rules find in a mutant, and the rates
======================  ================================================================

No rule's test reads these sets, and they read none of the rules' tables.

`make judge` prints the rates, with `ARGS=-v` each miss.
"""

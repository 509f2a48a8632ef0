"""Shared parts of the management commands: arguments, runs without a page, and their output.

===================  ===============================================================================
`arguments`          arguments that several commands take, and their errors
`collection_runs`    collection runs: the requests that arguments select, and the printed steps
`database_command`   base class of the commands that use the database
`dialogue`           a request, the answers to the agent's questions, and polling its promise
`output`             frames and events as JSON Lines or plain text, printed as they come
`signals`            signals that stop a command
===================  ===============================================================================
"""

"""Management commands of the playground.

==========  ==========================
`commands`  the commands, one a module
==========  ==========================
"""

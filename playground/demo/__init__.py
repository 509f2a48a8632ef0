"""The built-in agent: a conformant NLWeb agent over a small corpus, and scripted misbehaviour.

Only the root URLs reference this package, and it imports nothing from the playground, which
therefore reaches it over the network, like any other agent.
"""

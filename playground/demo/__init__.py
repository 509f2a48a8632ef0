"""The built-in agent: a conformant NLWeb agent over a small corpus, and scripted misbehaviour.

A leaf: only the root urls mention it, and it imports nothing of the playground, so that the
playground meets it the way it meets any other agent, over the network.
"""

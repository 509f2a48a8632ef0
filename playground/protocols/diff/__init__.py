"""Differences of two responses, without order, identifiers and times; and of two JSON values.

Pure, and total on any input. Responses are compared as events, so that the same response over
two bindings, streamed or whole, is equal.
"""

"""The reference: attributes, changes of versions, rules, explanations of names."""

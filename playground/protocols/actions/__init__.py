"""Actions: what an agent offers to do with a result (NLWeb 0.55 section 5; 0.54 section 7)."""

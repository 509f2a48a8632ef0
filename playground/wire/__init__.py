"""What crossed the wire: tabs of a run, timeline, sequence diagram, annotations."""

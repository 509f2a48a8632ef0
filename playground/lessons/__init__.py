"""Lessons: list, pane beside the workbench, progress, and the editor of a teacher."""

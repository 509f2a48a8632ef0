"""Pages and fragments, one module per resource. A custom verb is a resource of its own."""

"""File formats: the only place where values meet disk."""

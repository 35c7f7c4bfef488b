"""Where values meet disk."""

"""Requests in a person's own words, read as goals."""

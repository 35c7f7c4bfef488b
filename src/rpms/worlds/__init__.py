"""Environments: one folder each."""

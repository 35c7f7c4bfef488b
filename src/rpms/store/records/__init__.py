"""Packed records that ship with the package."""

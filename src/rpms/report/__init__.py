"""Statistics, tables, figures and pages over what the store holds. Reads, never plays."""

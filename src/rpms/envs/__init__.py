"""The worlds for other people's loops: ALFWorld's own calls, Gymnasium, OpenEnv, TRL, Inspect."""

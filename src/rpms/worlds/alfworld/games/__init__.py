"""ALFWorld games without a download: the generator, its proof, the builtin set, and the listing
of any folder.
"""

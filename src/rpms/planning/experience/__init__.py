"""Memory that acts: snippets bound to the present room and followed from place to place."""

"""Models: prompt in, answer and usage out."""

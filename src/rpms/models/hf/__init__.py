"""Transformers in this process (extra `hf`): the model, its batches and what is kept between
them.
"""

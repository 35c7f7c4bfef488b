"""The model that is no LLM: it follows the canonical procedures step by step."""

"""Three-valued facts, literals, rules, action schemas, goals and the belief that answers them."""

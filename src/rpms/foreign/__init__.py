"""What comes from outside: limits on it, the one reader of files, JSON held to a form, texts made safe to show."""

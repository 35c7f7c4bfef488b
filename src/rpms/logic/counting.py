"""Numbers of things, in words."""


def counted(number: int, thing: str, things: str = "") -> str:
    """A number of things: `1 game`, `1,040 games`. Plurals without an `s` at the end are given."""
    if number == 1:
        return f"1 {thing}"
    return f"{number:,} {things or thing + 's'}"


def times(number: int) -> str:
    """`once`, `3 times`."""
    return "once" if number == 1 else f"{number} times"

"""`python -m rpms` is `rpms`."""

from rpms.cli import main

if __name__ == "__main__":
    main()

from tests.cli.command import rpms

__all__ = ["rpms"]

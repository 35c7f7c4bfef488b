"""Functions for manuals, loaded from a Python file that whoever runs the guard has named."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType

from rpms.core.errors import FileError
from rpms.foreign.files import open_regular


def load_python(file: str | Path) -> ModuleType:
    """Run a Python file and return it as a module; what goes wrong in it is a FileError."""
    os.close(open_regular(file))  # a pipe in its place would be waited for
    spec = importlib.util.spec_from_file_location("rpms_guard_facts", file)
    if spec is None or spec.loader is None:
        raise FileError(file, None, "is no Python file; its name should end in .py")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise FileError(file, None, f"cannot be run: {type(error).__name__}: {error}") from error
    return module

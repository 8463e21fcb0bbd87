"""Exit codes, output and errors of `python -m paritas`."""

from __future__ import annotations

import sys

from .files import write_text

#: the program's exit codes
DONE, NOT_CONVERGED, WRONG_COMMAND_LINE, WRONG_INPUT, NO_DEVICE, NOT_WRITTEN = range(6)


def write_output(text: str, path: str) -> None:
    """Writes to a file, whole or not at all, or to standard output ("-"). Raises OSError."""
    if path == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        write_text(text, path)


def fail(command: str, message: str, code: int) -> int:
    print(f"{command}: {message}", file=sys.stderr)
    return code

"""Exit codes, output and errors of `python -m paritas`."""

import os
import sys
from typing import Any, Callable, Optional, Sequence

from ._engine import DeviceUnavailable, Error
from .files import write_text

#: the program's exit codes
DONE, NOT_CONVERGED, WRONG_COMMAND_LINE, WRONG_INPUT, NO_DEVICE, NOT_WRITTEN = range(6)


def add_card_options(add: Any) -> None:
    """The program's options of datacards, for a parser's `add_argument`."""
    add(
        "-m",
        "--mass",
        metavar="M",
        help="what $MASS stands for in names of histograms and files (default: 120)",
    )
    add(
        "--map",
        dest="maps",
        metavar="PATTERN:NAME[VALUE,LOW,HIGH]",
        action="append",
        default=[],
        help="NAME scales processes whose CHANNEL/PROCESS matches PATTERN, in place of r. Further maps may "
        "give NAME alone, or 0 or 1 (repeatable)",
    )
    add(
        "--mask",
        dest="masks",
        metavar="CHANNEL",
        action="append",
        default=[],
        help="leave a channel out of the likelihood, of a workspace too (repeatable)",
    )
    add("--exact", action="store_true", help="skip Combine's roundings, which change rates by up to 1e-5")


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


def reads_output(output: str, *inputs: Optional[str]) -> Optional[str]:
    """What is wrong if the output is one of the inputs, also through links; else None."""
    for path in inputs:
        if path and os.path.isfile(path) and os.path.exists(output) and os.path.samefile(path, output):
            return f"{output}: the command reads that file, and would write over it: give another name"
    return None


def write_page(
    command: str,
    output: str,
    make: Callable[[], Any],
    doubt: str,
    inputs: Sequence[Optional[str]] = (),
) -> int:
    """Makes a page (an HtmlPage) and writes it; returns the exit code. doubt: the message if the page did not
    converge. inputs: files that the output may not be."""
    wrong = reads_output(output, *inputs)
    if wrong:
        return fail(command, wrong, WRONG_COMMAND_LINE)
    folder = os.path.dirname(os.path.abspath(output))
    if output != "-" and (os.path.isdir(output) or not os.access(folder, os.W_OK)):
        reason = (
            "it is a folder"
            if os.path.isdir(output)
            else "its folder may not be written to"
            if os.path.isdir(folder)
            else f"there is no folder {folder}; make it first"
        )
        return fail(command, f"{output} cannot be written: {reason}", NOT_WRITTEN)
    try:
        page = make()
    except DeviceUnavailable as reason:
        return fail(command, str(reason), NO_DEVICE)
    except Error as reason:
        return fail(command, str(reason), WRONG_INPUT)
    except ImportError as reason:
        return fail(command, str(reason), WRONG_COMMAND_LINE)
    try:
        write_output(page.html, output)
    except OSError as reason:
        return fail(command, f"{output} cannot be written: {reason.strerror}", NOT_WRITTEN)
    return DONE if page.converged else fail(command, doubt, NOT_CONVERGED)

"""`python -m paritas COMMAND ...`: what the package adds to the program `paritas`."""
from __future__ import annotations

import sys
from importlib import import_module

#: module whose `main` takes the rest of the command line and answers the exit code; what it does
COMMANDS = {
    "convert": ("paritas.convert.command", "workspaces from HS3 and HistFactory XML"),
    "report": ("paritas.report.command", "a fit, its statistics and figures as one HTML page"),
}


def main(argv: list[str]) -> int:
    if argv and argv[0] in COMMANDS:
        code: int = import_module(COMMANDS[argv[0]][0]).main(argv[1:])
        return code
    asked = argv[:1] in (["-h"], ["--help"])
    print("usage: python -m paritas COMMAND ...\n" + "".join(f"  {name:9}{does}\n" for name, (_, does) in COMMANDS.items()), end="",
          file=sys.stdout if asked else sys.stderr)
    return 0 if asked else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

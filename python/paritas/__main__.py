"""usage: python -m paritas COMMAND ... [options]

Commands that the program `paritas` does not have:
  report     one HTML page of an analysis
  moon       one HTML page from tables of loss cones: maps, profiles, regions, harmonics
  convert    HS3 documents, HistFactory XML and datacards into workspaces, and back
  workspace  a workspace from cabinetry's configuration file and ROOT files

`python -m paritas COMMAND --help` lists a command's options.
"""

import sys
from importlib import import_module

_COMMANDS = {
    "report": "report",
    "moon": "report.moon_command",
    "convert": "convert.command",
    "workspace": "steering.command",
}  # with main(argv)


def main(argv: list[str]) -> int:
    """2 for an unknown command."""
    if not argv or argv[0] not in _COMMANDS:
        asked = bool(argv) and argv[0] in ("-h", "--help")
        print(__doc__.strip(), file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    return int(import_module(f"paritas.{_COMMANDS[argv[0]]}").main(argv[1:]) or 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

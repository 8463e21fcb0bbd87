"""The command `paritas` of an installed package.

It imports neither the package nor NumPy, so it costs Python's start alone. The program lies in the package's
folder, beside the library that it needs."""

import os
import sys

PROGRAM = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "paritas", "paritas.exe" if os.name == "nt" else "paritas"
)


def main() -> None:
    if os.name != "nt":
        os.execv(PROGRAM, ["paritas", *sys.argv[1:]])
    import signal
    import subprocess

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program, which ends by it
    sys.exit(subprocess.call([PROGRAM, *sys.argv[1:]]))

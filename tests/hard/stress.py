#!/usr/bin/env python3
"""Runs every command of a program on every file: one toy and a few seeds, then each option at its ends.

  tests/hard/stress.py build/release/bin/paritas examples tests/datacard      files and folders
  tests/hard/stress.py PROGRAM FILES --commands toys,limit --seeds 8 --no-options
  tests/hard/stress.py PROGRAM FILES --only-options --finds finds.md

Commands and options come from the program's own help. Finds are signals, runs longer than --seconds, memory
above --times the size of the files read (with a floor for the program), --json that is no JSON, and NaN
in an answer that says nothing of a failure. Exit code 1 if there is a find."""

import argparse
import itertools
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time

FLOOR = 192 << 20  # bytes: the program, its kernels' memory, and SQLite
ADDRESSES = 8 << 30  # bytes of address space: a request beyond is refused by the system
HEAVY = {"bench", "parity"}  # they measure time, or repeat all of the others
SEEDED = re.compile(r"^  (?:-\w, )?--seed ", re.M)
TOYS = re.compile(r"^  (?:-\w, )?--ntoys ", re.M)
# what an option is given, by the placeholder of help
NUMBERS = [
    "0",
    "-1",
    "1",
    "1e-300",
    "1e308",
    "-1e308",
    "nan",
    "inf",
    "18446744073709551615",
    "4294967295",
    "x",
    "",
]
TEXTS = [
    "",
    "x",
    "*",
    "=",
    "mu=",
    "mu=0:1",
    "mu=1e308",
    "mu=nan",
    "mu=1:0",
    "none",
    "1/0",
    "2/1",
    "1/1",
    "\xff",
]
FILES = {"FILE", "DIR", "FILE|DIR", "FILE|NAME=PATTERN"}


def help_of(program, command=""):
    line = [program, *command.split(), "--help"]
    return subprocess.run(line, capture_output=True, text=True, timeout=60, check=True).stdout


def commands_of(program):
    listed = help_of(program).split("Commands:")[1].split("\n\n")[0]
    return re.findall(r"^  (\S+(?: \S+)?)  ", listed, re.M)


def options_of(text):
    """{option: placeholder} of a help"""
    found = dict(re.findall(r"^  (?:-\w, )?(--[\w-]+)(?: (\S+))?", text, re.M))
    return {option: placeholder for option, placeholder in found.items() if option != "--help"}


def values_of(option, placeholder):
    if not placeholder:
        return [None]
    if option == "--ntoys":  # as many as are asked for are drawn
        return [number for number in NUMBERS if number != "4294967295"]
    if "|" in placeholder and placeholder not in FILES:
        return [*placeholder.split("|"), "", "x"]
    if placeholder in FILES:
        return ["/dev/null", "/", "", "missing"]
    return (
        NUMBERS
        if re.fullmatch(r"[A-Z^/0-9]{1,8}", placeholder) and placeholder not in ("NAME", "CHANNEL", "OLD")
        else TEXTS
    )


class Program:
    def __init__(self, program, seconds, times, folder):
        self.program, self.seconds, self.times, self.folder = os.path.abspath(program), seconds, times, folder
        self.runs = 0

    def run(self, words, files):
        """What is wrong with one run: a list of texts"""
        self.runs += 1
        out, err = os.path.join(self.folder, "out"), os.path.join(self.folder, "err")
        line = [self.program, *words]
        began = time.monotonic()
        with open(out, "wb") as to, open(err, "wb") as notes:
            child = subprocess.Popen(
                line,
                stdin=subprocess.DEVNULL,
                stdout=to,
                stderr=notes,
                cwd=self.folder,
                preexec_fn=limit_memory,
            )
            status, usage, late = wait(child, self.seconds)
        if late:
            return [f"not done after {self.seconds} s"]
        spent = time.monotonic() - began
        if os.WIFSIGNALED(status):
            return [f"signal {signal.Signals(os.WTERMSIG(status)).name} after {spent:.1f} s"]
        with open(out, "rb") as answer, open(err, "rb") as notes:
            said, noted = answer.read(), notes.read()
        finds = answer_finds(words, os.WEXITSTATUS(status), said, noted)
        if rb"\x0a" in said + noted and not any(has_escape(path) for path in files):
            finds.append("a line break of the program's own as \\x0a")
        most = max(FLOOR, self.times * sum(size_of(path) for path in files))
        if usage.ru_maxrss * 1024 > most:
            finds.append(f"{usage.ru_maxrss >> 10} MiB of memory, more than {most >> 20}")
        return finds


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))


def wait(child, seconds):
    """(status, usage, late) of a child, which is ended if it is late"""
    end = time.monotonic() + seconds
    pause = 0.001
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            child.returncode = status
            return status, usage, False
        if time.monotonic() > end:
            child.kill()
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = status
            return status, usage, True
        time.sleep(pause)
        pause = min(2 * pause, 0.05)


def size_of(path):
    """Of a file and of those beside it that a card may name"""
    if not path.endswith(".txt"):
        return os.path.getsize(path)
    folder = os.path.dirname(path) or "."
    with open(path, "rb") as card:
        words = {word.decode(errors="replace") for word in card.read().split()}
    named = [os.path.join(folder, word) for word in words if len(word) < 200]
    return os.path.getsize(path) + sum(os.path.getsize(name) for name in named if os.path.isfile(name))


def has_escape(path):
    """Its names may have control letters."""
    with open(path, "rb") as text:
        return b"\\" in text.read()


def no_constant(word):
    raise ValueError(f"{word} is no JSON")


def answer_finds(words, code, answer, notes):
    finds = []
    if code not in range(6):
        finds.append(f"exit code {code}")
    cards = words[0] == "combine" and words[1].endswith(".txt")  # its answer is a card
    if "--json" in words and answer and code in (0, 1) and not cards:
        try:
            json.loads(answer.decode(), parse_constant=no_constant)
        except (UnicodeDecodeError, ValueError) as reason:
            finds.append(f"no JSON: {reason}")
    if code == 0 and "--json" not in words and re.search(rb"(?<![\w./-])-?nan\b", answer):
        finds.append("nan in an answer, exit code 0")
    if code != 0 and not notes and not answer and "--output-file" not in words:
        finds.append(f"exit code {code} without a word")
    return finds


def operands_of(command, text, path, folder):
    """Words that the command needs beside its options; None: nothing to do with this file"""
    usage = text.splitlines()[0]
    data, card = "losscone" in command or "kappa" in command, path.endswith(".txt")
    if data:
        return None
    if command in ("merge", "patchset", "devices") or (command == "convert" and not card):
        return None
    if command == "look-elsewhere":
        patches = os.path.join(os.path.dirname(path), "patchset.json")
        return [path, "--patchset", patches] if os.path.isfile(patches) else None
    if command == "combine":
        return [path, path]
    return [path] if re.search(r"WORKSPACE|FILE", usage) else None


def toy_words(command, text, seed):
    words = ["--seed", str(seed)] if SEEDED.search(text) else []
    if TOYS.search(text):
        words += ["--ntoys", "1"]
    if command in ("limit", "significance"):
        words += ["--calc", "toys"]
    if command == "sample":
        words += ["--chains", "1", "--draws", "20", "--warmup", "20"]
    return words


def seed_cases(commands, helps, files, seeds, folder):
    for path, command in itertools.product(files, commands):
        operands = operands_of(command, helps[command], path, folder)
        if operands is None:
            continue
        seeded = SEEDED.search(helps[command])
        for seed in range(seeds if seeded else 1):
            yield command, [*operands, *toy_words(command, helps[command], seed), "--json"], [path]
        yield command, [*operands, *toy_words(command, helps[command], 0)], [path]


def option_cases(commands, helps, files, folder):
    for path, command in itertools.product(files, commands):
        operands = operands_of(command, helps[command], path, folder)
        if operands is None:
            continue
        for option, placeholder in options_of(helps[command]).items():
            for value in values_of(option, placeholder):
                given = [option] if value is None else [option, value]
                base = toy_words(command, helps[command], 0)
                if option in base:
                    base = base[: base.index(option)] + base[base.index(option) + 2 :]
                yield command, [*operands, *base, *given, "--json"], [path]


def is_model(path):
    if path.endswith(".json"):
        with open(path, encoding="utf-8", errors="replace") as text:
            return '"channels"' in text.read(1 << 20)
    if not path.endswith(".txt"):
        return False
    with open(path, encoding="utf-8", errors="replace") as text:
        return re.search(r"^imax\b", text.read(1 << 16), re.M) is not None


def files_in(paths):
    found = []
    for path in paths:
        if os.path.isdir(path):
            for folder, _, names in sorted(os.walk(path)):
                found += [os.path.join(folder, name) for name in sorted(names)]
        else:
            found.append(path)
    return [os.path.abspath(path) for path in found if is_model(path)]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--commands", help="only these, with commas")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--times", type=float, default=32.0)
    parser.add_argument("--finds", help="append finds to this file, too")
    parser.add_argument("--no-options", action="store_true", help="seeds alone")
    parser.add_argument("--only-options", action="store_true", help="options alone")
    given = parser.parse_args()
    commands = [command for command in commands_of(given.program) if command not in HEAVY]
    if given.commands:
        commands = [command for command in commands if command in given.commands.split(",")]
    helps = {command: help_of(given.program, command) for command in commands}
    files, found = files_in(given.files), 0
    with tempfile.TemporaryDirectory() as folder:
        program = Program(given.program, given.seconds, given.times, folder)
        cases = itertools.chain(
            () if given.only_options else seed_cases(commands, helps, files, given.seeds, folder),
            () if given.no_options else option_cases(commands, helps, files, folder),
        )
        for command, words, read in cases:
            for find in program.run([*command.split(), *words], read):
                found += 1
                line = f"- {find}: `paritas {shlex.join([*command.split(), *words])}`"
                print(line, flush=True)
                if given.finds:
                    with open(given.finds, "a", encoding="utf-8") as finds:
                        finds.write(line + "\n")
    print(f"{len(files)} files, {len(commands)} commands, {program.runs} runs, {found} finds")
    return found > 0


if __name__ == "__main__":
    sys.exit(main())

"""Fuzzes a reader of the Python package, like the targets in C beside it.

    fuzz_python.py READER [arguments of libFuzzer]

An input becomes a file, or several: `%%` alone in a line separates them. It is read, or refused by an error
of the package; any other exception ends the run, as do a crash, a hang and too much memory. Exit code 3:
Atheris is not installed."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

try:
    import atheris
except ImportError:
    sys.exit(3)

TREE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "python"))
with atheris.instrument_imports(include=["paritas"]):
    import paritas
    from paritas.convert import datacard, histfactory_xml, hs3
    from paritas.losscone.tables import read_tables
    from paritas.pyhf import Workspace, exceptions, patchset, readxml
    from paritas.pyhf.contrib import utils
    from paritas.steering import histograms, read
    from paritas.steering.ntuples import fill_histograms

CORPUS = Path(__file__).parent / "corpus" / "python"
FOLDER = Path(tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
#: what readers may raise
REFUSALS: tuple[type[Exception], ...] = (paritas.Error,)


def put(name, data):
    path = FOLDER / name
    path.write_bytes(data)
    return path


def parts(data, names):
    """Files of an input; the last ones may lack."""
    found = data.split(b"\n%%\n")
    return [put(name, found[i] if i < len(found) else b"") for i, name in enumerate(names)]


def beside(name):
    """A file of the corpus that inputs refer to."""
    if not (FOLDER / name).exists():
        shutil.copy(CORPUS / "files" / name, FOLDER / name)


def xml(data):
    """The top-level XML, and the channel's."""
    beside("histograms.root")
    top, _ = parts(data, ["top.xml", "channel.xml"])
    for constraints in ("file", "pyhf"):
        histfactory_xml.read(top, FOLDER, constraints=constraints)


def root(data):
    """Histograms by HistFactory's XML, and histograms and trees by a configuration."""
    for name in ("top.xml", "channel.xml", "trees.yml", "histograms.yml"):
        beside(name)
    put("histograms.root", data)
    with contextlib.suppress(paritas.Error):
        histfactory_xml.read(FOLDER / "top.xml", FOLDER)
    with contextlib.suppress(paritas.Error):
        read(FOLDER / "histograms.yml", "histograms", FOLDER)
    read(FOLDER / "trees.yml", "ntuples", FOLDER)


def hs3_document(data):
    for names in hs3.CHOICES["names"]:
        hs3.read(put("model.json", data), names=names)


def written(data):
    """A workspace, to all formats that are written."""
    spec = paritas.Workspace.read(put("workspace.json", data)).to_dict()
    folder = FOLDER / "written"
    folder.mkdir(exist_ok=True)
    for write in (
        hs3.from_pyhf,
        lambda spec: datacard.write(spec, folder / "card.txt"),
        lambda spec: histfactory_xml.write(spec, folder, folder, "top"),
    ):
        with contextlib.suppress(*REFUSALS):
            write(spec)


def steering(data):
    """A configuration, and one template."""
    config, template = parts(data, ["config.yml", "template.npz"])
    for name in ("SR_signal.npz", "SR_data.npz"):
        shutil.copy(template, FOLDER / name)
    with contextlib.suppress(paritas.Error):
        read(config, "saved", FOLDER)
    read(config, folder=FOLDER)


def template(data):
    """A template that cabinetry saved."""
    beside("saved.yml")
    for name in ("SR_signal.npz", "SR_observed.npz"):
        put(name, data)
    read(FOLDER / "saved.yml", "saved", FOLDER)


def tables(data):
    """The first byte chooses the format."""
    for columns in (None, ["potential"]):
        read_tables(put("table.npz" if data[:1] == b"N" else "table.csv", data[1:]), columns=columns)


def store(data):
    """A store of toys; Python reads its rows itself."""
    paritas.toys.read_store(put("toys.db", data))


def archive(data):
    """An archive of HEPData."""
    folder = FOLDER / "unpacked"
    shutil.rmtree(folder, ignore_errors=True)
    before = sorted(FOLDER.iterdir())
    try:
        utils._unpack(data, "https://www.hepdata.net/record", folder)
    except exceptions.InvalidArchive:
        pass
    assert set(FOLDER.iterdir()) <= {*before, folder}, "a file beside the folder"


def pyhf(data):
    """Documents as programs for pyhf read them."""
    spec = paritas.Workspace.read(put("workspace.json", data)).to_dict()
    for make in (lambda: Workspace(spec).model(), lambda: patchset.PatchSet(spec)):
        with contextlib.suppress(*REFUSALS):
            make()


def program(data):
    """A point or groups, which only the program reads; the first byte chooses."""
    words, name = ["nll", "--point"], "point.json"
    if data[:1] == b"G":
        words, name = ["ranking", "--groups"], "groups.json"
    found = [TREE / "build" / folder / "bin" / "paritas" for folder in ("asan", "release")]
    command = [next(one for one in found if one.exists()), words[0], TREE / "examples" / "two_bins.json"]
    environment = {**os.environ, "PARITAS_DEVICE": "cpu", "ASAN_OPTIONS": "exitcode=99"}
    environment["UBSAN_OPTIONS"] = "exitcode=99:halt_on_error=1"
    done = subprocess.run(
        [*command, words[1], put(name, data[1:])], env=environment, capture_output=True, timeout=15
    )
    assert done.returncode in (0, 1, 2, 3), (done.returncode, done.stderr)


READERS = {
    one.__name__: one
    for one in (xml, root, written, steering, template, tables, store, archive, pyhf, program)
}
READERS["hs3"] = hs3_document


def main():
    reader = READERS[sys.argv[1]]
    global REFUSALS
    if reader is pyhf:
        REFUSALS += tuple(one for one in vars(exceptions).values() if isinstance(one, type))
    warnings.simplefilter("ignore")

    def test(data):
        with contextlib.suppress(*REFUSALS):
            reader(data)

    atheris.Setup([f"fuzz_python_{sys.argv[1]}", *sys.argv[2:]], test)
    try:
        atheris.Fuzz()
    finally:
        shutil.rmtree(FOLDER)


main()

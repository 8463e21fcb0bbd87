"""Files from strangers: limits on what they unpack to, nesting, and where files are written."""

import gzip
import io
import os
import sqlite3
import struct
import subprocess
import tarfile
import zipfile
import zlib

import numpy as np
import pytest
from package_support import PROGRAM, TREE, TWO, model_of

import paritas
from paritas.convert import ConversionError, histfactory_xml, hs3
from paritas.convert.expressions import UnreadExpression, read_terms
from paritas.losscone.tables import read_tables
import paritas.pyhf
from paritas.pyhf import exceptions
from paritas.pyhf.contrib import utils
from paritas.steering.saved_templates import read_saved

MIB = 1 << 20
TOO_FAR = "it would unpack to more than 256 MiB and 200 times its size"


def refused_by_the_program(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 3, (done.returncode, done.stderr)
    return done.stderr


# ---- what unpacks to too much ----


def members(text, n):
    """n gzip members of a MiB: as dense as zlib packs."""
    return gzip.compress(text * (MIB // len(text)), 9) * n


@pytest.mark.parametrize("name", ["day.TAB", "attitude.tab", "geometry.csv"])
def test_gzip_does_not_unpack_without_bound(tmp_path, name):
    path = tmp_path / name
    read = {
        "day.TAB": paritas.losscone.Day.read,
        "attitude.tab": paritas.losscone.Attitude,
        "geometry.csv": paritas.losscone.Geometry,
    }[name]
    path.write_bytes(members(b"\n", 257))
    with pytest.raises(paritas.InvalidInput, match=TOO_FAR):
        read(path)
    path.write_bytes(members(b"\n", 255))
    with pytest.raises(paritas.InvalidInput, match="no rows|no attitude|is empty"):  # blank lines alone
        read(path)


def dense_npz(path, name, mebibytes):
    """An array of zeros whose block repeats one packed MiB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(MIB)) + packer.flush(zlib.Z_FULL_FLUSH)
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (mebibytes * MIB // 16, 2)}
    )
    head = header.getvalue()
    first = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = first.compress(head) + first.flush(zlib.Z_FULL_FLUSH) + block * mebibytes
    packed += zlib.compressobj(9, zlib.DEFLATED, -15).flush()
    crc, plain, member = zlib.crc32(head), len(head) + mebibytes * MIB, f"{name}.npy".encode()
    for _ in range(mebibytes):
        crc = zlib.crc32(bytes(MIB), crc)
    common = struct.pack("<HHHHHIII", 20, 0, 8, 0, 33, crc, len(packed), plain)
    local = b"PK\3\4" + common + struct.pack("<HH", len(member), 0) + member + packed
    line = b"PK\1\2" + struct.pack("<H", 20) + common + struct.pack("<HHHHHII", len(member), 0, 0, 0, 0, 0, 0)
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(line + member), len(local), 0)
    path.write_bytes(local + line + member + end)
    return path


def test_archives_of_arrays_do_not_unpack_without_bound(tmp_path):
    model = model_of("two_bins")
    bomb = dense_npz(tmp_path / "bomb.npz", "main", 257)
    assert bomb.stat().st_size < MIB
    with pytest.raises(paritas.InvalidInput, match=TOO_FAR):
        model.read_data(bomb)
    with pytest.raises(paritas.InvalidInput, match="aux"):  # read, but it is not all
        model.read_data(dense_npz(tmp_path / "large.npz", "main", 16))
    for read in (read_tables, lambda path: read_tables(path, columns=["spectrum"])):
        with pytest.raises(paritas.InvalidInput, match="more than 256 MiB and 200 times its size"):
            read(bomb)


def test_draws_do_not_unpack_without_bound(tmp_path):
    bomb = dense_npz(tmp_path / "bomb.npz", "key", 257)
    said = refused_by_the_program("sample", TWO, "--chains", 2, "--draws", 4, "--store", bomb, "--resume")
    assert TOO_FAR in said


def test_templates_do_not_unpack_without_bound(tmp_path):
    config = (TREE / "tests" / "fuzz" / "corpus" / "python" / "files" / "saved.yml").read_text()
    (tmp_path / "saved.yml").write_text(config)
    for name in ("SR_signal", "SR_observed"):
        dense_npz(tmp_path / f"{name}.npz", "yields", 257)
    pytest.importorskip("yaml")
    with pytest.raises(paritas.InvalidInput, match="more than 256 MiB and 200 times its size"):
        paritas.steering.read(tmp_path / "saved.yml", "saved", tmp_path)
    assert read_saved([], ".", []) == []


def test_root_files_do_not_unpack_without_bound(tmp_path):
    uproot = pytest.importorskip("uproot")
    path, bins = tmp_path / "shapes.root", 40000
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        file["a"] = np.random.default_rng(1).random(bins), np.arange(bins + 1.0)
    with uproot.open(path) as file:
        key = file.key("a")
        packed, plain = key.fNbytes - key.fKeylen, key.fObjlen
    assert plain > packed > 258 * MIB // 1032
    data = path.read_bytes()
    assert data.count(struct.pack(">I", plain)) >= 2  # in the record and in the list
    path.write_bytes(data.replace(struct.pack(">I", plain), struct.pack(">I", 257 * MIB)))
    card = tmp_path / "card.txt"
    card.write_text(
        "imax 1\njmax 0\nkmax 0\nshapes * * shapes.root a\nbin a\nobservation -1\n"
        "bin a\nprocess s\nprocess 0\nrate -1\n"
    )
    assert TOO_FAR in refused_by_the_program("fit", card)


def test_a_day_has_not_sweeps_without_bound(tmp_path):
    row = (TREE / "tests" / "fuzz" / "corpus" / "er" / "row").read_bytes().splitlines()[0].split()
    assert len(row) == 183
    before, after = b" ".join(row[:3]), b" ".join(row[4:])
    rows = (b"%s %d %s\n" % (before, k, after) for k in range(1, 20002))
    path = tmp_path / "3D980116.TAB"
    path.write_bytes(b"".join(rows))
    with pytest.raises(paritas.InvalidInput, match="there are more than 20000 sweeps"):
        paritas.losscone.Day.read(path)


# ---- what becomes long when it is written out ----


def doubled(n):
    """An HS3 document whose factor is a function of 2^n parts."""
    document = hs3.from_pyhf(paritas.Workspace.read(TWO).to_dict()).spec
    document["functions"] = [
        {"name": f"f{i}", "type": "product", "factors": [f"f{i + 1}", f"f{i + 1}"]} for i in range(n)
    ]
    document["functions"].append({"name": f"f{n}", "type": "sum", "summands": ["mu", 1.0]})
    for one in document["distributions"]:
        for sample in one.get("samples", []):
            sample["modifiers"].append({"type": "custom", "name": "f0"})
    return document


def test_functions_of_functions_are_not_written_out_without_bound():
    hs3.to_pyhf(doubled(3))
    with pytest.raises(ConversionError, match="longer than 100000 letters when they are written out"):
        hs3.to_pyhf(doubled(30))
    chain = doubled(0)
    chain["functions"] = [{"name": f"f{i}", "type": "sum", "summands": [f"f{i + 1}"]} for i in range(2000)]
    chain["functions"].append({"name": "f2000", "type": "sum", "summands": ["mu"]})
    with pytest.raises(ConversionError, match="cannot be computed|nested over 150 levels"):
        hs3.to_pyhf(chain)


def test_bins_of_hs3_are_limited():
    document = hs3.from_pyhf(paritas.Workspace.read(TWO).to_dict()).spec
    for one in (*document["distributions"], *document["data"]):
        if one.get("axes"):
            one["axes"] = [{"name": one["axes"][0]["name"], "min": 0.0, "max": 1.0, "nbins": 10**12}]
    with pytest.raises(ConversionError):
        hs3.to_pyhf(document)
    for one in document["data"]:
        if one["type"] == "binned":
            del one["contents"]
            one.update(type="unbinned", entries=[])
    with pytest.raises(ConversionError, match="more than 1000000"):
        hs3.to_pyhf(document)


@pytest.mark.parametrize(
    "text, why",
    [
        ("*".join(f"(a{i} + b{i})" for i in range(20)), "more than 1000 terms"),
        ("(a + b + c + d + e + f + g + h)^8 * (i + j + k + l)^8", "more than 1000 terms"),
        ("+".join(["a"] * 200), "nested over 150 levels"),
        ("-" * 100000 + "a", "it cannot be computed|only sums|nested|letters"),
        ("(" * 500 + "a" + ")" * 500, "only sums|nested|computed"),
        ("a" * 100001, "more than 100000 letters"),
        ("a * 10.^400", "it cannot be computed|only sums"),
        ("a * " + "9" * 400, "it cannot be computed"),
        ("(2 * a)^1000000000000", "it cannot be computed"),
    ],
)
def test_expressions_are_limited(text, why):
    with pytest.raises(UnreadExpression, match=why):
        read_terms(text)


def test_views_of_a_store_are_refused(tmp_path):
    """A view may have rows without end."""
    model = model_of("two_bins")
    paritas.hypotest_toys(model, 1.0, n=2, store=tmp_path / "toys.db")
    with sqlite3.connect(tmp_path / "toys.db") as base:
        base.execute("ALTER TABLE toys RENAME TO kept")
        base.execute(
            "CREATE VIEW toys AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
            "SELECT kept.* FROM kept, c"
        )
    base.close()
    with pytest.raises(paritas.Error, match="has a view"):
        paritas.toys.read_store(tmp_path / "toys.db")


# ---- nothing is written elsewhere ----


def tar_of(*members, mode="w:gz"):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:
        for name, content, *more in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            for key, value in dict(more).items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(content))
    return made.getvalue()


def zip_of(*members):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return made.getvalue()


def files_of(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


@pytest.mark.parametrize("filtered", [True, False])
@pytest.mark.parametrize(
    "member",
    [
        ("../outside", b"x"),
        ("a/../../outside", b"x"),
        ("/tmp/outside_of_paritas", b"x"),
        ("link", b"", ("type", tarfile.SYMTYPE), ("linkname", "/etc")),
        ("link", b"", ("type", tarfile.LNKTYPE), ("linkname", "../outside")),
        ("device", b"", ("type", tarfile.CHRTYPE)),
    ],
)
def test_a_tar_writes_only_into_its_folder(tmp_path, monkeypatch, member, filtered):
    if not filtered:
        monkeypatch.delattr(tarfile, "data_filter", raising=False)
    elif not hasattr(tarfile, "data_filter"):
        pytest.skip("this Python has no filters")
    with pytest.raises(exceptions.InvalidArchive):
        if member[0].startswith("/") and filtered:  # the filter drops the slash
            utils._unpack(tar_of(member), "u", tmp_path / "in")
            assert files_of(tmp_path) == ["in/tmp/outside_of_paritas"]
            raise exceptions.InvalidArchive
        utils._unpack(tar_of(member), "u", tmp_path / "in")
    assert not (tmp_path / "outside").exists() and not os.path.exists("/tmp/outside_of_paritas")
    assert not (tmp_path / "in" / "link").is_symlink()


def test_archives_are_unpacked_into_their_folder(tmp_path):
    utils._unpack(tar_of(("a.json", b"{}"), ("sub/b.json", b"[]")), "u", tmp_path / "tar")
    assert files_of(tmp_path / "tar") == ["a.json", "sub/b.json"]
    utils._unpack(zip_of(("top/top", b"{}"), ("top/sub/b.json", b"[]")), "u", tmp_path / "zip")
    assert files_of(tmp_path / "zip") == ["sub/b.json", "top"]
    utils._unpack(zip_of(("../../outside", b"{}"), ("/b.json", b"[]")), "u", tmp_path / "other")
    assert files_of(tmp_path / "other") == ["b.json", "outside"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "tar", "zip"]


@pytest.mark.parametrize("make", [tar_of, zip_of])
def test_archives_do_not_unpack_without_bound(tmp_path, monkeypatch, make):
    monkeypatch.setattr(utils, "_MOST_BYTES", 1000)
    with pytest.raises(exceptions.InvalidArchive, match="it has more than"):
        utils._unpack(make(("a", bytes(600)), ("b", bytes(600))), "u", tmp_path / "in")
    monkeypatch.setattr(utils, "_MOST_MEMBERS", 2)
    with pytest.raises(exceptions.InvalidArchive, match="it has more than"):
        utils._unpack(make(("a", b""), ("b", b""), ("c", b"")), "u", tmp_path / "in")
    assert not (tmp_path / "in").exists()


def described(kind, size, mode):
    """A tar of a file that its headers describe by `size` bytes: a pax header of a name or a comment, or one
    of GNU's long names."""
    made = io.BytesIO()
    options = {"format": tarfile.GNU_FORMAT if kind == "long name" else tarfile.PAX_FORMAT}
    with tarfile.open(fileobj=made, mode=mode, **options) as archive:
        first = tarfile.TarInfo("first")
        archive.addfile(first)
        info = tarfile.TarInfo("a" * size if kind.endswith("name") else "a")
        if kind == "comment":
            info.pax_headers = {"comment": "c" * size}
        archive.addfile(info)
    return made.getvalue()


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
@pytest.mark.parametrize("kind", ["name", "long name", "comment"])
def test_what_describes_a_member_stays_small(tmp_path, kind, mode):
    packed = described(kind, 2 * MIB, mode)
    assert mode == "w" or len(packed) < MIB // 10
    with pytest.raises(exceptions.InvalidArchive, match="a member is described by more than 1048576 bytes"):
        utils._unpack(packed, "u", tmp_path / "in")
    utils._unpack(described("comment", MIB // 2, mode), "u", tmp_path / "in")
    assert files_of(tmp_path / "in") == ["a", "first"]


def test_each_member_may_be_described_at_length(tmp_path):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        for number in range(5):
            info = tarfile.TarInfo(str(number))
            info.pax_headers = {"comment": "c" * (MIB // 2)}
            archive.addfile(info)
    utils._unpack(made.getvalue(), "u", tmp_path / "in")
    assert files_of(tmp_path / "in") == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize("name", ["/../../outside", "..\\outside", "a/b"])
def test_names_in_a_workspace_are_no_paths(tmp_path, name):
    pytest.importorskip("uproot")
    spec = paritas.Workspace.read(TWO).to_dict()
    spec["channels"][0]["name"] = spec["observations"][0]["name"] = name
    for part in ("config", "data"):
        (tmp_path / part).mkdir()
    with pytest.raises(ConversionError, match="cannot be empty or have slashes"):
        histfactory_xml.write(spec, tmp_path / "config", tmp_path / "data", "FitConfig")
    assert not [one for one in files_of(tmp_path) if "outside" in one or one.endswith("b.xml")]


@pytest.mark.parametrize("version", ["../../../../tmp", "/tmp", 1.0, ["1.0.0"]])
def test_a_documents_version_is_no_path(version):
    with pytest.raises(exceptions.SchemaNotFound, match="There is no schema of version"):
        paritas.pyhf.Workspace({**paritas.Workspace.read(TWO).to_dict(), "version": version})


@pytest.mark.parametrize("document", [" ", [], [["version", "1.0.0"]], 1, None])
def test_a_document_is_an_object(document):
    for make in (paritas.pyhf.Workspace, paritas.pyhf.PatchSet):
        with pytest.raises(exceptions.InvalidSpecification):
            make(document)


@pytest.mark.parametrize("name", ["/outside", "../../outside", "a\\b"])
def test_names_in_a_configuration_are_no_paths(tmp_path, name):
    pytest.importorskip("yaml")
    config = (TREE / "tests" / "fuzz" / "corpus" / "python" / "files" / "saved.yml").read_text()
    (tmp_path / "saved.yml").write_text(config.replace("Name: SR", f"Name: '{name}'"))
    template = paritas.steering.Histogram(np.ones(2), np.ones(2))
    made = paritas.steering.read(tmp_path / "saved.yml", folder=tmp_path, make_template=lambda *_: template)
    with pytest.raises(paritas.steering.SteeringError, match="which is a path"):
        made.save_templates()
    assert files_of(tmp_path) == ["saved.yml"]

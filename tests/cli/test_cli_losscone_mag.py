"""Geometry from files of the magnetometer: an orbit and a field that are known in two frames."""

import gzip

import numpy as np
import pytest

from lossconefiles import column, days, read_csv, run

RADIUS, ORBIT = 1737.4, 1838.0
TABLE = "losscone_1998-01-16.csv"


def turned():
    """SSE to SEL: the Moon's axis leans by 1.5 degrees, the Sun stands over longitude -50."""
    turn, lean = np.radians([-50.0, 1.5])
    about_z = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    about_x = np.array([[1, 0, 0], [0, np.cos(lean), -np.sin(lean)], [0, np.sin(lean), np.cos(lean)]])
    return about_x @ about_z


class Scene:
    """A polar orbit of 118 minutes. The field leans by 25 degrees from the vertical, down, later up."""

    def __init__(self, times):
        angle = 2 * np.pi * (times - times[0]) / (118 * 60)
        up = np.stack([np.cos(angle), 0.3 * np.sin(angle), np.sqrt(0.91) * np.sin(angle)], axis=1)
        side = np.cross(up, [0.2, 1.0, 0.1])
        side /= np.linalg.norm(side, axis=1)[:, None]
        lean = np.radians(25.0)
        self.sign = np.where(times - times[0] < 300.0, 1.0, -1.0)
        self.position = ORBIT * up
        self.field = 7.0 * self.sign[:, None] * (-np.cos(lean) * up + np.sin(lean) * side)
        # along the field line down to the sphere, in SSE
        down = self.field / 7.0 * self.sign[:, None]
        along = np.sum(self.position * down, axis=1)
        way = -along - np.sqrt(along**2 - ORBIT**2 + RADIUS**2)
        self.foot = self.position + way[:, None] * down

    def rows(self, times):
        stamps = np.datetime_as_string((times * 1000).astype("datetime64[ms]"), unit="s")
        sel = (self.field @ turned().T, self.position @ turned().T)
        for k, stamp in enumerate(stamps):
            triples = [sel[0][k], self.field[k], sel[1][k], self.position[k]]
            texts = [
                "".join(f"{v:{w}.{d}f}" for v, w in zip(t, ws))
                for t, ws, d in zip(triples, [(9, 8, 8), (9, 8, 8), (10, 9, 9), (10, 9, 9)], (3, 3, 2, 2))
            ]
            yield f" {stamp} {16 + k / 17280:12.6f}{texts[0]}{texts[1]}{0.12:9.3f}{texts[2]}{texts[3]}  1"


def degrees(points):
    return (
        np.degrees(np.arcsin(points[:, 2] / np.linalg.norm(points, axis=1))),
        np.degrees(np.arctan2(points[:, 1], points[:, 0])),
    )


@pytest.fixture(scope="module")
def mag(days, tmp_path_factory):
    """A file of the day, from the first sweep to behind the last."""
    times = 884908800.0 + np.arange(-5.0, 900.0, 5.0)
    folder = tmp_path_factory.mktemp("mag")
    (folder / "1998").mkdir()
    (folder / "1998" / "MA980116.TAB").write_text("\n".join(Scene(times).rows(times)) + "\n")
    return folder


def fitted(days, folder, *options):
    done = run("losscone", "fit", days / "3D980116.TAB", "-o", folder, "--spacecraft-potential", 10, *options)
    assert done.returncode == 0, done.stderr
    return done.stderr, *read_csv(folder / TABLE)


def test_polarity_positions_and_light_follow_from_records(days, mag, tmp_path):
    said, provenance, rows = fitted(days, tmp_path / "t", "--mag", mag)
    assert said == ""
    whole = Scene(884908800.0 + np.arange(-5.0, 900.0, 5.0))
    at = 1 + np.arange(8) * 16  # a sweep begins every 80 s
    assert np.array_equal(column(rows, "polarity"), whole.sign[at])
    for name, points in (("spacecraft", whole.position), ("projection", whole.foot)):
        latitude, longitude = degrees(points[at] @ turned().T)
        assert np.allclose(column(rows, f"{name}_latitude"), latitude, atol=0.02)
        assert np.allclose(column(rows, f"{name}_longitude"), longitude, atol=0.02)
    assert np.array_equal(column(rows, "projection_in_sun"), whole.foot[at, 0] > 0.0)
    behind = np.hypot(whole.position[at, 1], whole.position[at, 2]) < RADIUS
    assert np.array_equal(column(rows, "spacecraft_in_sun"), ~(behind & (whole.position[at, 0] < 0.0)))
    assert provenance["columns"]["mag_x"] == "nT" and provenance["options"]["mag"] is True
    assert [one["file"] for one in provenance["inputs"]] == ["3D980116.TAB", "MA980116.TAB"]
    mean = np.stack([column(rows, f"mag_{axis}") for axis in "xyz"], axis=1)
    assert np.allclose(np.linalg.norm(mean, axis=1), 7.0, atol=0.02)


def test_a_file_may_be_compressed_glued_and_partly_damaged(days, mag, tmp_path):
    rows = (mag / "1998" / "MA980116.TAB").read_text().splitlines()
    rows[5] = rows[5][:80]
    rows[50] = rows[50].replace(" 16.", " 16,")
    rows.append(rows[0][:34] + f"{1.0:9.3f}{-123.456:8.3f}{-234.567:8.3f}" * 2 + rows[0][84:])
    path = tmp_path / "words.gz"
    path.write_bytes(gzip.compress("\n".join(rows).encode()))
    said, provenance, table = fitted(days, tmp_path / "t", "--mag", path)
    assert f"{path}: 3 of its rows are no records of the magnetometer" in said  # glued: the frames differ
    plain = fitted(days, tmp_path / "p", "--mag", mag)[2]
    assert [row["potential"] for row in table] == [row["potential"] for row in plain]
    assert fitted(days, tmp_path / "t", "--mag", path)[0] == said  # kept tables say it again


def test_days_without_records_are_named(days, mag, tmp_path):
    done = run("losscone", "fit", days, "-o", tmp_path / "t", "--spacecraft-potential", 10, "--mag", mag)
    assert done.returncode == 0
    assert "--mag" not in done.stderr and "the first is 1998-01-17" in done.stderr


def test_another_file_is_another_input(days, mag, tmp_path):
    fitted(days, tmp_path / "t", "--mag", mag)
    rows = (mag / "1998" / "MA980116.TAB").read_text()
    (tmp_path / "MA980116.TAB").write_text(rows[rows.index("\n") + 1 :])
    arguments = ("losscone", "fit", days / "3D980116.TAB", "-o", tmp_path / "t", "--spacecraft-potential", 10)
    for options, words in (
        (("--mag", tmp_path), "was made from other files"),
        (("--polarity=-1",), "polarity is "),
    ):
        done = run(*arguments, *options)
        assert done.returncode == 3 and words in done.stderr, done.stderr


@pytest.mark.parametrize(
    "text, words",
    [
        (b"", "line 1: there are no rows: this is no file of the magnetometer"),
        (b"words\n", "line 1: a UTC is expected"),
        (b"1998-01-16T00:00:00 1 2\n", "line 1: 16 fields are expected"),
        (b"1998-01-16T00:00:00" + b" 1" * 16, "line 1: 16 fields are expected, there are more"),
        (b"\n1998-01-16T00:00:00" + b" 1" * 15, "line 2: the position is not near the Moon"),
        (b"1998-01-16T00:00:00 16 0 0 0 0 0 0 0 1800 0 0 1800 0 0 1", "line 1: the field is 0"),
        (b"1998-01-16T00:00:00 16 5 0 0 0 5 0 0 1800 0 0 1800 0 0 1", "line 1: the two frames do not agree"),
    ],
)
def test_what_is_no_file_of_the_magnetometer_is_refused(days, tmp_path, text, words):
    (tmp_path / "m.tab").write_bytes(text)
    done = run("losscone", "fit", days, "-o", tmp_path / "t", "--mag", tmp_path / "m.tab")
    assert done.returncode == 3 and f"m.tab: {words}" in done.stderr, done.stderr
    (tmp_path / "e").mkdir()
    done = run("losscone", "fit", days, "-o", tmp_path / "t", "--mag", tmp_path / "e")
    assert done.returncode == 3 and "there is no file of the magnetometer (MAYYMMDD.TAB)" in done.stderr

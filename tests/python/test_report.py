"""The report says what the results say, first things first, and needs nothing but itself."""

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("paritas")

import paritas
from paritas import fits
from paritas.report import figures, report
from paritas.report.command import main
from plots import WORKSPACE, modifier

SECTIONS = [
    "verdict",
    "fitted",
    "limit",
    "scan",
    "pulls",
    "ranking",
    "correlations",
    "channels",
    "yields",
    "parameters",
    "quality",
    "again",
]
NASTY = "<script>document.title='run'</script>\"'&$_{}"


class Outline(HTMLParser):
    """What a page is made of: tags with their attributes in order, texts by tag, and that every tag is
    closed."""

    VOID = {"meta", "img", "br", "hr", "link", "input"}

    def __init__(self, html):
        super().__init__()
        self.tags, self.open, self.texts = [], [], {}
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        for tag in set(self.open):
            self.texts.setdefault(tag, []).append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


def section(html, name):
    return re.search(rf'<section id="{name}".*?</section>', html, re.S).group(0)


def write(path, workspace):
    path.write_text(json.dumps(workspace))
    return str(path)


def without_interest():
    workspace = json.loads(json.dumps(WORKSPACE))
    workspace["channels"][1]["samples"].pop()
    return workspace


def nasty():
    workspace = json.loads(
        json.dumps(WORKSPACE).replace('"theory"', json.dumps(NASTY)).replace('"other"', json.dumps(NASTY))
    )
    for i, channel in enumerate(workspace["channels"]):
        channel["name"] = workspace["observations"][i]["name"] = NASTY + channel["name"]
    workspace["measurements"][0]["name"] = NASTY
    return workspace


@pytest.fixture(scope="module")
def made():
    """A page with all that makes one hard: 300 parameters, long names, names that are programs and
    mathematics. All its figures are made, and one of each size is drawn and stands for all of that size:
    pages of pulls differ in little else, and drawing takes most of the time."""
    workspace = nasty()
    for i in range(290):
        workspace["channels"][1]["samples"][0]["modifiers"].append(
            modifier(
                "normsys",
                f"a_systematic_uncertainty_with_a_long_name_that_goes_on_and_on_{i}",
                {"hi": 1.001 + i * 1e-5, "lo": 0.999},
            )
        )
    svg, drawn = figures.svg, {}

    def one_of_each_size(figure):
        size = tuple(figure.get_size_inches())
        if size not in drawn:
            drawn[size] = svg(figure)
        return drawn[size]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "svg", one_of_each_size)
        return report(workspace)


@pytest.fixture
def undrawn(monkeypatch):
    """For tests of words and numbers: figures are made, and not drawn."""
    monkeypatch.setattr(figures, "svg", lambda figure: "<svg/>")


def test_all_sections_are_there_the_verdict_first(made):
    outline = Outline(made.html)
    assert [found["id"] for found in outline.all("section")] == SECTIONS
    assert len(outline.all("h1")) == 1 and len(outline.all("h2")) == len(SECTIONS)
    ids = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {link["href"][1:] for link in outline.all("a")} == set(SECTIONS)
    assert made.converged and "missing" not in {part.get("class") for part in outline.all("p")}


def test_the_page_needs_nothing_else_and_runs_nothing(made):
    outline = Outline(made.html)
    assert not outline.all("script") and not outline.all("link") and not outline.all("iframe")
    for tag, attributes in outline.tags:
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "href"):
            assert attributes.get(name, "#").startswith(("#", "data:image/svg+xml,"))
    assert "url(" not in "".join(outline.texts["style"]) and "@import" not in made.html
    assert any(
        meta.get("http-equiv") == "Content-Security-Policy" and "default-src 'none'" in meta["content"]
        for meta in outline.all("meta")
    )


def test_the_page_can_be_read_by_all(made):
    outline = Outline(made.html)
    images, tables = outline.all("img"), outline.all("table")
    assert len(images) >= 9 and all(len(image["alt"]) > 20 for image in images)
    assert len(outline.all("caption")) == len(tables) and len(outline.all("figcaption")) == len(images)
    assert all(head.get("scope") in ("row", "col") for head in outline.all("th"))
    assert outline.all("html") == [{"lang": "en"}] and "@media print" in made.html


def test_the_verdict_has_the_numbers_of_the_statistics(undrawn):
    made = report(WORKSPACE, command=["python", "-m", "paritas", "report", "my file.json"])
    model = paritas.Model.from_workspace(WORKSPACE)
    limit, significance, gof = model.upper_limit(), model.significance(), model.goodness_of_fit()
    verdict = section(made.html, "verdict")
    for number in (
        f"{limit.limit_obs:.4g}",
        f"{limit.limit_exp[2]:.4g}",
        f"Z = {significance.Z:.3g}",
        f"p = {gof.p:.3g}",
        "The fit converged.",
    ):
        assert number in verdict
    down, up = model.minos("mu")["mu"]
    assert f"+{up:.2f}" in verdict and f"\N{MINUS SIGN}{-down:.2f}" in verdict
    parameters = section(made.html, "parameters")
    fit = model.fit()
    assert all(
        f">{name}<" in parameters and f">{value:.5g}<" in parameters
        for name, value in zip(fit.names, fit.values)
    )
    assert paritas.Workspace(WORKSPACE).digest() in section(made.html, "fitted")
    assert "python -m paritas report &#x27;my file.json&#x27;" in section(made.html, "again")
    assert f"EDM {made.analysis.fit.edm:.3g}" in section(made.html, "quality")
    assert all(f">{step.name}<" in section(made.html, "quality") for step in made.analysis.steps)


def test_pulls_are_those_of_the_ranking(undrawn):
    """Also where the auxiliary data do not stand where the fit starts."""
    workspace = json.loads(json.dumps(WORKSPACE))
    workspace["measurements"][0]["config"]["parameters"] = [
        {"name": "theory", "inits": [1.0], "auxdata": [-2.5]}
    ]
    made = report(workspace)
    ranked = made.analysis.ranking
    pull = ranked.pull[ranked.names.index("theory")]
    assert abs(pull - (made.analysis.fit["theory"][0] + 2.5)) < 1e-9 and f"<td>{pull:.5g}</td>" in section(
        made.html, "parameters"
    )
    assert ("Pulled by more than" in made.html) == (abs(ranked.pull) > 2).any()


def test_names_from_the_file_are_harmless(made):
    outline = Outline(made.html)
    assert not outline.all("script") and "<script" not in made.html.lower()
    shown = "".join(outline.texts["th"])
    assert NASTY in shown


def test_without_a_parameter_of_interest_every_part_says_so(undrawn):
    page = report(without_interest())
    assert page.converged
    for name in ("limit", "scan", "ranking"):
        assert "Not shown: The model has no parameter of interest: the measurement names mu" in section(
            page.html, name
        )
    assert "no parameter of interest" in section(page.html, "verdict")
    assert len(Outline(page.html).all("img")) >= 6


def test_a_fit_that_does_not_converge_is_told_first(undrawn, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(
        paritas.Model, "fit", lambda self, **options: fits.fit(self, max_iterations=1, **options)
    )
    path = str(tmp_path / "report.html")
    assert main([write(tmp_path / "w.json", WORKSPACE), "-o", path]) == 1
    html = open(path, encoding="utf-8").read()
    assert (
        "The fit did NOT converge: at_iteration_limit" in section(html, "verdict")
        and 'class="verdict bad"' in html
    )
    assert "not all converged" in section(html, "quality")
    assert "converged" in capsys.readouterr().err


def test_a_parameter_on_its_bound_is_told(undrawn):
    workspace = json.loads(json.dumps(WORKSPACE))
    workspace["observations"][1]["data"] = [40.0, 25.0, 8.0]
    page = report(workspace)
    assert "0, at lower bound: no symmetric error" in section(page.html, "verdict")
    assert "mu (at lower bound)" in section(page.html, "verdict")
    assert "All impacts are 0" in section(page.html, "ranking")


def test_exit_codes_are_the_programs(undrawn, tmp_path, capsys):
    good, page = write(tmp_path / "w.json", without_interest()), str(tmp_path / "report.html")
    assert main([good, "-o", page]) == 0 and os.path.getsize(page) > 10000
    assert (
        main([])
        == main([good, "--no-such-option"])
        == main([good, "--device", "abacus"])
        == main([good, "--patchset", good])
        == 2
    )
    assert main([str(tmp_path / "none.json"), "-o", page]) == 3
    assert main([good, "-o", page, "--measurement", "none"]) == main([good, "-o", page, "--poi", "none"]) == 3
    assert main([good, "-o", page, "--patch", good]) == 3
    assert (
        main([good, "-o", str(tmp_path / "no_folder" / "report.html")])
        == main([good, "-o", str(tmp_path)])
        == 5
    )
    assert main(["--help"]) == 0
    if not paritas.has_metal():
        assert main([good, "-o", page, "--device", "metal"]) == 4
    told = capsys.readouterr().err
    assert "none.json" in told and "no_folder" in told and "abacus" in told
    assert sorted(os.listdir(tmp_path)) == ["report.html", "w.json"]  # nothing half written is left


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "3",
        "{",
        "\0\xff",
        '{"channels": []}',
        '{"measurements": 3}',
        '{"measurements": [1], "channels": [], "observations": []}',
        json.dumps({**WORKSPACE, "measurements": []}),
        json.dumps({**WORKSPACE, "channels": 1}),
    ],
)
def test_what_is_no_workspace_is_wrong_input(text, tmp_path, capsys):
    path = tmp_path / "w.json"
    path.write_text(text, encoding="latin-1")
    good, out = write(tmp_path / "good.json", WORKSPACE), str(tmp_path / "r.html")
    assert main([str(path), "-o", out]) == main([good, "--patch", str(path), "-o", out]) == 3
    assert "w.json" in capsys.readouterr().err and not os.path.exists(out)


def test_the_module_is_a_program(tmp_path):
    def run(*words):
        return subprocess.run(
            [sys.executable, "-m", "paritas", *words],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=dict(
                os.environ, PYTHONPATH=os.pathsep.join(os.path.abspath(path) for path in sys.path if path)
            ),
        )

    write(tmp_path / "w.json", without_interest())
    done = run("report", "w.json", "-o", "-")
    assert done.returncode == 0 and done.stdout.startswith("<!DOCTYPE html>") and done.stderr == ""
    assert run().returncode == 2 and "report" in run("--help").stdout


def test_a_patch_and_a_patch_set_are_named(undrawn, tmp_path):
    patch = [{"op": "replace", "path": "/observations/0/data", "value": [110.0, 90.0]}]
    page = report(WORKSPACE, [patch])
    fitted = section(page.html, "fitted")
    assert "Digest when patched" in fitted and paritas.Workspace(WORKSPACE).patch(patch).digest() in fitted
    patchset = {
        "version": "1.0.0",
        "metadata": {
            "name": "set",
            "description": "",
            "labels": ["m"],
            "references": {"hepdata": "ins1234567"},
            "digests": {"sha256": paritas.Workspace(WORKSPACE).digest()[7:]},
        },
        "patches": [{"metadata": {"name": "point", "values": [1]}, "patch": patch}],
    }
    file, base, out = (str(tmp_path / name) for name in ("set.json", "w.json", "r.html"))
    write(tmp_path / "set.json", patchset)
    write(tmp_path / "w.json", WORKSPACE)
    assert main([base, "--patchset", file, "--patch-name", "point", "-o", out]) == 0
    assert "w.json with point of set.json" in open(out, encoding="utf-8").read()
    assert main([base, "--patchset", file, "--patch-name", "nowhere", "-o", out]) == 3
    name = WORKSPACE["channels"][0]["name"]
    assert main([base, "--patchset", file, "--patch-name", "point", "--mask", name, "-o", out]) == 0
    assert f"{name}, postfit (masked: not fitted)" in open(out, encoding="utf-8").read()


def test_blind_channels_are_masked_and_their_data_are_not_shown(undrawn):
    workspace = json.loads(json.dumps(WORKSPACE))
    name = workspace["channels"][0]["name"]
    (observed,) = [one for one in workspace["observations"] if one["name"] == name]
    observed["data"] = [7123.0] * len(observed["data"])
    total = f"{sum(observed['data']):g}"
    assert total in report(workspace, masks=[name]).html
    page = report(workspace, blind=[name])
    assert "7123" not in page.html and total not in page.html
    assert f"{name}, postfit (masked: not fitted): events not shown" in page.html
    assert page.analysis.fit.values == pytest.approx(report(workspace, masks=[name]).analysis.fit.values)


def test_300_parameters_make_no_large_page(made):
    assert made.analysis.model.parameter_count >= 300
    assert len(made.html.encode()) < 5e6
    # 40 a figure, then free parameters, then factors of bins
    assert section(made.html, "pulls").count("<img") == 10


def browser():
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        if shutil.which(name):
            return shutil.which(name)
    mac = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
    return mac if os.path.exists(mac) else None


PROBE = """<script>
const seen = {errors: [], refused: []};
addEventListener("error", event => seen.errors.push(String(event.message)), true);
document.addEventListener("securitypolicyviolation", event =>
  seen.refused.push(event.violatedDirective + " " + event.blockedURI));
addEventListener("load", () => {
  const images = [...document.images];
  const size = element => element.getBoundingClientRect();
  const headings = [...document.querySelectorAll("h2")];
  seen.headings = headings.filter(h => size(h).height > 0).map(h => h.textContent);
  seen.images = images.length;
  const shown = image => image.complete && image.naturalWidth > 0 && size(image).width > 50;
  seen.empty = images.filter(image => !shown(image)).map(image => image.alt);
  const fetched = performance.getEntriesByType("resource").map(entry => entry.name);
  seen.fetched = fetched.filter(name => !name.startsWith("data:"));
  seen.title = document.title;
  seen.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  const wrong = document.createElement("pre");
  wrong.id = "probe";
  wrong.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(seen))));
  document.body.append(wrong);
});
</script>"""


@pytest.mark.skipif(browser() is None, reason="there is no browser: chromium or Google Chrome")
def test_a_browser_shows_the_whole_page(made, tmp_path):
    import base64

    html = made.html.replace(
        "style-src 'unsafe-inline'", "style-src 'unsafe-inline'; script-src 'unsafe-inline'", 1
    ).replace("</title>", "</title>" + PROBE, 1)
    page = tmp_path / "page.html"
    page.write_text(html, encoding="utf-8")
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--disable-background-networking",
        "--window-size=1280,900",
        f"--user-data-dir={tmp_path / 'profile'}",
        "--enable-logging=stderr",
        "--virtual-time-budget=20000",
    ]
    done = subprocess.run(
        [browser(), *options, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=120
    )
    seen = json.loads(base64.b64decode(re.search(r'<pre id="probe">(.*?)</pre>', done.stdout).group(1)))
    assert (
        seen["errors"] == []
        and seen["refused"] == []
        and seen["fetched"] == []
        and "CONSOLE" not in done.stderr
    )
    assert (
        len(seen["headings"]) == len(SECTIONS)
        and seen["images"] == made.html.count("<img")
        and seen["empty"] == []
    )
    assert seen["title"].startswith("Fit report") and seen["overflow"] <= 0


@pytest.mark.parametrize("page", ["plots", "report"])
def test_the_examples_of_the_pages_run(undrawn, page, tmp_path, monkeypatch):
    with open(
        os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "python", f"{page}.md"),
        encoding="utf-8",
    ) as file:
        examples = re.findall(r"```python\n(.*?)```", file.read(), re.S)
    write(tmp_path / "workspace.json", WORKSPACE)
    monkeypatch.chdir(tmp_path)
    for example in examples:
        exec(compile(example, f"{page}.md", "exec"), {})
    assert len(os.listdir(tmp_path)) > 1


def test_tables_are_written_as_numbers_are():
    from paritas.report.html import Markup, table

    html = table(
        "a & b", ("x", "y"), [["<i>", 1.0], ["b", float("nan")], [Markup("<b>c</b>"), np.float64(2e-7)]]
    )
    assert (
        "a &amp; b" in html
        and "&lt;i&gt;" in html
        and ">1<" in html
        and "&ndash;" in html
        and "<b>c</b>" in html
        and ">2e-07<" in html
    )

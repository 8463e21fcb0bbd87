"""The web page in Chromium: the bytes of the native program, figures, messages, nothing sent."""

import functools
import gzip
import http.server
import io
import json
import re
import tarfile
import threading
import xml.etree.ElementTree as ET
import zipfile

import page_support as support
import pytest

pytest.importorskip("playwright.sync_api", reason="playwright: tools/setup web")
VIEWS = ("overview", "limit", "fit", "ranking", "scan", "yields", "explore", "tests")
SHARED = "#choices .options"
FIGURES = {"limit": 1, "fit": 3, "ranking": 1, "scan": 1, "yields": 2, "explore": 1}
pytestmark = [
    pytest.mark.skipif(not support.SITE.exists(), reason="no page: make web"),
    pytest.mark.skipif(support.chromium_program() is None, reason="there is no Chromium"),
    pytest.mark.skipif(not support.PROGRAM.exists(), reason="no native program to compare with"),
]
shared = pytest.mark.skipif(not support.SHARED.exists(), reason="no ../shared/workspaces")


@pytest.fixture
def tab(browser):
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    tab = support.Watched(context)
    yield tab
    tab.check()
    context.close()


def compare(tab, view, paths, folder):
    """each document that a view offers is the native program's answer to the line beside it"""
    rows = tab.page.query_selector_all(f"#{view} .command")
    for row in rows:
        line = row.query_selector("code").inner_text()
        answer = support.native(line, paths, folder)
        assert tab.saved(row.query_selector("button:text('JSON')")) == answer.stdout, line
    return len(rows)


@shared
@pytest.mark.parametrize("name", support.ANALYSES)
def test_results_have_the_native_bytes(tab, name, tmp_path):
    paths = support.analysis(name)
    tab.open()
    tab.give(paths)
    tab.shown(*VIEWS, *(["patches"] if name == "sbottom" else []))
    assert sum(compare(tab, view, paths, tmp_path) for view in (*VIEWS, "patches")) >= 3
    if name == "sbottom":
        assert len(tab.page.query_selector_all("#patches tbody tr")) == 10


@shared
def test_a_view_without_an_answer_shows_the_programs_message(tab, tmp_path):
    paths = support.analysis("staus")
    tab.open()
    tab.give(paths)
    tab.shown("limit", "ranking")
    answer = support.native("paritas limit SUSY-2018-04_staus.json --json", paths, tmp_path)
    assert answer.returncode != 0
    assert tab.page.inner_text("#limit .failure").strip() == answer.stderr.decode().strip()


BAD = {
    "cut.json": b'{"channels": [\n',
    "wrong.json": b'{"channels": [], "observations": [], "measurements": [], "version": "7.0.0"}',
    "empty.json": b"",
    "bytes.json": bytes(range(256)),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gives_the_programs_message_in_full(tab, name, tmp_path):
    path = tmp_path / name
    path.write_bytes(BAD[name])
    tab.open()
    tab.give([path])
    folder = tmp_path / "native"
    folder.mkdir()
    answer = support.native(f"paritas inspect {name} --json", [path], folder)
    assert answer.returncode == 3
    assert tab.page.inner_text(".failure").strip() == answer.stderr.decode().strip()


USELESS = {
    "notes.txt": (b"no numbers", "no workspace"),
    "config.xml": (b"<!DOCTYPE Combination>\n<Combination/>", "paritas convert"),
    "shapes.root": (b"root\x00\x00\xf2\x4a", "a ROOT file"),
}


@pytest.mark.parametrize("name", USELESS)
def test_a_useless_file_is_named_and_takes_nothing_away(tab, name, tmp_path):
    path = tmp_path / name
    content, words = USELESS[name]
    path.write_bytes(content)
    page = tab.open()
    tab.give([path])
    message = page.inner_text("#message .failure")
    assert message.startswith(f"{name} is ") and words in message
    assert page.is_visible("#welcome a:text('two_bins')")
    tab.give([support.ROOT / "examples" / "two_bins.json"])
    tab.shown("limit")
    assert page.query_selector(".failure") is None
    tab.give([path])
    page.wait_for_selector("#message .failure")
    assert "two_bins.json" in page.inner_text("#limit .command code")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_workspace_and_its_patch_set_come_one_after_the_other(tab, order):
    paths = archive_files()
    page = tab.open()
    tab.give([paths[order[0]]])
    if order[0] == 0:
        tab.shown("limit")
    else:
        assert "Drop the workspace" in page.inner_text("#message .note")
    tab.give([paths[order[1]]])
    tab.shown("limit", "patches")
    assert page.query_selector(".failure") is None
    assert "--patchset patchset.json" in page.inner_text("#limit .command code")


def test_a_patch_takes_the_place_of_a_patch_set_and_a_workspace_that_of_all(tab, tmp_path):
    background, patchset = archive_files()
    patch = tmp_path / "own.json"
    patch.write_text(json.dumps(json.loads(patchset.read_text())["patches"][0]["patch"]))
    page = tab.open()
    tab.give([background, patchset])
    tab.shown("patches")
    tab.give([patch])
    page.wait_for_selector("#limit .command code:has-text('--patch own.json')")
    assert page.query_selector("#patches") is None
    tab.give([support.ROOT / "examples" / "two_bins.json"])
    page.wait_for_selector("#limit .command code:has-text('two_bins.json')")
    assert "--patch" not in page.inner_text("#limit .command code")


@pytest.mark.parametrize("name", ["constructor", "__proto__", "toString", "no_such"])
def test_a_link_to_no_example_says_so(tab, name):
    page = tab.open(f"#example={name}")
    page.wait_for_selector("#message .failure")
    assert page.inner_text("#message .failure").startswith(f"There is no example {name}. Examples: two_bins,")


def test_the_title_leads_back_to_the_start(tab):
    page = tab.open("#example=two_bins")
    tab.shown("limit")
    page.click("h1 a")
    assert page.is_visible("#welcome") and page.query_selector("section.card") is None
    page.click("#welcome a:text('two_bins')")
    tab.shown("limit")
    page.go_back()
    page.wait_for_selector("#welcome", state="visible")


@shared
def test_a_file_of_20_mb_is_read(tab, tmp_path):
    document = json.loads((support.SHARED / "tHu_FCNC.json").read_bytes())
    path = tmp_path / "large.json"
    path.write_text(json.dumps(document, indent=60))
    assert path.stat().st_size > 20e6
    tab.open()
    tab.give([path])
    tab.shown("limit", "overview")
    folder = tmp_path / "native"
    folder.mkdir()
    assert compare(tab, "limit", [path], folder) == 1


def test_figures_are_drawn_and_saved_as_svg(tab):
    tab.open("#example=sbottom_A")
    tab.shown(*VIEWS)
    for view, least in FIGURES.items():
        figures = tab.page.query_selector_all(f"#{view} figure")
        assert len(figures) >= least, view
        for figure in figures:
            text = tab.saved(figure.query_selector("button")).decode()
            root = ET.fromstring(text)
            assert root.tag == "{http://www.w3.org/2000/svg}svg" and "var(" not in text
            assert not re.search(r"NaN|undefined|Infinity", text)


def test_files_given_one_after_the_other_show_the_last_ones(tab):
    paths = archive_files()
    page = tab.open("#example=two_bins")
    for _ in range(3):
        tab.give(paths[:1])
        page.wait_for_timeout(150)
        tab.give(paths)
        page.wait_for_timeout(400)
    tab.shown(*VIEWS, "patches")
    assert page.title() == "BkgOnly.json: Paritas"
    assert len(page.query_selector_all("section.card")) == 12
    assert page.query_selector(".failure") is None


def test_impacts_of_nothing_are_said(tab):
    """ten signal points of the search have their best fit at a signal of 0"""
    page = tab.open("#example=sbottom_A")
    tab.shown("ranking", "limit")
    assert "No other parameter moves mu_SIG" in page.inner_text("#ranking .note")
    assert "e−" not in page.text_content("#ranking figure svg")
    assert "at 95 % CL" in page.inner_text("#limit .headline")


def test_a_slider_moves_the_yields(tab):
    page = tab.open("#example=two_bins&view=explore")
    tab.shown("explore")
    slider = page.query_selector("#explore input[type=range]")
    assert slider.evaluate("(one) => one.labels[0].textContent").startswith("mu")
    before = page.inner_html("#explore figure svg")
    slider.focus()
    page.keyboard.press("End")
    page.wait_for_timeout(300)
    assert page.inner_html("#explore figure svg") != before
    page.click("#explore button:text('Best fit')")
    page.wait_for_timeout(300)
    assert page.inner_html("#explore figure svg").count("<rect") == before.count("<rect")


def archive_files():
    folder = support.ROOT / "examples" / "sbottom_A"
    return [folder / "BkgOnly.json", folder / "patchset.json"]


def tar_gz(paths):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for path in paths:
            tar.add(path, arcname=f"RegionA/{path.name}")
    return out.getvalue()


@pytest.mark.parametrize("kind", ["zip", "tar.gz", "zip_of_tar.gz", "json.gz"])
def test_archives_are_opened(tab, kind, tmp_path):
    paths = archive_files()
    path = tmp_path / f"HEPData.{kind.split('_')[0]}"
    if kind == "tar.gz":
        path.write_bytes(tar_gz(paths))
    elif kind == "json.gz":
        path = tmp_path / "two_bins.json.gz"
        path.write_bytes(gzip.compress((support.ROOT / "examples" / "two_bins.json").read_bytes()))
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            if kind == "zip":
                for one in paths:
                    archive.write(one, f"folder/{one.name}")
            else:
                archive.writestr("likelihoods/RegionA.tar.gz", tar_gz(paths))
    tab.open()
    tab.give([path])
    tab.shown("overview")
    wanted = "two_bins.json" if kind == "json.gz" else "BkgOnly.json"
    assert wanted in tab.page.inner_text("#overview .command code")
    assert bool(tab.page.query_selector("#patches")) == (kind != "json.gz")


def test_an_archive_of_two_regions_offers_both(tab, tmp_path):
    path = tmp_path / "HEPData.zip"
    background, patchset = archive_files()
    smaller = json.loads(background.read_bytes())
    smaller["version"] = "1.0.0"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("RegionB/BkgOnly.json", json.dumps(smaller, separators=(",", ":")))
        archive.write(support.ROOT / "examples" / "two_bins.json", "RegionB/patch/readme.json")
        archive.write(background, "./RegionA/BkgOnly.json")
        archive.write(patchset, "./RegionA/patchset.json")
        archive.writestr("__MACOSX/RegionA/._BkgOnly.json", b"no")
    tab.open()
    tab.give([path])
    tab.shown("overview", "limit")
    line = tab.page.inner_text("#limit .command code")
    assert line.startswith("paritas limit RegionA/BkgOnly.json --patchset RegionA/patchset.json")
    names = tab.page.eval_on_selector_all(
        "#choices > label:first-child option", "all => all.map(one => one.value)"
    )
    assert names == ["RegionB/BkgOnly.json", "RegionB/patch/readme.json", "RegionA/BkgOnly.json"]
    tab.page.select_option("#choices > label:first-child select", "RegionB/patch/readme.json")
    tab.page.wait_for_selector("#limit .command code:has-text('readme.json')")


def test_a_patch_set_of_another_workspace_is_refused_in_the_programs_words(tab, tmp_path):
    patchset = support.ROOT / "examples" / "sbottom_A" / "patchset.json"
    paths = [support.ROOT / "examples" / "two_bins.json", patchset]
    tab.open()
    tab.give(paths)
    line = "paritas inspect two_bins.json --patchset patchset.json --patch-name sbottom_1000_131_1 --json"
    answer = support.native(line, paths, tmp_path)
    assert answer.returncode == 3
    assert tab.page.inner_text(".failure").strip() == answer.stderr.decode().strip()
    tab.page.click("button:text('without patchset.json')")
    tab.shown("limit")
    assert tab.page.inner_text("#limit .command code") == "paritas limit two_bins.json --json"


def test_a_link_opens_an_example_at_a_view(tab):
    page = tab.open("#example=sbottom_A&view=patches&patch=sbottom_1300_205_60")
    tab.shown("patches", "limit")
    assert "--patch-name sbottom_1300_205_60" in page.inner_text("#limit .command code")
    assert page.locator("#patches").evaluate("(one) => one === document.activeElement")
    assert "8 of 10" in page.inner_text("#patches .state")


STARTED = {"limit": ("ATLAS search", "0.2212 observed"), "losscone": ("Loss cones", "60 of 60 sweeps good")}
START_PAGE = (support.ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("fragment", re.findall(r'href="web/index.html(#[^"]*)"', START_PAGE))
def test_a_link_of_the_start_page_opens_an_example_and_computes(tab, fragment):
    view = "losscone" if "losscone" in fragment else "limit"
    title, answer = STARTED[view]
    page = tab.open(fragment)
    tab.shown(view)
    assert page.inner_text("#given").startswith(title)
    assert answer in page.inner_text(f"#{view} .headline")
    assert page.query_selector(f"#{view} .failure") is None
    assert "accelerator" not in page.inner_text("#views")


def test_toys_are_those_of_one_run_and_can_be_stopped(tab, tmp_path):
    page = tab.open("#example=two_bins&view=toys")
    tab.shown("overview", "toys")
    page.fill("#toys input >> nth=1", "300")
    page.click("#toys button:text('Draw toys')")
    page.wait_for_selector("#toys .headline")
    line = "paritas hypotest-toys two_bins.json --mu 1 --ntoys 300 --seed 0 --json"
    path = support.ROOT / "examples" / "two_bins.json"
    whole = json.loads(support.native(line, [path], tmp_path).stdout)
    merged = json.loads(tab.saved(page.query_selector("#toys .command button:text('JSON')")))
    assert merged["toys"] == 600
    for key in ("CLs_obs", "CLs_exp", "CLsb", "CLb", "q", "mu_hat"):
        assert merged[key] == whole[key], key
    rows = tab.saved(page.query_selector("#toys button:text('Rows')")).decode().splitlines()
    assert len(rows) == 601
    page.fill("#toys input >> nth=1", "100000")
    page.click("#toys button:text('Draw toys')")
    page.wait_for_selector("#toys figure")
    page.click("#toys button:text('Stop')")
    page.wait_for_selector("#toys .state:has-text('Stopped after')")


def field(tab, where, name):
    """the field of an option, which may be folded away"""
    label = tab.page.locator(f"{where} label:has(span:text-is('{name}'))").first
    if not label.is_visible():
        tab.page.click(f"{where} summary >> nth=0")
    return label.locator("input, select, textarea")


def run_command(tab, command, **options):
    """runs a command with these options; the line that is shown for it, if there is an answer"""
    page = tab.page
    page.select_option("#commands select >> nth=0", command)
    for name, value in options.items():
        field(tab, "#commands form", name.replace("_", "-")).fill(value)
    page.click("#commands button:text('Run')")
    page.wait_for_selector("#commands button:text('Run'):enabled")
    line = page.query_selector("#commands .command code")
    return line and line.inner_text()


def test_draws_from_the_posterior_have_the_native_bytes(tab, tmp_path):
    path = support.ROOT / "examples" / "two_bins.json"
    page = tab.open("#example=two_bins")
    tab.shown("sample")
    for name, value in {"chains": "3", "draws": "50", "prior": "mu=gamma:2,1.5"}.items():
        field(tab, "#sample", name).fill(value)
    page.click("#sample button:text('Draw')")
    page.wait_for_selector("#sample .headline")
    assert "did not converge" in page.inner_text("#sample .headline")
    line = "paritas sample two_bins.json --chains 3 --draws 50 --prior mu=gamma:2,1.5 --save draws.csv --json"
    assert page.inner_text("#sample .command code") == line
    assert compare(tab, "sample", [path], tmp_path) == 1
    saved = tab.saved(page.query_selector("#sample footer > button:text('draws.csv')"))
    assert saved == (tmp_path / "draws.csv").read_bytes()
    before = page.inner_html("#sample figure svg")
    page.select_option("#sample .body select", "uncorr_bkguncrt[0]")
    assert page.inner_html("#sample figure svg") != before
    field(tab, "#sample", "draws").fill("1000000")
    page.click("#sample button:text('Draw')")
    page.click("#sample button:text('Stop')")
    page.wait_for_selector("#sample .state:has-text('Stopped')")


def test_masks_and_asimov_data_reach_all_results(tab, tmp_path):
    paths = [*archive_files()]
    page = tab.open("#example=sbottom_A&patch=sbottom_1300_205_60")
    tab.shown(*VIEWS)
    field(tab, SHARED, "mask").select_option(["CRtt_meff"])
    page.wait_for_selector("#overview .command code:has-text('--mask CRtt_meff')")
    page.wait_for_selector(f"{SHARED} label")
    field(tab, SHARED, "asimov").fill("0")
    field(tab, SHARED, "asimov").press("Enter")
    page.wait_for_selector("#limit .command code:has-text('--asimov 0 --mask CRtt_meff')")
    tab.shown(*VIEWS, "patches")
    assert page.query_selector(".failure") is None
    assert sum(compare(tab, view, paths, tmp_path) for view in VIEWS if view != "explore") == 9
    line = run_command(tab, "hypotest", mu="1.5")
    assert line.endswith("--asimov 0 --mask CRtt_meff --mu 1.5 --json")
    assert compare(tab, "commands", paths, tmp_path) == 1


def test_global_impacts_are_a_choice_of_the_ranking(tab, tmp_path):
    path = support.ROOT / "examples" / "two_bins.json"
    page = tab.open("#example=two_bins")
    tab.shown("ranking")
    field(tab, "#ranking", "impacts").select_option("global")
    page.wait_for_selector("#ranking .command code:has-text('--top 15 --impacts global')")
    assert compare(tab, "ranking", [path], tmp_path) == 1
    assert "global impact" in page.text_content("#ranking figure svg")


def test_saved_toys_are_data_of_other_commands(tab, tmp_path):
    path = support.ROOT / "examples" / "two_bins.json"
    page = tab.open("#example=two_bins")
    tab.shown(*VIEWS)
    line = run_command(tab, "toys", ntoys="5", save="toys.npz")
    support.native(line, [path], tmp_path)
    saved = tab.saved(page.query_selector("#commands footer > button:text('toys.npz')"))
    assert saved == (tmp_path / "toys.npz").read_bytes()
    names = page.eval_on_selector_all("#known-files option", "all => all.map(one => one.value)")
    assert names == ["two_bins.json", "toys.npz"]
    run_command(tab, "limit", data="toys.npz")
    assert len(page.query_selector_all("#commands tbody tr")) >= 5
    assert compare(tab, "commands", [path], tmp_path) == 1
    field(tab, SHARED, "data").fill("toys.npz")
    field(tab, SHARED, "data").press("Enter")
    page.wait_for_selector("#limit .command code:has-text('--data toys.npz')")
    assert "Toy 0" in page.inner_text("#limit .note")
    tab.shown(*VIEWS)
    assert page.query_selector(".failure") is None
    assert compare(tab, "limit", [path], tmp_path) == 1


def test_a_simplified_likelihood_is_saved_and_opened(tab, tmp_path):
    path = support.ROOT / "examples" / "two_bins.json"
    page = tab.open("#example=two_bins")
    tab.shown(*VIEWS)
    line = run_command(tab, "simplify")
    assert line == "paritas simplify two_bins.json --json"
    assert compare(tab, "commands", [path], tmp_path) == 1
    page.click("#commands button:text('Open two_bins_simplify.json')")
    page.wait_for_selector("#limit .command code:has-text('two_bins_simplify.json')")
    (tmp_path / "two_bins_simplify.json").write_bytes(support.native(line, [path], tmp_path).stdout)
    assert compare(tab, "limit", [], tmp_path) == 1


def test_the_profile_of_any_parameter_is_scanned_around_its_best_value(tab, tmp_path):
    path = support.ROOT / "examples" / "two_bins.json"
    page = tab.open("#example=two_bins")
    tab.shown("scan")
    field(tab, "#scan", "points").fill("5")
    field(tab, "#scan", "points").press("Enter")
    page.select_option("#scan select[name=parameter]", "uncorr_bkguncrt[1]")
    page.wait_for_selector("#scan .command code:has-text(\"--par 'uncorr_bkguncrt[1]' --points 5 --json\")")
    assert compare(tab, "scan", [path], tmp_path) == 1
    assert len(page.query_selector_all("#scan tbody tr")) == 5 + 4  # points; crossings of two levels


def test_words_beside_the_workspace(tab, tmp_path):
    page = tab.open("#example=sbottom_A")
    tab.shown(*VIEWS)
    page.select_option("#commands select >> nth=0", "patchset")
    page.fill("#commands textarea >> nth=0", "inspect\npatchset.json")
    page.click("#commands button:text('Run')")
    page.wait_for_selector("#commands .command code:text('paritas patchset inspect patchset.json --json')")
    assert compare(tab, "commands", archive_files(), tmp_path) == 1


@pytest.mark.parametrize("command", ["compatibility", "interval", "contour", "nll", "digest", "devices"])
def test_any_command_runs_or_says_why_not(tab, command, tmp_path):
    path = support.ROOT / "examples" / "two_bins.json"
    page = tab.open("#example=two_bins")
    tab.shown(*VIEWS)
    run_command(tab, command)
    if command == "contour":
        answer = support.native("paritas contour two_bins.json --json", [path], tmp_path)
        assert page.inner_text("#commands .failure") == answer.stderr.decode().strip()
        return
    assert len(page.query_selector_all("#commands tbody tr")) >= 1
    if command in ("compatibility", "nll", "digest"):
        assert compare(tab, "commands", [path], tmp_path) == 1


def test_a_tab_closed_in_the_middle_takes_its_workers_with_it(browser):
    context = browser.new_context()
    tab = support.Watched(context)
    page = tab.open("#example=two_bins&view=toys")
    tab.shown("toys")
    page.fill("#toys input >> nth=1", "1000000")
    page.click("#toys button:text('Draw toys')")
    page.wait_for_selector("#toys figure")
    page.close()
    assert context.pages == []
    again = support.Watched(context)
    again.open("#example=two_bins")
    again.shown("limit")
    again.check()
    context.close()


def test_a_synthetic_day_gives_the_native_table(tab, tmp_path):
    page = tab.open("#example=losscone")
    tab.shown("losscone")
    assert len(page.query_selector_all("#losscone figure svg")) == 2
    made = support.native("paritas losscone synthesize -o . --sweeps 60 --json", [], tmp_path)
    assert made.returncode == 0
    line = page.inner_text("#losscone .command code >> nth=0")
    answer = support.native(line, [], tmp_path)
    assert tab.saved(page.query_selector("#losscone .command button:text('JSON')")) == answer.stdout
    for suffix in ("csv", "npz"):
        saved = tab.saved(page.query_selector(f"#losscone footer > button:text('.{suffix}')"))
        assert saved == (tmp_path / "tables" / f"losscone_1998-01-16.{suffix}").read_bytes()


def test_labels_and_names_for_those_who_do_not_see(tab):
    page = tab.open("#example=two_bins")
    tab.shown(*VIEWS)
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("input, select, button, svg, section.card")].filter(
            (one) => !(one.getAttribute("aria-label") || one.getAttribute("aria-labelledby")
                || one.labels?.length || one.textContent.trim())).map((one) => one.outerHTML.slice(0, 100))"""
    )
    assert unnamed == []
    ids = page.evaluate("() => [...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("width", [360, 800, 1600])
def test_no_width_needs_sideways_scrolling(tab, width):
    tab.page.set_viewport_size({"width": width, "height": 800})
    page = tab.open("#example=sbottom_A")
    tab.shown(*VIEWS, "patches")
    root = "document.documentElement"
    assert page.evaluate(f"() => {root}.scrollWidth - {root}.clientWidth") <= 0


def test_a_web_host_serves_the_same_page(browser):
    handler = functools.partial(Quiet, directory=support.SITE)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        context = browser.new_context()
        tab = support.Watched(context, f"http://127.0.0.1:{server.server_port}")
        tab.open("#example=sbottom_A")
        tab.shown(*VIEWS, "patches")
        tab.check()
        context.close()
        server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_the_policy_lets_nothing_out():
    html = (support.SITE / "index.html").read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html).group(1)
    assert "default-src 'none'" in policy and "connect-src" not in policy
    assert "unsafe-inline" not in policy and "'unsafe-eval'" not in policy

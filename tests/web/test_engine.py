"""The engine of the web page in Chromium: both programs, a model that stays open, messages."""

import base64
import json

import page_support as support
import pytest

pytest.importorskip("playwright.sync_api", reason="playwright: tools/setup web")
EXAMPLE = support.ROOT / "examples" / "two_bins.json"
pytestmark = [
    pytest.mark.skipif(not support.SITE.exists(), reason="no page: make web"),
    pytest.mark.skipif(support.chromium_program() is None, reason="there is no Chromium"),
    pytest.mark.skipif(not support.PROGRAM.exists(), reason="no native program to compare with"),
]

# one engine with one workspace, as `engine` and `files`
START = """async ([name, text]) => {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  window.files = { "ws.json": bytes };
  window.engine = new Engine(await Engine.compile(name));
}"""


@pytest.fixture
def start(browser):
    """a tab with an engine: start(name of its program, workspace)"""
    context = browser.new_context()
    tab = support.Watched(context)

    def started(name, path):
        page = tab.open()
        page.evaluate(START, [name, base64.b64encode(path.read_bytes()).decode()])
        return page

    yield started
    tab.check()
    context.close()


def native(words, path):
    done = support.subprocess.run([support.PROGRAM, *words], cwd=path.parent, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def command(page, words, files="files"):
    answer = page.evaluate(f"(words) => engine.command(words, {{ files: {files} }})", words)
    return answer["status"], answer["out"], answer["error"]


@pytest.mark.parametrize("name", ["relaxed", "portable"])
@pytest.mark.parametrize(
    "words",
    [
        ["fit", "--covariance"],
        ["limit"],
        ["nll", "--gradient", "--expected"],
        ["fit", "--measurement", "none"],
        ["fit", "--nonsense"],
    ],
    ids=" ".join,
)
def test_both_programs_answer_the_native_bytes(start, tmp_path, name, words):
    path = tmp_path / "ws.json"
    path.write_bytes(EXAMPLE.read_bytes())
    words = [words[0], "ws.json", *words[1:], "--json"]
    assert command(start(name, path), words) == native(words, path)


def test_software_fma_is_named(start):
    page = start("portable", EXAMPLE)
    assert "fma in software" in command(page, ["devices"])[1]


def test_yields_of_a_live_model_add_up_to_the_expected_data(start):
    page = start("relaxed", EXAMPLE)
    model = json.loads(native(["inspect", str(EXAMPLE), "--json"], EXAMPLE)[1])
    opened, expected = page.evaluate(
        """async (point) => {
          const opened = await engine.open({ workspace: "ws.json", patchFiles: [] }, files);
          return [opened, Array.from((await engine.expected(Float64Array.from(point))).expected)];
        }""",
        [one["init"] for one in model["model_parameters"]],
    )
    assert opened["status"] == 0
    answer = json.loads(native(["nll", str(EXAMPLE), "--expected", "--json"], EXAMPLE)[1])
    sums = []
    for channel in model["model_channels"]:
        bins = channel["bins"]
        rows = [expected[k * bins : (k + 1) * bins] for k in range(len(channel["samples"]))]
        expected = expected[len(rows) * bins :]
        sums += [sum(column) for column in zip(*rows)]
    assert expected == []
    assert sums == pytest.approx(answer["expected_main"], rel=1e-14)


def test_a_model_that_cannot_be_opened_says_why(start, tmp_path):
    path = tmp_path / "ws.json"
    path.write_text('{"channels": 3}')
    page = start("relaxed", path)
    answer = page.evaluate('() => engine.open({ workspace: "ws.json", patchFiles: [] }, files)')
    code, _, error = native(["fit", "ws.json"], path)
    assert (answer["status"], answer["error"]) == (code, error)


def test_two_engines_share_the_toys_of_a_run(start, tmp_path):
    page = start("relaxed", EXAMPLE)
    run = ["hypotest-toys", "ws.json", "--ntoys", "200", "--seed", "4"]
    merged = page.evaluate(
        """async (run) => {
          const other = new Engine(await Engine.compile("relaxed"));
          const parts = await Promise.all([engine, other].map((one, k) =>
            one.command([...run, "--shard", `${k + 1}/2`, "--store", `part${k + 1}`], { files })));
          const stores = Object.assign({}, ...parts.map((part) => part.files));
          return engine.command(["merge", "part1", "part2", "-o", "all", "--json"], { files: stores });
        }""",
        run,
    )
    words = ["hypotest-toys", str(EXAMPLE), *run[2:], "--json"]
    whole, pooled = json.loads(native(words, EXAMPLE)[1]), json.loads(merged["out"])
    assert pooled["toys"] == 400
    for key in ("CLs_obs", "CLsb", "CLb", "CLs_exp"):
        assert pooled[key] == whole[key], key

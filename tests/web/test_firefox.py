"""The web page in Firefox: the bytes of the native program."""

import marionette
import page_support as support
import pytest

pytest.importorskip("playwright", reason="the environment of the web page: tools/setup web")
pytestmark = [
    pytest.mark.skipif(not support.SITE.exists(), reason="no page: make web"),
    pytest.mark.skipif(marionette.firefox_program() is None, reason="there is no Firefox"),
    pytest.mark.skipif(not support.SHARED.exists(), reason="no ../shared/workspaces"),
]


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    browser = marionette.Firefox(marionette.firefox_program(), tmp_path_factory.mktemp("firefox"))
    yield browser
    browser.close()


@pytest.mark.parametrize("name", support.ANALYSES)
def test_results_have_the_native_bytes(firefox, name, tmp_path):
    paths = support.analysis(name)
    firefox.open("about:blank")
    firefox.open(support.ADDRESS)
    firefox.give("#files", paths)
    views = ["overview", "limit", "fit", "ranking", "scan", "yields", "tests"]
    if name == "sbottom":
        views.append("patches")
    for view in views:
        firefox.wait(f"document.querySelector('#{view}[data-shown]')")
    rows = "document.querySelectorAll('.command')"
    n = firefox.run(f"return {rows}.length;")
    assert n >= 3
    for k in range(n):
        line = firefox.run(f"return {rows}[{k}].querySelector('code').textContent;")
        button = f"{rows}[{k}].querySelectorAll('button')[1]"
        label = firefox.run(f"return {button}.getAttribute('aria-label');")
        firefox.run(f"{button}.click();")
        saved = firefox.downloaded(label.removeprefix("Download "))
        assert saved == support.native(line, paths, tmp_path).stdout, line

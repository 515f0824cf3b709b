"""The widgets in the colours of every host, and foreign text in them, in a headless Chromium (U3, U4)."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from jobconsole.core.vocabulary import Phase
from jobconsole.notebook.items import Items
from jobconsole.notebook.pages import Pages
from tests.cases.case_file import case
from tests.core.sample_facts import operation
from tests.notebook.page import NOW, Paper, asking, picture, table

pytestmark = pytest.mark.browser


@pytest.mark.rule("U3")
@pytest.mark.parametrize("text", [*case("NB-04").input["texts"], "</style><b>x"])
def test_foreign_text_is_literal_in_every_widget(page: Page, text: str) -> None:
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog: {dialog.message}"))
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    op = asking(name=text, last_known_state=text, task=text, provider_job_id=text, observed_at=NOW)
    pictured = picture(op)
    whole = {**Pages().full(pictured, NOW), **Items().full(pictured, NOW), "watched": 1, "audit": [[0, text, text]]}
    paper = Paper(page, "dashboard", NOW, **whole, detail=None)
    for name in ("Operations", "Inbox", "Timeline", "Audit"):
        paper.root.get_by_role("tab", name=name).click()
        assert text in paper.root.inner_text()
    assert page.locator("img, marquee, script, a[href^=javascript]").count() == 0
    assert [url for url in requests if not url.startswith(("about:", "blob:", "data:"))] == []


HOSTS = {
    "nothing but a light system": ("light", ""),
    "nothing but a dark system": ("dark", ""),
    "JupyterLab light": ("light", "--jp-layout-color0: white; --jp-ui-font-color0: rgba(0, 0, 0, 1)"),
    "JupyterLab dark": ("light", "--jp-layout-color0: #111111; --jp-ui-font-color0: rgba(255, 255, 255, 1)"),
    "VS Code dark": ("light", "--vscode-editor-background: #1e1e1e; --vscode-editor-foreground: #d4d4d4"),
    "VS Code light": ("dark", "--vscode-editor-background: #ffffff; --vscode-editor-foreground: #3b3b3b"),
    "VS Code high contrast light": ("dark", "--vscode-editor-background: #ffffff; --vscode-editor-foreground: #292929"),
    "VS Code high contrast": ("dark", "--vscode-editor-background: #000000; --vscode-editor-foreground: #ffffff"),
    "VS Code solarised": ("light", "--vscode-editor-background: #fdf6e3; --vscode-editor-foreground: #657b83"),
    "a dark editor with a white plate": ("dark", "background: white; --vscode-editor-background: #252526"),
}
READABLE = """
root => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const painted = (colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => part / 255);
  };
  const light = (parts) => parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (node) => {
    const found = [];
    for (let each = node; each !== root.parentElement; each = each.parentElement) {
      found.unshift(getComputedStyle(each).backgroundColor);
    }
    return found;
  };
  const unreadable = [];
  for (const node of root.querySelectorAll("*")) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    if (!own || !node.checkVisibility() || node.closest(".jc-hidden")) continue;
    const under = behind(node);
    const pair = [light(painted([...under, getComputedStyle(node).color])), light(painted(under))];
    const [one, other] = pair.sort((a, b) => b - a);
    const contrast = (one + 0.05) / (other + 0.05);
    if (contrast < 4.5) unreadable.push(`${node.className} ${node.textContent.slice(0, 20)}: ${contrast.toFixed(2)}`);
  }
  return unreadable;
}
"""


@pytest.mark.rule("U4")
@pytest.mark.parametrize("host", HOSTS)
def test_every_text_can_be_read_in_every_host(page: Page, host: str) -> None:
    """Case NB-06: contrast of at least 4.5 to 1, state by word too."""
    scheme, style = HOSTS[host]
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    ended = [operation(operation_id=f"op-{phase}", phase=phase, ended_at=NOW) for phase in Phase if phase.is_terminal]
    pictured = picture(asking(operation_id="asks"), operation(operation_id="waits", progress_share=0.4), *ended)
    whole = {**Pages().full(pictured, NOW), **Items().full(pictured, NOW), "watched": 1, "audit": [[0, "op", "polled"]]}
    paper = Paper(page, "dashboard", NOW, **whole, detail=None)
    page.evaluate("style => { document.body.style.cssText = style; }", style)
    paper.go(1)
    for name in ("Operations", "Inbox", "Timeline", "Audit"):
        paper.root.get_by_role("tab", name=name).click()
        assert paper.root.evaluate(READABLE) == []


def test_a_chosen_theme_rules_over_the_host(page: Page) -> None:
    paper = table(page, operation(), theme="jobconsole-dark")
    expect(paper.root).to_have_css("background-color", "rgb(8, 11, 15)")
    assert paper.root.evaluate(READABLE) == []

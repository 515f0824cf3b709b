"""The still picture: what a forge, an export or a file viewer shows. Foreign text is literal in it (U3, NB-01, NB-04)."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from msgspec.structs import replace

from jobconsole.core.operation import Escalation, ProviderError
from jobconsole.core.telling.outcome import outcome
from jobconsole.core.vocabulary import Phase, Reason
from jobconsole.notebook.live import text_of
from jobconsole.notebook.still import literal, marked, operation_still, operations_still, outcome_still
from tests.cases.case_file import case
from tests.core.sample_facts import START, at, operation

NOW = at(600)


class Reader(HTMLParser):
    """The tags and the text of a page, as a browser would read them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the tag."""
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        """Note the text."""
        self.text += data


OURS = {"table", "thead", "tbody", "tr", "th", "td", "bdi", "p", "small", "span", "ul", "li", "b", "div"}


@pytest.mark.rule("U3")
@pytest.mark.parametrize("text", case("NB-04").input["texts"])
def test_foreign_text_is_literal_in_every_place(text: str) -> None:
    op = operation(name=text, provider="acme", last_known_state=text, observed_at=NOW, error=ProviderError(text=text))
    ended = replace(op, phase=Phase.FAILED, ended_at=NOW)
    for picture in (
        operation_still(op, NOW, [text]),
        operations_still([op, op], NOW, empty=text),
        outcome_still(outcome(ended)),
    ):
        read = Reader(picture.html)
        assert text in read.text
        assert read.tags <= OURS
        assert read.attributes <= {"style", "scope"}


@pytest.mark.rule("U3")
def test_a_formula_has_no_beginning_that_a_host_could_see() -> None:
    """Mathematics is looked for within one text node: each sign that may begin it stands alone."""
    assert literal(r"$\LaTeX$ \(x\)") == "<span>$</span><span>\\</span>LaTeX<span>$</span> <span>\\</span>(x<span>\\</span>)"


@pytest.mark.rule("U3")
def test_direction_and_control_characters_are_made_visible() -> None:
    shown = operations_still([operation(name="\u202egnp.exe\x1b[2J")], NOW, empty="")
    for text in (shown.html, shown.text):
        assert "\u202e" not in text
        assert "\x1b" not in text
        assert "u202e" in text


def test_a_saved_state_cannot_end_a_script_element() -> None:
    assert "<" not in text_of({"name": "</script><script>alert(1)</script>"})


def test_a_picture_says_of_when_it_is() -> None:
    shown = operations_still([operation()], NOW, empty="")
    assert "as of 10:10:00 UTC, 2026-11-29" in Reader(shown.html).text
    assert shown.text.endswith("as of 10:10:00 UTC, 2026-11-29")


def test_the_first_twenty_are_shown_and_the_rest_counted() -> None:
    shown = operations_still([operation(operation_id=f"op-{n}") for n in range(1_224)], NOW, empty="")
    assert "+ 1,204 more" in shown.text
    assert shown.html.count("<tr>") == 21


def test_nothing_to_show_says_what_to_do() -> None:
    shown = operations_still([], NOW, empty="No operations yet. Try: x")
    assert "Try: x" in shown.html
    assert "Try: x" in shown.text


def test_the_text_is_a_table_that_can_be_read() -> None:
    asked = Escalation(reason=Reason.REQUEST_BUDGET_EXHAUSTED, since=START)
    shown = operation_still(operation(name="Q3 report", phase=Phase.ESCALATED, escalation=asked), NOW)
    head, first, *_ = shown.text.splitlines()
    assert head.split()[:3] == ["State", "Operation", "Provider"]
    assert first.startswith("⚑ escalated")
    assert "every status request that was allowed is used" in shown.text


def test_a_live_widget_finds_its_picture_by_id() -> None:
    assert marked("<p>x</p>", "jobconsole-1").startswith('<div id="jobconsole-1"><p>x</p>')
    assert "Run this cell again" in marked("<p>x</p>", "jobconsole-1")


def test_a_picture_alone_tells_job_state_and_moment() -> None:
    """Case NB-01, steps (b), (c) and (d): no kernel, no script."""
    shown = operations_still([operation(operation_id="job-1", last_known_state="running", observed_at=NOW)], NOW, empty="")
    for text in (Reader(shown.html).text, shown.text):
        assert "job-1" in text
        assert "waiting" in text
        assert "as of" in text

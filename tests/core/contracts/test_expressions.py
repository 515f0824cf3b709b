"""Expressions of a contract: what is refused because JMESPath reads it in another way than people do."""

from __future__ import annotations

from typing import Any

import pytest

from jobconsole.core.contracts import expressions
from jobconsole.core.contracts.expressions import ANSWER_ROOTS, RULE_ROOTS, ExpressionRefused, NumberAsTruth

ENVELOPE: dict[str, Any] = {
    "http_status": 200,
    "headers": {"retry-after": "30"},
    "body": {"status": "done", "zero": 0, "none": None, "items": [{"code": "A", "n": 1}, {"code": "B", "n": 2}], "text": "x"},
}


@pytest.mark.rule("C2")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("body.status", "done"),
        ('headers."retry-after"', "30"),
        ("body.missing.deeper", None),
        ("join('/', [body.status, body.none || 'none'])", "done/none"),
        ("join('/', [body.none, 'x'])", None),  # fails on this answer: null
        ("body.items[?code == 'B'].n | [0]", 2),
        ("map(&code, body.items)", ["A", "B"]),
        ("body.items[].[code, n]", [["A", 1], ["B", 2]]),
        ("{a: body.status}", {"a": "done"}),
        ("to_number('nan')", None),
        ("length(body.zero)", None),  # a wrong type is null, no error
        ("body.items[-1].code", "B"),
        ("body | status", "done"),
        ("max_by(body.items, &n).code", "B"),
    ],
)
def test_an_expression_finds_a_value_or_null(text: str, value: Any) -> None:
    found = expressions.compile(text, roots=ANSWER_ROOTS).search(ENVELOPE)
    assert found == value or found != found  # nan is left to the numbers' own check


@pytest.mark.parametrize(
    ("text", "problem", "mend"),
    [
        ("status == 'x'", "begins with 'status'", "body.status"),
        ("bdy.status", "begins with 'bdy'", "did you mean body?"),
        ("class == 'failed'", "begins with 'class'", "paths begin with one of body, headers, http_status"),
        ('body.status == "done"', '"done" in double quotes names a field', "'done'"),
        ('body.items[?code == "A"]', '"A" in double quotes names a field', "'A'"),
        ("body.done == true", "bare true", "`true`"),
        ("body.done == false", "bare false", "`false`"),
        ("body.url != null", "bare null", "`null`"),
        ("!body.done", "reads !a.b as (!a).b", "!(a.b)"),
        ("body.items[?!a.b]", "reads !a.b as (!a).b", "!(a.b)"),
        ("!http_status == `200`", "reads !a == b as (!a) == b", "!(a == b)"),
        ("body.count > '3'", "for numbers only", "=="),
        ("to_string(body.count) >= `3`", "for numbers only", "=="),
        ("body.x == `done`", "is no JSON", "'done'"),
        ("lenght(body.items)", "no function lenght()", "did you mean length()?"),
        ("length(body.a, body.b)", "given 2 arguments", "it takes 1"),
        ("@", "the whole answer", "begin it with one of"),
        ("*.status", "the whole answer", "begin it with one of"),
        ("[0]", "the whole answer", "begin it with one of"),
        ("{a: body.x, b: state}", "begins with 'state'", "body.state"),
        ("body.", "does not compile", "jmespath.org"),
        ("", "does not compile", "jmespath.org"),
        ("body.x = 'a'", "does not compile", "jmespath.org"),
        ("(" * 1_900 + "body" + ")" * 1_900, "nested too deeply", "fewer brackets"),
        ("body." + "a" * 5_000, "5005 characters", "below 4000"),
    ],
)
def test_what_would_mean_something_else_is_refused_with_its_mend(text: str, problem: str, mend: str) -> None:
    with pytest.raises(ExpressionRefused) as refused:
        expressions.compile(text, roots=ANSWER_ROOTS)
    assert problem in refused.value.problem
    assert mend in refused.value.mend


@pytest.mark.parametrize(
    "text", ["body.true_count", '"body"."true"', 'body.items[?code == `"A"`]', "!(body.done)", "!(body.a == 'b')"]
)
def test_what_only_looks_alike_is_accepted(text: str) -> None:
    assert expressions.compile(text, roots=ANSWER_ROOTS).source == text


def test_a_rule_sees_the_class() -> None:
    condition = expressions.compile("class == 'succeeded' && body.text", roots=RULE_ROOTS)
    assert expressions.holds(condition, {**ENVELOPE, "class": "succeeded"})
    assert not expressions.holds(condition, {**ENVELOPE, "class": None})


@pytest.mark.parametrize(
    "text", ["length(body.items)", "body.text && length(body.items)", "!(sum(body.n))", "`3`", "http_status"]
)
def test_a_condition_that_must_be_a_number_is_refused_when_loaded(text: str) -> None:
    with pytest.raises(ExpressionRefused, match="number as a condition"):
        expressions.compile_condition(text)


@pytest.mark.parametrize(
    "text", ["body.zero", "body.text && body.zero", "body.zero && body.text", "!(body.zero)", "body.none || body.zero"]
)
def test_a_condition_that_comes_out_as_a_number_is_neither_true_nor_false(text: str) -> None:
    """0 is true in JMESPath: `body.failed` with no failures would be taken for a failure."""
    with pytest.raises(NumberAsTruth):
        expressions.holds(expressions.compile_condition(text), ENVELOPE)


@pytest.mark.parametrize(
    ("text", "is_true"),
    [
        ("body.zero > `0`", False),
        ("body.text", True),
        ("body.none", False),
        ("body.items[?n > `1`]", True),
        ("body.items[?n > `9`]", False),
        ("body.missing > `0`", False),
        ("starts_with(body.none, 'A')", False),  # fails: false
        ("!(body.none)", True),
        ("body.zero == `0` && body.status == 'done'", True),
    ],
)
def test_a_condition_has_the_truth_of_jmespath(text: str, is_true: bool) -> None:
    assert expressions.holds(expressions.compile_condition(text), ENVELOPE) is is_true

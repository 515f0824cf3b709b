"""JMESPath expressions of a contract: compiled once, refused where they cannot mean what their writer meant.

Only this file knows JMESPath. `contract_file.py` compiles by it when a contract is loaded, `observation.py` searches with what
came out. What a reader of a contract would take one way and JMESPath takes another way is refused with its mend (CONTRACT.md,
"Refused when loaded"). Most of it shows in the syntax tree, some of it on the token stream only.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from jmespath import functions, lexer, parser, visitor
from jmespath.exceptions import JMESPathError

ANSWER_ROOTS = frozenset({"http_status", "headers", "body"})
RULE_ROOTS = ANSWER_ROOTS | {"class"}

_LONGEST = 4_000  # characters of one expression
_QUOTED = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`((?:\\.|[^`\\])*)`", re.DOTALL)
_COMPARATORS = frozenset({"eq", "ne", "lt", "lte", "gt", "gte"})
_ORDERS = frozenset({"lt", "lte", "gt", "gte"})
_TEXT_FUNCTIONS = frozenset({"join", "to_string", "type"})
_NUMBER_FUNCTIONS = frozenset({"abs", "avg", "ceil", "floor", "length", "sum", "to_number"})
_FUNCTIONS: Mapping[str, Any] = functions.Functions.FUNCTION_TABLE
_PATH_STEPS = frozenset({"subexpression", "index_expression", "projection", "value_projection", "filter_projection", "flatten"})


class ExpressionRefused(ValueError):
    """An expression that does not compile, or that does not mean what it seems to. `mend` says what to write."""

    def __init__(self, problem: str, mend: str) -> None:
        self.problem, self.mend = problem, mend
        super().__init__(f"{problem}; {mend}")


class NumberAsTruth(Exception):
    """A condition came out as a number: 0 is true in JMESPath, so neither answer can be trusted (CONTRACT.md)."""


@dataclass(frozen=True, slots=True)
class CompiledExpression:
    """An `Expression` of `contract.py`: searched in an envelope, and None wherever that fails."""

    source: str
    tree: Any = field(compare=False, repr=False)

    def search(self, envelope: Mapping[str, Any]) -> Any:
        """The value found. A wrong type, an unknown function argument or too deep an answer is None, never an error."""
        try:
            return _INTERPRETER.visit(self.tree, envelope)
        except (JMESPathError, ArithmeticError, TypeError, ValueError, LookupError, AttributeError, RecursionError):
            return None


def compile(text: str, *, roots: Collection[str]) -> CompiledExpression:
    """The expression that `text` holds; its paths may begin with `roots` only.

    Raises `ExpressionRefused` with problem and mend.
    """
    if len(text) > _LONGEST:
        raise ExpressionRefused(f"the expression has {len(text)} characters", f"keep it below {_LONGEST}")
    try:
        _check_literals(text)
        _check_tokens(lexer.Lexer().tokenize(text))
        tree = parser.Parser().parse(text).parsed
        _check_node(tree, frozenset(roots))
    except ExpressionRefused:
        raise
    except RecursionError:
        raise ExpressionRefused("the expression is nested too deeply", "write it in fewer brackets") from None
    except (JMESPathError, ValueError) as error:
        raise ExpressionRefused(f"does not compile: {_one_line(error)}", "see jmespath.org for the syntax") from None
    return CompiledExpression(text, tree)


def compile_condition(text: str) -> CompiledExpression:
    """The `when` of a rule: as `compile`, sees `class` too, and can be seen to be no number.

    Raises `ExpressionRefused`.
    """
    compiled = compile(text, roots=RULE_ROOTS)
    for operand in _operands(compiled.tree):
        if _is_number_node(operand):
            raise ExpressionRefused("a number as a condition is always true, 0 too", "compare it: > `0`")
    return compiled


def holds(condition: Any, envelope: Mapping[str, Any]) -> bool:
    """Whether a rule's `when` is true for `envelope` (with `class` in it): JMESPath truth, what fails is false.

    Raises `NumberAsTruth` where it, or an operand of its `&&` or `!`, comes out as a number.
    """
    try:
        value = _CONDITIONS.visit(condition.tree, envelope)
    except (JMESPathError, ArithmeticError, TypeError, ValueError, LookupError, AttributeError, RecursionError):
        return False
    if _is_number(value):
        raise NumberAsTruth(condition.source)
    return _is_true(value)


class _ConditionInterpreter(visitor.TreeInterpreter):
    """Lets a number that stands where truth is asked for come out as that number, so that `holds` can refuse it."""

    def visit_and_expression(self, node: Mapping[str, Any], value: Any) -> Any:
        left = self.visit(node["children"][0], value)
        return left if _is_number(left) or not _is_true(left) else self.visit(node["children"][1], value)

    def visit_not_expression(self, node: Mapping[str, Any], value: Any) -> Any:
        inner = self.visit(node["children"][0], value)
        return inner if _is_number(inner) else not _is_true(inner)


_INTERPRETER = visitor.TreeInterpreter()
_CONDITIONS = _ConditionInterpreter()


def _is_true(value: Any) -> bool:
    return value is not None and value is not False and value not in ("", [], {})


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]


def _check_literals(text: str) -> None:
    """Refuse `done` in backticks: only JSON stands there. The lexer lets it pass with a warning."""
    for match in _QUOTED.finditer(text):
        if match[1] is not None:
            try:
                json.loads(match[1].replace("\\`", "`"))
            except ValueError:
                raise ExpressionRefused(f"`{match[1]}` in backticks is no JSON", f"write '{match[1]}' for the text") from None


def _check_tokens(tokens: Iterable[Mapping[str, Any]]) -> None:
    before = ""
    for token in tokens:
        kind, value = token["type"], token["value"]
        if kind == "unquoted_identifier" and value in ("true", "false", "null"):
            raise ExpressionRefused(
                f"bare {value} is a field of that name", f'write `{value}` in backticks, or "{value}" for the field'
            )
        if kind == "quoted_identifier" and before in _COMPARATORS:
            raise ExpressionRefused(f'"{value}" in double quotes names a field', f"write '{value}' for the text")
        before = kind


def _check_node(node: Mapping[str, Any], roots: frozenset[str] | None) -> None:
    """Check `node` and all below it. `roots` is None inside a scope of its own, where any field may stand."""
    kind, children = node["type"], node.get("children", [])
    _check_beginning(node, roots)
    _check_negation(node)
    if kind == "comparator" and node["value"] in _ORDERS and any(_is_not_orderable(child) for child in children):
        raise ExpressionRefused("an order (<, >) is for numbers only", "compare texts with == or contains()")
    if kind == "function_expression":
        _check_function(node)
    if kind == "slice":  # its children are numbers
        return
    for place, child in enumerate(children):
        is_own_scope = kind == "expref" or (place > 0 and (kind in _PATH_STEPS or kind == "pipe"))
        _check_node(child, None if is_own_scope else roots)


def _check_beginning(node: Mapping[str, Any], roots: frozenset[str] | None) -> None:
    kind = node["type"]
    if roots is None or kind not in ("field", "current", "identity"):
        return
    allowed = ", ".join(sorted(roots))
    if kind != "field":
        raise ExpressionRefused("a path begins with the whole answer", f"begin it with one of {allowed}")
    name = node["value"]
    if name not in roots:
        near = difflib.get_close_matches(name, roots, n=1, cutoff=0.8)
        mend = f"did you mean {near[0]}?" if near else f"write body.{name}; paths begin with one of {allowed}"
        raise ExpressionRefused(f"the path begins with {name!r}", mend)


def _check_negation(node: Mapping[str, Any]) -> None:
    kind, children = node["type"], node.get("children", [])
    if kind in _PATH_STEPS and children and children[0]["type"] == "not_expression":
        raise ExpressionRefused("JMESPath reads !a.b as (!a).b", "write !(a.b)")
    if kind == "comparator" and any(child["type"] == "not_expression" for child in children):
        raise ExpressionRefused("JMESPath reads !a == b as (!a) == b", "write !(a == b), or a != b")


def _check_function(node: Mapping[str, Any]) -> None:
    name = node["value"]
    known = _FUNCTIONS.get(name)
    if known is None:
        near = difflib.get_close_matches(name, _FUNCTIONS, n=1)
        raise ExpressionRefused(f"there is no function {name}()", f"did you mean {near[0]}()?" if near else "see jmespath.org")
    signature, given = known["signature"], len(node["children"])
    is_variadic = bool(signature) and bool(signature[-1].get("variadic"))
    if given < len(signature) or (given > len(signature) and not is_variadic):
        raise ExpressionRefused(f"{name}() was given {given} arguments", f"it takes {len(signature)}")


def _is_not_orderable(node: Mapping[str, Any]) -> bool:
    if node["type"] == "literal":
        return not _is_number(node["value"])
    return node["type"] == "function_expression" and node["value"] in _TEXT_FUNCTIONS


def _operands(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The parts of a condition whose truth is asked for: itself, and what its `&&`, `||` and `!` join."""
    if node["type"] in ("and_expression", "or_expression", "not_expression"):
        for child in node["children"]:
            yield from _operands(child)
    else:
        yield node


def _is_number_node(node: Mapping[str, Any]) -> bool:
    if node["type"] == "literal":
        return _is_number(node["value"])
    if node["type"] == "field":
        return bool(node["value"] == "http_status")
    return node["type"] == "function_expression" and node["value"] in _NUMBER_FUNCTIONS

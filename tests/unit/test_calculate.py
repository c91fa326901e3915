"""`calculate`: exact, bilingual, bounded."""

from __future__ import annotations

import random
from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.keys import Actor, Thread
from tools import ModelRetry, ToolContext, ToolFailed
from tools.builtin.arithmetic import CannotRead, evaluate
from tools.builtin.calculate import calculate
from tools.builtin.numbers import CannotCalculate
from tools.engine import execute
from tools.result import ErrorCode, Suggestion

CONTEXT = ToolContext(Actor(team_id="T1", user_id="U1"), Thread(team_id="T1", channel_id="C1"), "UTC", "run", "call")

EXACT = {
    "0.1 + 0.2": "0.3",
    "1/3*3": "1",
    "15*7": "105",
    "2 + 3 * 4": "14",
    "(2 + 3) * 4": "20",
    "-2**2": "-4",
    "2**3**2": "512",
    "2^10": "1024",
    "2**-1": "0.5",
    "7 // 2": "3",
    "-7 // 2": "-4",
    "-7 mod 3": "2",
    "10 % 3": "1",
    "10%3": "1",
    "10 % -3": "-2",
    "10 % (2+1)": "1",
    "15% of 80": "12",
    "15%": "0.15",
    "80 * 15%": "12",
    "5% + 10%": "0.15",
    "1 - 15%": "0.85",
    "100 * (1 + 8%)": "108",
    "1,234.5 * 2": "2469",
    "1,234,567 - 7": "1234560",
    "max(1,234)": "234",
    "max((1,234), 5)": "1234",
    "round(2.5)": "3",
    "round(-2.5)": "-3",
    "round(1234.567, 2)": "1234.57",
    "round(1234.567, -2)": "1200",
    "sqrt(16)": "4",
    "sqrt(0.25)": "0.5",
    "4**0.5": "2",
    "log(8, 2)": "3",
    "log10(0.001)": "-3",
    "log2(1024)": "10",
    "5!": "120",
    "sum(1, 2, 3.5)": "6.5",
    "mean(1, 2)": "1.5",
    "min(3, -1)": "-1",
    "abs(-3)": "3",
    "floor(-1.5)": "-2",
    "ceil(1.2)": "2",
    "pow(2, 5)": "32",
    "exp(0)": "1",
    "cos(0)": "1",
    "1 + 1 =": "2",
    "1+1=?": "2",
    ".5 + 1.": "1.5",
    "1.5e3": "1500",
    "3 x 4": "12",
    "3x4": "12",
    "12345678901234567890 * 2.5": "30864197253086419725",
    "１＋２": "3",
    "（３×４）÷５": "2.4",
    "１，２３４ − ３４": "1200",
    "3²＋4²": "25",
    "80的15%": "12",
    "12加3乘以2": "18",
    "100除以8": "12.5",
    "10 减 4": "6",
    "2**1000": str(2**1000),
    "0**0": "1",
    "(-1)**1000000007": "-1",
}

ROUNDED = {
    "7/3": "2.33333333333333",
    "sqrt(2)": "1.4142135623731",
    "2**0.5": "1.4142135623731",
    "8**(1/3)": "2",
    "pi": "3.14159265358979",
    "sin(pi)": "0",
    "sin(pi/6)": "0.5",
    "cos(pi)": "-1",
    "ln(e)": "1",
    "exp(1)": "2.71828182845905",
    "degrees(pi)": "180",
    "(1 + 0.035/12)**360": "2.85328716519575",
    "1000 * 1.05**30": "4321.94237515066",
    "0.5**3000": "8.12854862555774E-904",
    "1e30/7": "1.42857142857143E+29",
}

UNREADABLE = {
    "": "expected a number, found the end",
    "()": r"expected a number, found '\)' at character 2",
    "1 2": "unexpected '2' at character 3; is an operator missing",
    "2(3)": "is an operator missing",
    "1 +": "expected a number, found the end",
    "(1": r"expected '\)', found the end",
    "1)": "unexpected",
    "1,23": "unexpected ','",
    "$5": r"'\$' at character 1 is not part of an expression",
    "3½": "'½' at character 2",
    "x + 1": r"expected a number|unknown",
    "foo(1)": "'foo' at character 1 is unknown; the functions are sqrt",
    "__import__('os')": "unknown",
    "sqrt(1,234)": "sqrt takes one number, not 2; inside a function write numbers without thousands separators",
    "sqrt()": "sqrt takes one number, not 0",
    "sqrt 4": r"expected '\('",
    "200 + 10%": r"write 200 \* \(1 \+ 10%\)",
    "200 - 10%": "can mean two things",
    "1e5000": "too large or too small",
    "1" * 1001: "at most 1,000",
    "(" * 400 + "1" + ")" * 400: "nested more than 40",
    "-" * 900 + "1": "nested more than 40",
    "2" + "**2" * 300: "nested more than 40",
    "sqrt(" * 150 + "2" + ")" * 150: "nested more than 40",
}

IMPOSSIBLE = {
    "1/0": "division by zero",
    "1 // (2-2)": "division by zero",
    "5 mod 0": "division by zero",
    "0**-1": "division by zero",
    "10**10**10": "too large",
    "9**9**9": "too large",
    "9**9**9**9": "too large",
    "10**-10**10": "too small",
    "1e800*1e800": "too large",
    "451!": "too large",
    "99999999999!": "too large",
    "2.5!": "whole number",
    "((9!)!)!": "too large",
    "exp(100000)": "too large",
    "1.0000001**99999999999999": "too large",
    "sqrt(-1)": "no real square root",
    "(-8)**(1/3)": "no real power",
    "ln(0)": "a positive number",
    "log(2, 1)": "a positive base other than 1",
    "acos(2)": "outside the range",
    "tan(pi/2)": "not defined",
    "sin(1e30)": "too large to be accurate",
    "round(1, 0.5)": "whole number of places",
    "round(1, 99999)": "whole number of places",
}


@pytest.mark.parametrize(("expression", "result"), EXACT.items())
def test_what_has_an_exact_value_is_exact(expression: str, result: str) -> None:
    value = evaluate(expression)

    assert (str(value), value.shown_exactly) == (result, True)


@pytest.mark.parametrize(("expression", "result"), ROUNDED.items())
def test_what_has_none_is_rounded_to_15_digits_and_says_so(expression: str, result: str) -> None:
    value = evaluate(expression)

    assert (str(value), value.shown_exactly) == (result, False)


@pytest.mark.parametrize(("expression", "reason"), UNREADABLE.items())
async def test_what_is_no_expression_goes_back_to_the_model_with_the_place(expression: str, reason: str) -> None:
    with pytest.raises(ModelRetry, match=reason):
        await calculate(expression)


@pytest.mark.parametrize(("expression", "reason"), IMPOSSIBLE.items())
async def test_what_has_no_value_is_said_to_have_none(expression: str, reason: str) -> None:
    with pytest.raises(ToolFailed, match=reason):
        await calculate(expression)


async def test_the_engine_gives_the_model_the_digits_as_text() -> None:
    result = await execute(calculate, {"expression": " 0.1 + 0.2 "}, CONTEXT)

    assert result.data == {"expression": "0.1 + 0.2", "result": "0.3", "exact": True}


async def test_refusals_tell_the_model_what_to_do() -> None:
    large = await execute(calculate, {"expression": "9**9**9"}, CONTEXT)
    zero = await execute(calculate, {"expression": "1/0"}, CONTEXT)
    wrong = await execute(calculate, {"expression": "1 +"}, CONTEXT)

    assert (large.error_code, large.suggestion) == (ErrorCode.TOO_LARGE, Suggestion.GIVE_UP)
    assert (zero.error_code, zero.suggestion) == (ErrorCode.REFUSED, Suggestion.GIVE_UP)
    assert (wrong.error_code, wrong.suggestion) == (ErrorCode.INVALID_ARGUMENTS, Suggestion.FIX_ARGUMENTS)


PIECES = ["1", "2.5", "1,234", "9", "0", "１", " ", "+", "-", "*", "/", "//", "%", "**", "^", "!", "(", ")", ",", "（", "×", "的", "除以"]
PIECES += ["sqrt(", "log(", "exp(", "factorial(", "round(", "max(", "pi", "e", "of", "sin(", "pow(", "1e300", "²", "x", "9**9**9", "10**10**10"]


@settings(deadline=timedelta(seconds=5))  # a bound on every example, far above what one takes
@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join) | st.text(max_size=200))
def test_any_text_ends_in_a_value_or_a_reason(expression: str) -> None:
    try:
        text = str(evaluate(expression))
        assert Fraction(text) is not None
    except (CannotRead, CannotCalculate) as reason:
        text = str(reason)
    assert 0 < len(text) <= 1010


def written(draw: random.Random, depth: int) -> tuple[str, Fraction]:
    """A random expression with its value worked out by other means."""
    if depth == 0 or draw.random() < 0.2:
        cents = draw.randint(0, 99_999)
        return f"{cents / 100:.2f}", Fraction(cents, 100)
    (left, a), (right, b) = written(draw, depth - 1), written(draw, depth - 1)
    match draw.choice("+-*/"):
        case "+":
            return f"({left} + {right})", a + b
        case "-":
            return f"({left}-{right})", a - b
        case "*":
            return f"（{left} × {right}）", a * b
        case _:
            return (f"({left} / {right})", a / b) if b else (left, a)


@settings(deadline=None)
@given(st.integers())
def test_sums_products_and_quotients_agree_with_fractions(seed: int) -> None:
    text, expected = written(random.Random(seed), 4)

    assert evaluate(text).value == expected


@settings(deadline=None)
@given(st.integers(-(10**18), 10**18), st.integers(0, 60))
def test_powers_agree_with_python(base: int, exponent: int) -> None:
    if len(str(base**exponent)) <= 1000 and (base.bit_length() * exponent) < 4096:
        assert str(evaluate(f"({base})**{exponent}")) == str(base**exponent)

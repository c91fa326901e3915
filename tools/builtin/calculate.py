"""`calculate`: arithmetic the model should not do in its head."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from tools.builtin.arithmetic import CannotRead, evaluate
from tools.builtin.numbers import CannotCalculate
from tools.builtin.tokens import MAX_LENGTH
from tools.decorator import tool
from tools.result import ErrorCode, Suggestion
from tools.tool import ModelRetry, ToolFailed


class Calculation(BaseModel):
    """The value of an expression, as text so that no digit is lost on the way."""

    expression: str
    result: str
    exact: bool
    """False when `result` was rounded to 15 significant digits."""


@tool(effect="read", group="everyday", timeout=5, always=True, trusted=True, aliases=("calculator",), title="Calculate")
async def calculate(
    expression: Annotated[str, Field(description='The arithmetic to do, e.g. "(1,234.5 + 80) * 15%" or "sqrt(2) ** 3"', min_length=1, max_length=MAX_LENGTH)],
) -> Calculation:
    """Work out an arithmetic expression exactly and return its value.

    Use it for every calculation, however simple. Knows + - * / // % ** ! and parentheses, percentages ("15% of 80"), pi and e, and
    sqrt, abs, round (halves away from zero), floor, ceil, min, max, sum, mean, pow, exp, ln, log, log10, log2, factorial, sin, cos,
    tan (radians). Not for equations with unknowns, dates, units or currencies.
    """
    try:
        value = evaluate(expression)
    except CannotRead as error:
        raise ModelRetry(f"This is not an expression calculate can read: {error}.") from error
    except CannotCalculate as error:
        code = ErrorCode.TOO_LARGE if error.too_large else ErrorCode.REFUSED
        raise ToolFailed(f"This cannot be calculated: {error}.", code=code, suggestion=Suggestion.GIVE_UP) from error
    return Calculation(expression=expression.strip(), result=str(value), exact=value.shown_exactly)

"""The numbers of `calculate`: exact fractions where a value has one, 40 significant digits where it has none, and a bound on size."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Final

MAX_DIGITS: Final = 1000
"""Digits before the decimal point a value may have."""
_EXACT_BITS = 4096
_SHOWN_DIGITS = 15
_SHOWN_EXACT_DIGITS = 60
_LARGEST = Fraction(10**MAX_DIGITS)
_PRECISE = Context(prec=50, Emax=10**6, Emin=-(10**6))
_KEPT = Context(prec=40, Emax=10**6, Emin=-(10**6))


class CannotCalculate(Exception):  # noqa: N818 - an answer, not a fault
    """The expression is well formed but has no value, or none that could be shown."""

    def __init__(self, message: str, *, too_large: bool = False) -> None:
        super().__init__(message)
        self.too_large = too_large


@dataclass(frozen=True, slots=True)
class Number:
    """A value and whether it is exactly what was asked for."""

    value: Fraction
    exact: bool = True

    def __str__(self) -> str:
        """Plain digits: all of them when exact and not endless, else 15 significant ones."""
        return _written(self)[0]

    @property
    def shown_exactly(self) -> bool:
        """Whether the text form is the exact value."""
        return self.exact and _written(self)[1]


@dataclass(frozen=True, slots=True)
class Function:
    """A named function of `least` to `most` numbers."""

    apply: Callable[..., Number]
    least: int = 1
    most: int = 1


def number(value: int) -> Number:
    """A whole number."""
    return Number(Fraction(value))


def add(left: Number, right: Number) -> Number:
    """The sum."""
    return _bounded(left.value + right.value, exact=left.exact and right.exact)


def multiply(left: Number, right: Number) -> Number:
    """The product."""
    return _bounded(left.value * right.value, exact=left.exact and right.exact)


def divide(left: Number, right: Number) -> Number:
    """The quotient."""
    return _bounded(left.value / _divisor(right), exact=left.exact and right.exact)


def floor_divide(left: Number, right: Number) -> Number:
    """The quotient rounded down."""
    return _bounded(Fraction(left.value // _divisor(right)), exact=left.exact and right.exact)


def modulo(left: Number, right: Number) -> Number:
    """The remainder, with the sign of the divisor."""
    return _bounded(left.value % _divisor(right), exact=left.exact and right.exact)


def power(base: Number, exponent: Number) -> Number:
    """`base` to the power of `exponent`; exact for whole exponents and exact roots while the digits allow it."""
    exact = base.exact and exponent.exact
    if base.value == 0:
        if exponent.value < 0:
            raise CannotCalculate("division by zero: zero cannot be raised to a negative power")
        return Number(Fraction(int(exponent.value == 0)), exact)
    if abs(base.value) == 1 and exponent.value.denominator == 1:
        return Number(base.value if exponent.value.numerator % 2 else Fraction(1), exact)
    if exponent.value == Fraction(1, 2):
        return square_root(Number(base.value, exact))
    if exponent.value.denominator != 1 and base.value < 0:
        raise CannotCalculate("a negative number has no real power with a fraction as its exponent")
    return _raised(base.value, exponent.value, exact=exact)


def square_root(x: Number) -> Number:
    """The square root, exact when there is one."""
    if x.value < 0:
        raise CannotCalculate("a negative number has no real square root")
    above, below = math.isqrt(x.value.numerator), math.isqrt(x.value.denominator)
    if above * above == x.value.numerator and below * below == x.value.denominator:
        return Number(Fraction(above, below), x.exact)
    return _rounded(_PRECISE.sqrt(_decimal(x.value)))


def factorial(x: Number) -> Number:
    """The product of the whole numbers up to `x`."""
    if x.value.denominator != 1 or x.value < 0:
        raise CannotCalculate("a factorial needs a whole number that is not negative")
    if x.value > 450:
        raise _too_large()
    return _bounded(Fraction(math.factorial(int(x.value))), exact=x.exact)


def _raised(base: Fraction, exponent: Fraction, *, exact: bool) -> Number:
    size = _PRECISE.multiply(_PRECISE.log10(_decimal(abs(base))), _decimal(exponent))
    if abs(size) > MAX_DIGITS:
        raise _too_large() if size > 0 else CannotCalculate("the result is too small", too_large=True)
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if exponent.denominator == 1 and bits * abs(exponent.numerator) <= _EXACT_BITS:
        return _bounded(base**exponent.numerator, exact=exact)
    result = _PRECISE.exp(_PRECISE.multiply(_PRECISE.ln(_decimal(abs(base))), _decimal(exponent)))
    return _rounded(-result if base < 0 and exponent.numerator % 2 else result)


def _divisor(x: Number) -> Fraction:
    if x.value == 0:
        raise CannotCalculate("division by zero has no result")
    return x.value


def _bounded(value: Fraction, *, exact: bool) -> Number:
    if abs(value) >= _LARGEST:
        raise _too_large()
    if exact and max(value.numerator.bit_length(), value.denominator.bit_length()) <= _EXACT_BITS:
        return Number(value)
    return _rounded(_decimal(value))


def _rounded(value: Decimal) -> Number:
    # Inexact values are cut after every step, so that no chain of steps can make them grow.
    value = _KEPT.plus(value)
    if value and value.adjusted() < -MAX_DIGITS:
        return Number(Fraction(0), exact=False)
    if value.adjusted() >= MAX_DIGITS:
        raise _too_large()
    return Number(Fraction(value), exact=False)


def _decimal(value: Fraction) -> Decimal:
    return _PRECISE.divide(Decimal(value.numerator), Decimal(value.denominator))


def _too_large() -> CannotCalculate:
    return CannotCalculate(f"the result is too large: it has more than {MAX_DIGITS:,} digits", too_large=True)


def _written(x: Number) -> tuple[str, bool]:
    if x.value.denominator == 1 and x.exact:
        return str(x.value.numerator), True
    exact = Context(prec=_SHOWN_EXACT_DIGITS).divide(Decimal(x.value.numerator), Decimal(x.value.denominator))
    whole = x.exact and Fraction(exact) == x.value
    shown = exact if whole else Context(prec=_SHOWN_DIGITS, rounding=ROUND_HALF_UP).plus(exact)
    if shown == 0:
        return "0", whole
    text = format(shown.normalize(Context(prec=_SHOWN_EXACT_DIGITS)), "f" if whole or -7 <= shown.adjusted() < 21 else "")
    return text, whole


def _half_up(x: Number, places: Number | None = None) -> Number:
    digits = places.value if places is not None else Fraction(0)
    if digits.denominator != 1 or abs(digits) > 100:
        raise CannotCalculate("round takes a whole number of places from -100 to 100")
    scale = Fraction(10) ** int(digits)
    size = Fraction(math.floor(abs(x.value) * scale + Fraction(1, 2))) / scale
    return _bounded(size if x.value >= 0 else -size, exact=x.exact)  # a half goes away from zero, as people round money


def _log(x: Number, base: Number | None = None) -> Number:
    if x.value <= 0 or (base is not None and (base.value <= 0 or base.value == 1)):
        raise CannotCalculate("a logarithm needs a positive number, and a positive base other than 1")
    if base is None:
        return _rounded(_PRECISE.ln(_decimal(x.value)))
    result = _rounded(_PRECISE.divide(_PRECISE.ln(_decimal(x.value)), _PRECISE.ln(_decimal(base.value))))
    nearest = round(result.value)
    if x.exact and base.exact and abs(nearest) < 4000 and abs(result.value - nearest) < Fraction(1, 10**30) and base.value**nearest == x.value:
        return number(nearest)
    return result


def _angle(function: Callable[[float], float]) -> Callable[[Number], Number]:
    def apply(x: Number) -> Number:
        if abs(x.value) > 10**9:
            raise CannotCalculate("the angle is too large to be accurate; at most 1000000000 radians")
        try:
            result = function(float(x.value))
        except ValueError as error:
            raise CannotCalculate("the number is outside the range of this function") from error
        if abs(result) > 10**12:
            raise CannotCalculate("the tangent of this angle is not defined")
        # A float angle is off by 1e-16: without this, sin(pi) would not be 0.
        return _bounded(Fraction(Decimal(repr(round(result, 14)))), exact=x.value == 0 and result in (0.0, 1.0))

    return apply


def _extreme(choose: Callable[..., Number]) -> Function:
    return Function(lambda *xs: choose(xs, key=lambda x: x.value), 1, 1000)


def _total(*xs: Number) -> Number:
    result = number(0)
    for x in xs:
        result = add(result, x)
    return result


_PI = Number(Fraction("3.14159265358979323846264338327950288419716939937511"), exact=False)
CONSTANTS: Final = {"pi": _PI, "e": Number(Fraction("2.71828182845904523536028747135266249775724709369996"), exact=False)}
FUNCTIONS: Final[dict[str, Function]] = {
    "sqrt": Function(square_root),
    "abs": Function(lambda x: Number(abs(x.value), x.exact)),
    "round": Function(_half_up, 1, 2),
    "floor": Function(lambda x: Number(Fraction(math.floor(x.value)), x.exact)),
    "ceil": Function(lambda x: Number(Fraction(math.ceil(x.value)), x.exact)),
    "min": _extreme(min),
    "max": _extreme(max),
    "sum": Function(_total, 1, 1000),
    "mean": Function(lambda *xs: divide(_total(*xs), number(len(xs))), 1, 1000),
    "pow": Function(power, 2, 2),
    "exp": Function(lambda x: power(CONSTANTS["e"], x) if x.value else number(1)),
    "ln": Function(_log),
    "log": Function(_log, 1, 2),
    "log10": Function(lambda x: _log(x, number(10))),
    "log2": Function(lambda x: _log(x, number(2))),
    "factorial": Function(factorial),
    "sin": Function(_angle(math.sin)),
    "cos": Function(_angle(math.cos)),
    "tan": Function(_angle(math.tan)),
    "asin": Function(_angle(math.asin)),
    "acos": Function(_angle(math.acos)),
    "atan": Function(_angle(math.atan)),
    "degrees": Function(lambda x: divide(multiply(x, number(180)), _PI)),
    "radians": Function(lambda x: divide(multiply(x, _PI), number(180))),
}

"""Exact arithmetic on text: a small parser that evaluates as it reads, bounded in length, depth, size and time.

Numbers are fractions, so 0.1 + 0.2 is 0.3; only what has no exact value (roots, logarithms, angles) is rounded, and says so.
It is an own parser because the ones at hand evaluate Python, where decimals are already inexact when they are read, `^` and `%`
mean something else than people mean, and full-width digits and `1,234.5` are errors.
"""

from __future__ import annotations

from dataclasses import dataclass

from tools.builtin.numbers import FUNCTIONS, CannotCalculate, Number, add, divide, factorial, floor_divide, modulo, multiply, number, power
from tools.builtin.tokens import Token, tokens

MAX_DEPTH = 40
"""Levels of parentheses, signs and powers."""


class CannotRead(Exception):  # noqa: N818 - named for what it means to the caller
    """The text is not an expression; the message says where and what would be one."""


def evaluate(expression: str) -> Number:
    """The value of `expression`.

    Raises:
        CannotRead: it is not an expression, and the message says why.
        CannotCalculate: it has no value (a division by zero) or none that could be shown (too large).

    """
    try:
        found = tokens(expression)
    except ValueError as error:
        raise CannotRead(str(error)) from error
    reader = _Reader(found)
    value = reader.sum()
    reader.expect("end")
    return value.number


@dataclass(frozen=True, slots=True)
class _Value:
    number: Number
    is_percent: bool = False
    """Whether it was written as a bare percentage, which added to something may mean two things."""


class _Reader:
    def __init__(self, found: list[Token]) -> None:
        self._tokens = found
        self._position = 0
        self._depth = 0

    @property
    def next(self) -> Token:
        return self._tokens[self._position]

    def take(self) -> Token:
        token = self.next
        if token.kind != "end":
            self._position += 1
        return token

    def expect(self, kind: str) -> None:
        token = self.take()
        if token.kind == kind:
            return
        if kind == "end":
            raise CannotRead(f"unexpected {token}; is an operator missing before it?")
        raise CannotRead(f"expected {kind!r}, found {token}")

    def sum(self) -> _Value:
        left = self.product()
        while self.next.kind in ("+", "-"):
            operator = self.take().kind
            right = self.product()
            if right.is_percent and not left.is_percent and left.number.value != 1:
                examples = "200 * (1 + 10%) for ten percent more, or 200 + 10% of 50 for a part of another number"
                raise CannotRead(f"adding or taking off a percentage can mean two things; write {examples}")
            both = left.is_percent and right.is_percent
            left = _Value(add(left.number, right.number if operator == "+" else multiply(number(-1), right.number)), both)
        return left

    def product(self) -> _Value:
        left = self.signed()
        while True:
            match self.next.kind:
                case "*":
                    operation = multiply
                case "/":
                    operation = divide
                case "//":
                    operation = floor_divide
                case "mod":
                    operation = modulo
                case _:
                    return left
            self.take()
            left = _Value(operation(left.number, self.signed().number))

    def signed(self) -> _Value:
        if self.next.kind not in ("+", "-"):
            return self.raised()
        negative = self.take().kind == "-"
        self._enter()
        value = self.signed()
        self._depth -= 1
        return _Value(multiply(number(-1), value.number), value.is_percent) if negative else value

    def raised(self) -> _Value:
        base = self.counted()
        if self.next.kind != "**":
            return base
        self.take()
        self._enter()
        exponent = self.signed()  # to the right first: 2 ** 3 ** 2 is 2 ** 9, and 2 ** -1 is a half
        self._depth -= 1
        return _Value(power(base.number, exponent.number))

    def counted(self) -> _Value:
        value = self.atom()
        while self.next.kind in ("!", "percent"):
            value = _Value(factorial(value.number)) if self.take().kind == "!" else _Value(divide(value.number, number(100)), is_percent=True)
        return value

    def atom(self) -> _Value:
        token = self.take()
        if token.kind == "number":
            return _Value(token.number)
        if token.kind == "(":
            value = self._inside()
            self.expect(")")
            return _Value(value.number)
        if token.kind == "function":
            return _Value(self._call(token))
        raise CannotRead(f"expected a number, found {token}")

    def _call(self, token: Token) -> Number:
        function = FUNCTIONS[token.text]
        self.expect("(")
        arguments: list[Number] = []
        if self.next.kind != ")":
            arguments.append(self._inside().number)
            while self.next.kind == ",":
                self.take()
                arguments.append(self._inside().number)
        self.expect(")")
        if not function.least <= len(arguments) <= function.most:
            wanted = {(1, 1): "one number", (1, 2): "one or two numbers", (2, 2): "two numbers"}.get((function.least, function.most), "at least one number")
            hint = "; inside a function write numbers without thousands separators" if len(arguments) > function.most else ""
            raise CannotRead(f"{token.text} takes {wanted}, not {len(arguments)}{hint}")
        return function.apply(*arguments)

    def _inside(self) -> _Value:
        self._enter()
        value = self.sum()
        self._depth -= 1
        return value

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise CannotRead(f"nested more than {MAX_DEPTH} levels deep")


__all__ = ["MAX_DEPTH", "CannotCalculate", "CannotRead", "evaluate"]

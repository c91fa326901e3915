"""Arguments in the types their schema asks for, when they already say the same thing in another spelling.

Models write `"123"` for 123, `"True"` for true, `2024/5/20` for a date, one item for a list, the name in another style. `coerce` walks
the schema beside the value and changes only what the schema does not accept as it stands, only without loss, and only when there is
one way to read it; each change is recorded. The rest stays, for validation to refuse with a reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from tools import scalars
from tools.fits import MAX_HOPS, Schemas, TooMuch, fits, kinds, matches, same
from tools.grammar import NotAnObject, strict
from tools.normal import clean
from tools.shrink import clip

_SHOWN = 40
_EXACT: Final = 2**53
"""From here on floats skip integers."""
_STYLE: Final = dict.fromkeys(map(ord, "_- "))
"""What styles of names differ in, besides capitals."""
_SEPARATORS = frozenset(",;，、；|\n")
_TEXT_FORMATS: dict[str, Callable[[str], str | None]] = {"date": scalars.day, "time": scalars.clock, "date-time": scalars.instant}
_DECODED: dict[str, type] = {"array": list, "object": dict}


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that was read differently from how it was sent."""

    path: str
    """Dotted path of the argument, e.g. `items.0.count`."""
    before: Any
    after: Any
    what: Literal["value", "name", "left out"] = "value"
    """`name`: the argument had another style of name; `left out`: a null that stood for "not given"."""

    @property
    def trivial(self) -> bool:
        """Nobody who approves the call needs to know: 3.0 for 3, null for nothing."""
        return self.what == "left out" or (isinstance(self.before, float) and isinstance(self.after, int))

    def __str__(self) -> str:
        if self.what == "left out":
            return f"{self.path}: null left out"
        return f"{self.path}: {_shown(self.before)} read as {_shown(self.after)}"


def coerce(value: Any, schema: Mapping[str, Any], definitions: Mapping[str, Any] | None = None) -> tuple[Any, tuple[Change, ...]]:
    """`value` (JSON-compatible, never modified) as `schema` wants it, and what was changed.

    `definitions` are the schemas `$ref` may name, by default those in `schema` itself; references elsewhere are not followed.
    A schema too entangled to be walked in a bounded time changes nothing.
    """
    walk = _Walk(Schemas(schema, definitions))
    try:
        return walk.visit(value, schema, ""), tuple(walk.changes)
    except TooMuch:
        return value, ()


class _Walk:
    def __init__(self, schemas: Schemas) -> None:
        self.schemas = schemas
        self.changes: list[Change] = []

    def visit(self, value: Any, schema: Any, path: str, hops: int = 0, *, in_list: bool = False) -> Any:
        self.schemas.step()
        plain = self.schemas.resolve(schema)
        if not plain or hops > MAX_HOPS:
            return value
        for key in ("anyOf", "oneOf"):
            if isinstance(plain.get(key), list):
                value = self._alternatives(value, plain[key], path, hops, in_list=in_list)
        for part in plain.get("allOf") or ():
            value = self.visit(value, part, path, hops + 1, in_list=in_list)
        if "enum" in plain or "const" in plain:
            return self._choice(value, plain["enum"] if "enum" in plain else [plain["const"]], path)
        names = kinds(plain)
        if len(names) > 1:
            return self._alternatives(value, [{**plain, "type": name} for name in names], path, hops, in_list=in_list)
        match names[0] if names else "":
            case "integer" if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
                return self._changed(path, value, int(value))
            case ("integer" | "number" | "boolean") as name if isinstance(value, str):
                read = {"integer": scalars.integer, "number": scalars.number, "boolean": scalars.boolean}[name](value)
                return value if read is None else self._changed(path, value, read)
            case "string":
                return self._text(value, plain, path)
            case "array":
                return self._list(value, plain, path, hops, in_list=in_list)
            case "object":
                return self._object(value, plain, path, hops)
            case _:
                return value

    def _changed(self, path: str, before: Any, after: Any, what: Literal["value", "name", "left out"] = "value") -> Any:
        self.changes.append(Change(path, before, after, what))
        return after

    def _alternatives(self, value: Any, options: list[Any], path: str, hops: int, *, in_list: bool) -> Any:
        """The one way to read `value` that an option accepts; itself when an option accepts it as it is, or several ways exist."""
        if any(fits(value, option, self.schemas, hops + 1) for option in options):
            return value
        start = len(self.changes)
        readings: list[tuple[Any, list[Change]]] = []
        for option in options:
            read = self.visit(value, option, path, hops + 1, in_list=in_list)
            noted = self.changes[start:]
            del self.changes[start:]
            if fits(read, option, self.schemas, hops + 1) and not any(same(read, known) and type(read) is type(known) for known, _ in readings):
                readings.append((read, noted))
        if len(readings) == 1:
            self.changes += readings[0][1]
            return readings[0][0]
        alike = [option for option in options if self._alike(value, option)]
        # Nothing fits whole: mend what can be mended, so that only the real mistakes are told.
        return self.visit(value, alike[0], path, hops + 1, in_list=in_list) if len(alike) == 1 and not readings else value

    def _alike(self, value: Any, option: Any) -> bool:
        """Whether an object or list can only have been meant for this option: the same kind, the same tag."""
        plain = self.schemas.resolve(option)
        if isinstance(value, list):
            return "array" in kinds(plain)
        if not isinstance(value, dict) or "object" not in kinds(plain):
            return False
        tags = ((name, self.schemas.resolve(schema)) for name, schema in plain.get("properties", {}).items())
        return all(name in value and same(value[name], tag["const"]) for name, tag in tags if "const" in tag)

    def _choice(self, value: Any, choices: Any, path: str) -> Any:
        if not isinstance(choices, list) or any(same(value, choice) for choice in choices):
            return value
        found: list[Any] = []
        if isinstance(value, str):
            wanted, number = _folded(value), scalars.number(value)
            found = [choice for choice in choices if isinstance(choice, str) and _folded(choice) == wanted]
            if not found and number is not None:
                found = [choice for choice in choices if same(choice, number)]
        elif isinstance(value, int) and not isinstance(value, bool):
            found = [choice for choice in choices if choice == str(value)]
        return self._changed(path, value, found[0]) if len(found) == 1 else value

    def _text(self, value: Any, schema: Mapping[str, Any], path: str) -> Any:
        form = str(schema.get("format", ""))
        if isinstance(value, str):
            if form not in _TEXT_FORMATS or fits(value, schema, self.schemas):
                return value
            read = _TEXT_FORMATS[form](value)
            return value if read is None else self._changed(path, value, read)
        if isinstance(value, int) and not isinstance(value, bool) and not form:
            return self._changed(path, value, str(value))
        return value

    def _list(self, value: Any, schema: Mapping[str, Any], path: str, hops: int, *, in_list: bool) -> Any:
        value = self._decoded(value, "array", path)
        first, rest = schema.get("prefixItems") or [], schema.get("items", {})
        if isinstance(value, list):
            schemas = (first[place] if place < len(first) else rest for place in range(len(value)))
            return [self.visit(item, each, _under(path, place), hops + 1, in_list=True) for place, (item, each) in enumerate(zip(value, schemas, strict=True))]
        if value is None or in_list or first or not rest or (isinstance(value, str) and (not value.strip() or _SEPARATORS & set(value))):
            return value  # a list of lists, or of texts with commas in them, could be cut up in several ways
        start = len(self.changes)
        item = self.visit(value, rest, path, hops + 1, in_list=True)
        del self.changes[start:]
        return self._changed(path, value, [item]) if fits(item, rest, self.schemas, hops + 1) else value

    def _object(self, value: Any, schema: Mapping[str, Any], path: str, hops: int) -> Any:
        value = self._decoded(value, "object", path)
        if not isinstance(value, dict):
            return value
        properties, required = schema.get("properties") or {}, schema.get("required") or ()
        styles = self._styles(value, schema)
        others = {} if "patternProperties" in schema else schema.get("additionalProperties", {})
        entries: dict[str, Any] = {}
        for sent, inner in value.items():
            name = styles[sent] if sent in styles else str(sent)
            below = _under(path, name)
            if name != sent:
                self._changed(_under(path, sent), sent, name, "name")
            optional = name in properties and name not in required
            if inner is None and optional and not fits(None, properties[name], self.schemas, hops + 1):
                self._changed(below, None, None, "left out")
                continue
            entries[name] = self.visit(inner, properties.get(name, others), below, hops + 1)
        return entries

    def _styles(self, value: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, str]:
        """By the name sent: the property it means, for names that differ from one property in style only and are not accepted as they are."""
        properties = schema.get("properties") or {}
        unknown = [name for name in value if name not in properties]
        if not unknown:
            return {}
        closed = schema.get("additionalProperties") is False
        known = any(matches(pattern, name) for pattern in schema.get("patternProperties") or () for name in unknown)
        missing = {name for name in properties if name not in value and ((closed and not known) or name in (schema.get("required") or ()))}
        meant = _by_style(properties)
        found: dict[str, str] = {}
        for style, names in _by_style(unknown).items():
            targets = meant.get(style, [])
            if style and len(names) == len(targets) == 1 and targets[0] in missing:
                found[names[0]] = targets[0]
        return found

    def _decoded(self, value: Any, kind: Literal["array", "object"], path: str) -> Any:
        if not isinstance(value, str) or value.lstrip()[:1] not in {"array": ("[",), "object": ("{",)}[kind]:
            return value
        try:
            read = strict(value)
        except (json.JSONDecodeError, NotAnObject):
            return value
        return self._changed(path, value, read) if isinstance(read, _DECODED[kind]) else value


def _under(path: str, part: str | int) -> str:
    return f"{path}.{part}" if path else str(part)


def _folded(text: str) -> str:
    return scalars.plain(text).casefold()


def _by_style(names: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(_styled(name), []).append(name)
    return found


def _styled(name: str) -> str:
    return name.casefold().translate(_STYLE)


def _shown(value: Any) -> str:
    return clip(clean(json.dumps(value, ensure_ascii=False)), _SHOWN)

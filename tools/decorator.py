"""`@tool`: turns an author's function into a `Tool`, reading its schema from the signature and its description from the docstring.

Whatever would later confuse the model or surprise a person is refused here, when the module is loaded, with a message that
says what to write instead.
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from tools.schema import parameters
from tools.tool import Effect, Tool, ToolContext, ToolLoadError

READ_TIMEOUT: Final = 15.0
"""Seconds a read may take unless its author says otherwise."""
WRITE_TIMEOUT: Final = 30.0
"""Seconds a write may take unless its author says otherwise."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,127}")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_DESCRIPTION_WEIGHT = 20
_CONFIG = ConfigDict(extra="forbid", allow_inf_nan=False, protected_namespaces=())


def tool(
    *,
    effect: Effect,
    group: str = "general",
    timeout: float | None = None,
    keyed: bool = False,
    aliases: tuple[str, ...] = (),
    title: str = "",
    render: Callable[[Any], list[tuple[str, Any]]] | None = None,
    words: Mapping[str, Mapping[str, str]] | None = None,
) -> Callable[[Callable[..., Any]], Tool]:
    """Declare a function as a tool the model may call; the module then holds a `Tool` under the function's name.

    Args:
        effect: `"read"` runs at once, `"write"` waits for a person's approval. There is no default: a forgotten one must not run.
        group: the business domain the tool belongs to.
        timeout: seconds one execution may take; 15 for a read, 30 for a write by default.
        keyed: the upstream applies one `ctx.idempotency_key` once only, so that an uncertain write may be repeated.
        aliases: other names the model may use for it.
        title: the short name on cards; by default the function's name with spaces.
        words: the title, labels and hints of its card and form in other languages, e.g. `{"zh": {"Cancel order": "取消订单"}}`.
        render: the rows of the approval card, `(label, value)`, from the validated arguments.

    Raises:
        ToolLoadError: the function cannot be a tool as it stands; the message says what to change.

    """

    def declare(function: Callable[..., Any]) -> Tool:
        name = _checked_name(function)
        if effect not in ("read", "write"):
            raise ToolLoadError(f'Tool {name!r}: effect is {effect!r}; write effect="read" (runs at once) or effect="write" (asks a person first).')
        if keyed and effect == "read":
            raise ToolLoadError(f'Tool {name!r}: keyed=True only means something for a write; remove it or write effect="write".')
        seconds = timeout if timeout is not None else (WRITE_TIMEOUT if effect == "write" else READ_TIMEOUT)
        if not 0 < seconds < float("inf"):
            raise ToolLoadError(f"Tool {name!r}: timeout is {timeout!r}; write the seconds one execution may take, for example timeout=30.")
        args_model, takes_context = _arguments(name, function)
        return Tool(
            name=name,
            description=_description(name, function),
            args_model=args_model,
            effect=effect,
            function=function,
            group=group,
            timeout=float(seconds),
            keyed=keyed,
            aliases=tuple(aliases),
            title=title or name.replace("_", " ").capitalize(),
            render=render,
            words=words or {},
            takes_context=takes_context,
        )

    return declare


def _checked_name(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", "")
    if not inspect.isroutine(function) or not _NAME.fullmatch(name):
        raise ToolLoadError(f"{function!r} cannot be a tool: put @tool(...) on a function named with 1 to 128 ASCII letters, digits and underscores.")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ToolLoadError(f"Tool {name!r} is a generator; return one value (a list, for example) instead of yielding.")
    return name


def _description(name: str, function: Callable[..., Any]) -> str:
    description = inspect.getdoc(function) or ""
    # One Chinese or Japanese character says about as much as two Latin letters.
    if len(description) + len(_WIDE.findall(description)) < _DESCRIPTION_WEIGHT or description.casefold().strip(".") == name.replace("_", " ").casefold():
        raise ToolLoadError(
            f"Tool {name!r} has no real description. Give the function a docstring that tells the model what it does, "
            "what it returns, when to use it and when not; for example: "
            '"""Cancel one order that has not shipped. Use only when the person asks to cancel; not for returns."""'
        )
    return description


def _arguments(name: str, function: Callable[..., Any]) -> tuple[type[BaseModel], bool]:
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, AttributeError, TypeError) as error:
        raise ToolLoadError(f"Tool {name!r}: a type annotation cannot be resolved ({error}). Import the type at the top of the module.") from error
    fields: dict[str, Any] = {}
    takes_context = False
    for position, parameter in enumerate(inspect.signature(function).parameters.values()):
        if parameter.name not in hints:
            wanted = f"{parameter.name}: {_example(parameter.name)}"
            raise ToolLoadError(f"Tool {name!r}: parameter {parameter.name!r} has no type annotation. Write, for example, {wanted}.")
        hint = hints[parameter.name]
        if hint is ToolContext:
            if position != 0:
                raise ToolLoadError(f"Tool {name!r}: {parameter.name}: ToolContext must be the first parameter.")
            takes_context = True
            continue
        if parameter.kind not in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
            raise ToolLoadError(f"Tool {name!r}: {parameter} is not allowed; name every argument, so that the model knows what it may send.")
        fields.update(_field(name, parameter, hint))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = create_model(name, __config__=_CONFIG, **fields)
            parameters(model)
    except (PydanticUserError, TypeError, ValueError, UserWarning) as error:
        reason = str(error).splitlines()[0]
        remedy = "Use types JSON can carry: str, int, float, bool, lists, enums, pydantic models."
        raise ToolLoadError(f"Tool {name!r}: its parameters have no JSON schema ({reason}). {remedy}") from error
    return model, takes_context


def _field(name: str, parameter: inspect.Parameter, hint: Any) -> dict[str, Any]:
    default = ... if parameter.default is inspect.Parameter.empty else parameter.default
    given = [part for part in (*getattr(hint, "__metadata__", ()), default) if isinstance(part, FieldInfo)]
    if any(part.alias or part.validation_alias or part.serialization_alias for part in given):
        raise ToolLoadError(f"Tool {name!r}: parameter {parameter.name!r} has an alias; the model uses the parameter's own name, so remove it.")
    if parameter.name.startswith("_") or hasattr(BaseModel, parameter.name):
        # pydantic keeps such names for itself ("json", "copy", "_x"): hide the field behind another one, the model sees no difference.
        return {f"arg_{parameter.name.lstrip('_')}": (Annotated[hint, Field(alias=parameter.name)], default)}
    return {parameter.name: (hint, default)}


def _example(parameter: str) -> str:
    return "ToolContext" if parameter == "ctx" else 'Annotated[str, Field(description="...")]'

"""`@tool`: turns an author's function into a `Tool`, reading its schema from the signature and its description from the docstring.

Whatever would later confuse the model or surprise a person is refused here, when the module is loaded, with a message that
says what to write instead (`tools.lint` reads the descriptions).
"""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, Final, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from memory.longterm.entities import Thing
from tools.lint import lint
from tools.schema import parameters
from tools.tool import Effect, Rule, Scope, Tool, ToolContext, ToolLoadError

READ_TIMEOUT: Final = 15.0
"""Seconds a read may take unless its author says otherwise."""
WRITE_TIMEOUT: Final = 30.0
"""Seconds a write may take unless its author says otherwise."""
MAX_RETRIES: Final = 5
"""More attempts than this only keep a person waiting for an upstream that is down."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,127}")
_CONFIG = ConfigDict(extra="forbid", allow_inf_nan=False, protected_namespaces=())


def tool(
    *,
    effect: Effect,
    group: str = "general",
    timeout: float | None = None,
    keyed: bool = False,
    aliases: tuple[str, ...] = (),
    title: str = "",
    version: str = "1",
    upstream: str = "",
    circuit: Callable[[Mapping[str, Any]], str] | None = None,
    concurrency: int = 16,
    retries: int = 2,
    cache_ttl: float = 0.0,
    scope: Scope = "person",
    stale_ttl: float = 0.0,
    negative_ttl: float = 0.0,
    time_sensitive: bool = False,
    tags: tuple[str, ...] = (),
    invalidates: tuple[str, ...] = (),
    rules: tuple[Rule, ...] = (),
    fields: tuple[str, ...] = (),
    thing: Thing | None = None,
    always: bool = False,
    trusted: bool = False,
    goes_out: str = "",
    same_as: Mapping[str, str] | None = None,
    asks: bool = False,
    resolve: Callable[[ToolContext, dict[str, Any]], dict[str, Any] | Awaitable[dict[str, Any]]] | None = None,
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
        version: part of every cache key; raise it when the same arguments come to mean something else.
        circuit: from the arguments to the name of the place the tool speaks to, when there are many: each gets its own circuit breaker.
        upstream: the service behind the tool; tools that name the same one share its circuit breaker.
        concurrency: calls that may run at the same time in one process, at least 1.
        retries: how often a read or a keyed write is tried again after a fault that may pass, 0 to 5.
        cache_ttl: reads only: seconds a result may be answered from the cache; 0 for never.
        scope: who may share a cached result: `"person"`, `"channel"` or `"workspace"`.
        stale_ttl: seconds beyond `cache_ttl` for which an old value may stand in while the upstream is down.
        negative_ttl: reads only: seconds a NOT_FOUND may be remembered; 0 for never.
        time_sensitive: reads only: the answer depends on the moment, so it is never cached nor repeated.
        tags: what a cached result is about; a write that `invalidates` one of them makes it void.
        invalidates: writes only: tags that a successful call makes void.
        rules: checks over several arguments at once, run on the validated model.
        fields: reads only: of lists of objects in the result, only these fields are kept; empty for all.
        thing: what the structured result is about, with the fields that say which one and how it stands: its state is then remembered for the person.
        always: offered in every request, also when other tools are found through their group first.
        trusted: the result is made here from the arguments alone, so it need not be marked as text from outside.
        goes_out: the argument that holds an address the call opens on the internet; it has to come from a person or a tool's result.
        same_as: arguments that say the same in another way, `{"channel": "channel_id"}`: a rule about the first is held against the second too.
        asks: the call is a question to a person; it is a read that is never cached.
        words: the title, labels and hints of its card and form in other languages, e.g. `{"zh": {"Cancel order": "取消订单"}}`.
        resolve: makes validated arguments definite ("in 2 hours" becomes a time) before they are shown, signed and run.
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
        if scope not in get_args(Scope):
            raise ToolLoadError(f'Tool {name!r}: scope is {scope!r}; write scope="person", scope="channel" or scope="workspace".')
        _check_numbers(name, concurrency, retries, {"cache_ttl": cache_ttl, "stale_ttl": stale_ttl, "negative_ttl": negative_ttl})
        _check_lists(name, {"aliases": aliases, "tags": tags, "invalidates": invalidates, "fields": fields})
        if not isinstance(rules, (tuple, list)) or not all(callable(rule) for rule in rules):
            raise ToolLoadError(f'Tool {name!r}: rules is {rules!r}; write a tuple of checks, for example rules=(before("start", "end"),).')
        given = {"cache_ttl": cache_ttl, "stale_ttl": stale_ttl, "negative_ttl": negative_ttl, "time_sensitive": time_sensitive, "fields": fields}
        _check_effect(name, effect, {option: bool(value) for option, value in given.items()}, invalidates=bool(invalidates), asks=asks)
        seconds = timeout if timeout is not None else (WRITE_TIMEOUT if effect == "write" else READ_TIMEOUT)
        if not 0 < seconds < float("inf"):
            raise ToolLoadError(f"Tool {name!r}: timeout is {timeout!r}; write the seconds one execution may take, for example timeout=30.")
        args_model, takes_context = _arguments(name, function)
        _check_names(name, args_model, {"goes_out": (goes_out,) if goes_out else (), "same_as": [part for pair in (same_as or {}).items() for part in pair]})
        made = Tool(
            name=name,
            description=inspect.getdoc(function) or "",
            args_model=args_model,
            effect=effect,
            function=function,
            group=group,
            timeout=float(seconds),
            keyed=keyed,
            aliases=tuple(aliases),
            title=title or name.replace("_", " ").capitalize(),
            version=version,
            upstream=upstream,
            circuit=circuit,
            concurrency=concurrency,
            retries=retries,
            cache_ttl=float(cache_ttl),
            scope=scope,
            stale_ttl=float(stale_ttl),
            negative_ttl=float(negative_ttl),
            time_sensitive=time_sensitive,
            tags=tuple(tags),
            invalidates=tuple(invalidates),
            rules=tuple(rules),
            fields=tuple(fields),
            thing=thing,
            always=always,
            trusted=trusted,
            goes_out=goes_out,
            same_as=same_as or {},
            asks=asks,
            resolve=resolve,
            render=render,
            words=words or {},
            takes_context=takes_context,
        )
        if findings := lint(made):
            raise ToolLoadError("\n".join(finding.message for finding in findings))
        return made

    return declare


def _check_numbers(name: str, concurrency: int, retries: int, seconds: Mapping[str, float]) -> None:
    if isinstance(concurrency, bool) or not isinstance(concurrency, int) or concurrency < 1:
        raise ToolLoadError(f"Tool {name!r}: concurrency is {concurrency!r}; write how many calls may run at the same time, for example concurrency=8.")
    if isinstance(retries, bool) or not isinstance(retries, int) or not 0 <= retries <= MAX_RETRIES:
        raise ToolLoadError(f"Tool {name!r}: retries is {retries!r}; write a whole number from 0 (never try again) to {MAX_RETRIES}.")
    for option, value in seconds.items():
        if not 0 <= value < float("inf"):
            raise ToolLoadError(f"Tool {name!r}: {option} is {value!r}; write a finite number of seconds, for example {option}=60, or leave it out.")


def _check_lists(name: str, lists: Mapping[str, object]) -> None:
    for option, values in lists.items():
        # A lone text is a sequence of its letters, which is never what its author meant.
        if not isinstance(values, (tuple, list)) or not all(isinstance(value, str) and value for value in values):
            raise ToolLoadError(f'Tool {name!r}: {option} is {values!r}; write a tuple of texts, for example {option}=("orders",).')


def _check_names(name: str, args_model: type[BaseModel], given: Mapping[str, Sequence[str]]) -> None:
    known = {info.alias or field for field, info in args_model.model_fields.items()}
    for option, arguments in given.items():
        for argument in arguments:
            if argument not in known:
                raise ToolLoadError(f"Tool {name!r}: {option} names {argument!r}, which is no argument. Write one of: {', '.join(sorted(known))}.")


def _check_effect(name: str, effect: Effect, given: Mapping[str, bool], *, invalidates: bool, asks: bool) -> None:
    for option, there in given.items():
        if there and effect == "write":
            raise ToolLoadError(f'Tool {name!r}: {option} only means something for a read; remove it or write effect="read".')
    if invalidates and effect == "read":
        raise ToolLoadError(f"Tool {name!r}: invalidates only means something for a write; remove it, or write tags=(...) to say what the read is about.")
    if given["stale_ttl"] and not given["cache_ttl"]:
        raise ToolLoadError(f"Tool {name!r}: stale_ttl says how long a cached value may be used beyond cache_ttl; write cache_ttl=60 too, or remove it.")
    if given["time_sensitive"] and (given["cache_ttl"] or given["negative_ttl"]):
        raise ToolLoadError(f"Tool {name!r}: time_sensitive=True means nothing may be cached; remove it, or remove cache_ttl and negative_ttl.")
    if asks and effect != "read":
        raise ToolLoadError(f'Tool {name!r}: asks=True is a question to a person, which changes nothing; write effect="read".')
    if asks and (given["cache_ttl"] or given["negative_ttl"]):
        raise ToolLoadError(f"Tool {name!r}: asks=True is a question to a person, whose answer is theirs each time; remove cache_ttl and negative_ttl.")


def _checked_name(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", "")
    if not inspect.isroutine(function) or not _NAME.fullmatch(name):
        raise ToolLoadError(f"{function!r} cannot be a tool: put @tool(...) on a function named with 1 to 128 ASCII letters, digits and underscores.")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ToolLoadError(f"Tool {name!r} is a generator; return one value (a list, for example) instead of yielding.")
    return name


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
    if default is ... and any(not part.is_required() for part in given):
        default = next(part for part in given if not part.is_required())  # Annotated[int, Field(default=3)]: what has a default is not required
    if parameter.name.startswith("_") or hasattr(BaseModel, parameter.name):
        # pydantic keeps such names for itself ("json", "copy", "_x"): hide the field behind another one, the model sees no difference.
        return {f"arg_{parameter.name.lstrip('_')}": (Annotated[hint, Field(alias=parameter.name)], default)}
    return {parameter.name: (hint, default)}


def _example(parameter: str) -> str:
    return "ToolContext" if parameter == "ctx" else 'Annotated[str, Field(description="...")]'

"""Guardrails as the operator writes them: which tools, where, by whom, with what; and that nothing written wrongly passes for a rule."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from structlog.testing import capture_logs

from bot.guardrails import MAX_VALUE, MAX_VALUES, Guardrails, Patterns
from bot.policy_file import PolicyFile, PolicyFileError, read_policy_file
from memory.keys import Actor, Thread
from tools.decorator import tool
from tools.tool import Tool, ToolLoadError

HERE, ELSEWHERE = Thread(team_id="T1", channel_id="C1", thread_ts="1.1"), Thread(team_id="T1", channel_id="C2", thread_ts="1.1")
ALICE, BRUNO = Actor(team_id="T1", user_id="U1"), Actor(team_id="T1", user_id="U2")


class Line(BaseModel):
    """One line of an order."""

    sku: str = Field(description="Article number, e.g. A-100")
    tags: list[str] = Field(default=[], description="Words it is marked with")


@tool(effect="write", group="slack")
async def post_message(
    channel: Annotated[str, Field(description="Name of the place it goes to, e.g. #general")],
    text: Annotated[str, Field(description="The words people will read")] = "",
    thread_ts: Annotated[str | None, Field(description="Time stamp of the message it answers")] = None,
) -> str:
    """Post one message to one channel, in the name of the person who asks."""
    return channel + text + str(thread_ts)


@tool(effect="write", group="orders")
async def place_order(
    lines: Annotated[list[Line], Field(description="Articles wanted, one entry for each")],
    count: Annotated[int, Field(description="Number of parcels, 1 or more")] = 1,
) -> str:
    """Place an order of several lines, as often as it is wanted."""
    return f"{lines}{count}"


@tool(effect="read", group="orders")
async def get_order(order_id: Annotated[str, Field(description="Full number on the invoice, e.g. ABC-1")]) -> str:
    """Look one order up by its number, with everything that is known of it."""
    return order_id


TOOLS: list[Tool] = [post_message, place_order, get_order]


def rails(**file: Any) -> Guardrails:
    return Guardrails.load(PolicyFile.model_validate(file))


def about(argument: str, tool_name: str = "*", **rule: str) -> Guardrails:
    return rails(arguments=[{"tool": tool_name, "argument": argument, **rule}])


def said(guardrails: Guardrails, wanted: Tool, arguments: dict[str, Any], groups: Any = ()) -> str | None:
    return guardrails.refusal(wanted, arguments, thread=HERE, actor=ALICE, groups=groups)


def open_to(guardrails: Guardrails, actor: Actor = ALICE, thread: Thread = HERE, groups: Any = ()) -> list[str]:
    return [each.name for each in TOOLS if guardrails.allows(each, thread=thread, actor=actor, groups=groups)]


# --- which tools -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("post_message", ["post_message"]),
        ("post", []),
        ("*", ["post_message", "place_order", "get_order"]),
        ("*_order", ["place_order", "get_order"]),
        ("p*e*", ["post_message", "place_order"]),
        ("get_order*", ["get_order"]),
        ("*get_order*order", []),
        ("group:orders", ["place_order", "get_order"]),
        ("group:or*", ["place_order", "get_order"]),
        ("orders", []),
        ("Post_Message", []),
    ],
)
def test_a_pattern_is_a_name_a_group_or_holds_stars(pattern: str, names: list[str]) -> None:
    assert [each.name for each in TOOLS if Patterns((pattern,)).match(each)] == names


def test_without_a_file_nothing_is_closed() -> None:
    assert open_to(Guardrails()) == [each.name for each in TOOLS]
    assert said(Guardrails(), post_message, {"channel": "#a"}) is None
    assert Guardrails().usergroups() == frozenset()


def test_what_is_denied_stays_denied_whoever_else_allows_it() -> None:
    guardrails = rails(tools={"deny": ["post_*"]}, channels={"C1": {"tools": ["*"]}}, people={"U1": {"tools": ["post_message"]}})

    assert guardrails.denied(post_message)
    assert open_to(guardrails, BRUNO) == ["place_order", "get_order"]
    assert open_to(guardrails) == []
    assert "switched off" in str(said(guardrails, post_message, {"channel": "#a"}))


def test_a_channels_list_and_a_persons_list_must_both_allow() -> None:
    guardrails = rails(channels={"C1": {"tools": ["group:orders"]}}, people={"U1": {"tools": ["get_*", "post_message"]}})

    assert open_to(guardrails) == ["get_order"]
    assert open_to(guardrails, thread=ELSEWHERE) == ["post_message", "get_order"]
    assert open_to(guardrails, BRUNO) == ["place_order", "get_order"]
    assert "in this channel" in str(said(guardrails, post_message, {"channel": "#a"}))
    assert "The person who asked may not use" in str(said(guardrails, place_order, {"lines": []}))
    assert said(guardrails, get_order, {"order_id": "1"}) is None


def test_somebody_in_several_lists_may_use_what_any_of_them_allows_and_everybody_else_the_default() -> None:
    guardrails = rails(
        people={"U1": {"tools": ["post_message"]}, "default": {"tools": []}}, usergroups={"S1": {"tools": ["get_*"]}, "S2": {"tools": ["place_*"]}}
    )

    assert guardrails.usergroups() == {"S1", "S2"}
    assert open_to(guardrails) == ["post_message"]
    assert open_to(guardrails, groups=["S1"]) == ["post_message", "get_order"]
    assert open_to(guardrails, BRUNO, groups=["S1", "S2", "S9"]) == ["place_order", "get_order"]
    assert open_to(guardrails, BRUNO, groups=["S9"]) == []


def test_without_a_default_people_in_no_list_are_not_restricted() -> None:
    assert open_to(rails(people={"U1": {"tools": []}}), BRUNO) == [each.name for each in TOOLS]


def test_somebody_of_another_company_with_the_same_id_is_not_the_person_named() -> None:
    guardrails = rails(people={"U1": {"tools": ["*"]}, "default": {"tools": ["get_*"]}})

    assert open_to(guardrails, Actor(team_id="T2", user_id="U1")) == ["get_order"]


def test_groups_that_are_not_known_open_nothing_that_any_of_them_would_close() -> None:
    guardrails = rails(usergroups={"S1": {"tools": ["get_*"]}, "S2": {"tools": ["*"]}}, people={"U1": {"tools": ["post_message"]}})

    assert open_to(guardrails, BRUNO, groups=None) == ["get_order"]
    assert open_to(guardrails, groups=None) == ["post_message"]
    assert open_to(rails(channels={"C1": {}}), groups=None) == [each.name for each in TOOLS]


@given(st.sets(st.sampled_from(["S1", "S2", "S3"])), st.sampled_from(TOOLS), st.booleans(), st.booleans())
def test_what_is_open_with_unknown_groups_is_open_with_any(groups: set[str], wanted: Tool, own: bool, default: bool) -> None:
    people = {"U1": {"tools": ["post_message"]}} if own else {}
    people |= {"default": {"tools": ["get_*", "place_order"]}} if default else {}
    guardrails = rails(people=people, usergroups={"S1": {"tools": ["get_*"]}, "S2": {"tools": ["*"]}, "S3": {"tools": ["get_order", "post_message"]}})

    if guardrails.allows(wanted, thread=HERE, actor=ALICE, groups=None):
        assert guardrails.allows(wanted, thread=HERE, actor=ALICE, groups=groups)


# --- with what -------------------------------------------------------------------------------------------------------

ANNOUNCEMENTS = {"deny": "(?i)^#?announcements$", "reason": "Announcements are posted by people."}


@pytest.mark.parametrize(
    "channel",
    [
        *("announcements", "#announcements", "#Announcements", "＃ａｎｎｏｕｎｃｅｍｅｎｔｓ", "#announce\u200bments", "\ufeff#announcements"),
        *("#announcements\n", " announcements", "#ann\u00adouncements", "＃an\u200dｎｏuncements\u3000", "𝐚nnouncements"),
    ],
)
def test_a_denied_value_is_denied_in_every_disguise(channel: str) -> None:
    found = said(about("channel", **ANNOUNCEMENTS), post_message, {"channel": channel, "text": "x"})

    assert found == ("The value of 'channel' is not allowed by the rules of this workspace: Announcements are posted by people. It was not run.")


@given(st.text(alphabet="\u200b\u200d\u2060\ufeff\u00ad\u180e", max_size=4), st.integers(0, 13), st.booleans())
def test_neither_invisible_characters_nor_wide_ones_slip_through(between: str, at: int, wide: bool) -> None:
    word = "announcements"
    word = "".join(chr(ord(letter) + 0xFEE0) for letter in word) if wide else word
    assert normalize("NFKC", word) == "announcements"

    assert said(about("channel", **ANNOUNCEMENTS), post_message, {"channel": word[:at] + between + word[at:]}) is not None


@pytest.mark.parametrize("channel", ["general", "#announcements-eu", "公告"])
def test_other_values_pass(channel: str) -> None:
    assert said(about("channel", **ANNOUNCEMENTS), post_message, {"channel": channel}) is None


def test_a_sentence_tells_nothing_of_the_pattern_or_of_other_rules() -> None:
    guardrails = rails(
        arguments=[
            {"tool": "post_message", "argument": "channel", "deny": "secret-project", "reason": "Rule one"},
            {"tool": "post_message", "argument": "text", "deny": "acme"},
        ]
    )

    assert said(guardrails, post_message, {"channel": "x", "text": "acme"}) == (
        "The value of 'text' is not allowed by the rules of this workspace. It was not run."
    )


@pytest.mark.parametrize(
    ("order_id", "passes"),
    [("ABC-1", True), ("XYZ-1", False), ("", False), ("ABC-1\n", False), ("ABC-１", False), ("ABC\u200b-1", False), ("x ABC-1", False)],
)
def test_an_allowed_value_must_match_as_it_is_written_and_as_it_reads(order_id: str, passes: bool) -> None:
    assert (said(about("order_id", allow="^ABC-[0-9]+$"), get_order, {"order_id": order_id}) is None) is passes


def test_a_value_that_is_not_given_counts_as_an_empty_text() -> None:
    must, may = about("thread_ts", "post_message", allow="^1"), about("thread_ts", "post_message", allow="^(1|$)")

    for arguments in ({"channel": "x"}, {"channel": "x", "thread_ts": None}):
        assert said(must, post_message, arguments) is not None
        assert said(may, post_message, arguments) is None


def test_a_rule_for_every_tool_leaves_those_without_such_an_argument_alone() -> None:
    guardrails = about("order_id", allow="^ABC-")

    assert said(guardrails, post_message, {"channel": "x"}) is None
    assert said(guardrails, get_order, {"order_id": "X"}) is not None


@pytest.mark.parametrize(
    ("path", "deny", "refused"),
    [
        ("lines.sku", "^bad$", True),
        ("lines.tags", "^hot$", True),
        ("lines", "^bad$", True),  # everything below
        ("lines", "^tags$", True),  # names too
        ("lines.sku", "^hot$", False),
        ("count", "^3$", True),
        ("count.deeper", "^3$", False),
        ("lines.other", "^$", True),
    ],
)
def test_a_path_goes_through_every_list_and_into_everything_below(path: str, deny: str, refused: bool) -> None:
    arguments = {"lines": [{"sku": "good", "tags": []}, {"sku": "bad", "tags": ["cold", "hot"]}], "count": 3}

    assert (said(about(path, deny=deny), place_order, arguments) is not None) is refused


def test_an_allow_rule_holds_for_every_element() -> None:
    guardrails = about("lines.sku", allow="^A")

    assert said(guardrails, place_order, {"lines": [{"sku": "A1"}, {"sku": "A2"}]}) is None
    assert said(guardrails, place_order, {"lines": [{"sku": "A1"}, {"sku": "B2"}]}) is not None


def test_numbers_and_truth_are_read_as_json_writes_them() -> None:
    assert said(about("count", allow="^(true|1.5|12)$"), place_order, {"count": True}) is None
    assert said(about("count", allow="^(true|1.5|12)$"), place_order, {"count": 1.5}) is None
    assert said(about("count", allow="^(true|1.5|12)$"), place_order, {"count": 120}) is not None


@pytest.mark.parametrize("rule", [{"deny": r"(a|aa)+$"}, {"allow": r"^(a|aa)+$"}])
def test_a_pattern_that_backtracks_without_end_is_cut_off_and_the_call_refused(rule: dict[str, str]) -> None:
    with capture_logs() as logs:
        found = said(about("text", **rule), post_message, {"channel": "x", "text": "a" * 5_000 + "!"})

    assert "could not be checked" in str(found)
    assert [entry["event"] for entry in logs] == ["guardrail.unchecked"]


@pytest.mark.parametrize("value", ["x" * (MAX_VALUE + 1), ["x"] * (MAX_VALUES + 1)])
def test_more_than_a_rule_looks_at_is_refused(value: Any) -> None:
    assert "could not be checked" in str(said(about("text", deny="never"), post_message, {"channel": "x", "text": value}))


def test_what_a_rule_refuses_is_logged_without_the_value() -> None:
    with capture_logs() as logs:
        said(about("channel", **ANNOUNCEMENTS), post_message, {"channel": "#announcements"})

    assert [(entry["event"], entry["tool"], entry["argument"]) for entry in logs] == [("guardrail.refused", "post_message", "channel")]
    assert "announcements" not in str(logs)


# --- an operator's own checks ----------------------------------------------------------------------------------------

CHECKS = """
seen = []

def no_posts(tool_name, arguments, actor, thread):
    seen.append((tool_name, dict(arguments), actor.user_id, thread.channel_id))
    arguments["channel"] = "changed"
    return "No posts today." if tool_name == "post_message" else None

def breaks(tool_name, arguments, actor, thread):
    raise RuntimeError(arguments["channel"])

def unclear(tool_name, arguments, actor, thread):
    return False

def too_few(tool_name):
    return None

async def slow(tool_name, arguments, actor, thread):
    return None

number = 5
"""


@pytest.fixture
def checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """A module of checks, under a name of its own."""
    name = f"checks_{abs(hash(request.node.nodeid))}"
    (tmp_path / f"{name}.py").write_text(CHECKS, encoding="utf-8")
    (tmp_path / f"{name}_broken.py").write_text("import nothing_of_this_name\n", encoding="utf-8")
    (tmp_path / f"{name}_failing.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return name


def test_a_check_refuses_with_its_sentence_and_cannot_change_the_arguments(checks: str) -> None:
    guardrails, arguments = rails(arguments=[{"tool": "*", "check": f"{checks}:no_posts"}]), {"channel": "#a"}

    assert said(guardrails, post_message, arguments) == ("This call is not allowed by the rules of this workspace: No posts today. It was not run.")
    assert said(guardrails, get_order, {"order_id": "1"}) is None
    assert arguments == {"channel": "#a"}
    assert sys.modules[checks].seen == [("post_message", {"channel": "#a"}, "U1", "C1"), ("get_order", {"order_id": "1"}, "U1", "C1")]


@pytest.mark.parametrize(("name", "event"), [("breaks", "guardrail.check_failed"), ("unclear", "guardrail.check_unclear")])
def test_a_check_that_fails_or_says_nothing_clear_refuses(checks: str, name: str, event: str) -> None:
    with capture_logs() as logs:
        found = said(rails(arguments=[{"tool": "*", "check": f"{checks}:{name}"}]), post_message, {"channel": "#a"})

    assert "could not be checked" in str(found)
    assert [entry["event"] for entry in logs if entry["log_level"] != "debug"] == [event]


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("nowhere_at_all:x", "no module 'nowhere_at_all'. Check the spelling"),
        ("{}_broken:x", "no module 'nothing_of_this_name'"),
        ("{}_failing:x", "fails when imported: SystemExit"),
        ("{}:missing", "no function 'missing'"),
        ("{}:number", "no function 'number'"),
        ("{}:slow", "Write a plain one"),
        ("{}:too_few", "Give it these four parameters"),
    ],
)
def test_a_check_that_cannot_be_had_stops_the_start_with_a_remedy(checks: str, name: str, remedy: str) -> None:
    with pytest.raises(ToolLoadError) as error:
        rails(arguments=[{"tool": "*", "check": name.format(checks)}])

    assert remedy in str(error.value)


# --- the file --------------------------------------------------------------------------------------------------------


def test_the_file_reads_as_its_description_shows_it(tmp_path: Path) -> None:
    from bot import policy_file  # noqa: PLC0415 - its docstring is the example

    example = "\n".join(line.removeprefix("    ") for line in str(policy_file.__doc__).split("\n") if line.startswith("    "))
    path = tmp_path / "steward.toml"
    path.write_text(example, encoding="utf-8")

    file = read_policy_file(path)

    assert file.tools.deny == ("delete_*",)
    assert file.approvals.tools["cancel_order"].always_allow is False
    assert file.approvals.policy_for("x", default_expiry=1).always_for == 2_592_000
    assert file.approvals.policy_for("cancel_order", default_expiry=1).always_for == 0
    assert Guardrails.load(file).usergroups() == {"S0123ABCD"}
    assert said(Guardrails.load(file), post_message, {"channel": "Announcements"}, groups=["S0123ABCD"]) is not None


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ('[tools]\ndenny = ["x"]', ["tools.denny"]),
        ('[tools]\ndeny = ["a b"]', ["tools.deny"]),
        ('[channels.general]\ntools = ["x"]', ["channels.general"]),
        ('[channels.C1]\ntool = ["x"]', ["channels.C1.tool"]),
        ('[people.alice]\ntools = ["x"]', ["people.alice"]),
        ("[people.U1]\n", ["people.U1.tools"]),
        ('[usergroups.U1]\ntools = ["x"]', ["usergroups.U1"]),
        ('[[arguments]]\ntool = "x"\nargument = "y"', ["arguments.0", "exactly one of deny, allow and check"]),
        ('[[arguments]]\ntool = "x"\nargument = "y"\ndeny = "a"\nallow = "b"', ["arguments.0", "exactly one"]),
        ('[[arguments]]\ntool = "x"\ndeny = "a"', ["arguments.0", "say which argument"]),
        ('[[arguments]]\ntool = "x"\nargument = "y"\ncheck = "m:f"', ["arguments.0", "leave argument out"]),
        ('[[arguments]]\ntool = "x"\nargument = "y"\ndeny = "("', ["arguments.0.deny", "not a regular expression"]),
        ('[[arguments]]\ntool = "x"\ncheck = "m"', ["arguments.0.check"]),
        ("[approvals]\nalways_allow_max = 0", ["approvals.always_allow_max"]),
        ("[approvals]\nalways_alow = true", ["approvals.always_alow"]),
    ],
)
def test_what_the_file_cannot_mean_is_refused_with_its_place(tmp_path: Path, toml: str, words: list[str]) -> None:
    path = tmp_path / "steward.toml"
    path.write_text(toml, encoding="utf-8")

    with pytest.raises(PolicyFileError) as error:
        read_policy_file(path)

    assert [word for word in words if word not in str(error.value)] == []
    assert "\n" not in str(error.value)


def test_names_that_mean_nothing_are_found() -> None:
    guardrails = rails(
        tools={"deny": ["post_mesage", "nothing_*", "gh_anything"]},
        channels={"C1": {"tools": ["group:order", "group:github", "get_order"]}},
        arguments=[{"tool": "get_order", "argument": "order.id", "deny": "x"}, {"tool": "*", "argument": "whatever", "deny": "x"}],
        mcp={"github": {"command": ["x"], "prefix": "gh"}},
    )

    assert guardrails.mistakes(TOOLS) == [
        "there is no tool called 'post_mesage'",
        "there is no group of tools called 'order' (there are: github, orders, slack)",
        "the tool 'get_order' has no argument called 'order' (it has: order_id)",
    ]

"""From what a person said to what is remembered, end to end but for the model: which step each message leads to, and whether it is the right one.

    python -m evals.extraction_pipeline [--wrong]

Two sets. The labelled cases that name what was known and the step that follows are read by the rules and reconciled. The scripted answers play a
model that is right, careless or bribed: facts nobody stated, translations, negations turned round, other people's facts, quotations, secrets;
each is checked by code and reconciled. Printed for each set and step: how many were wanted, given and right, precision and recall, and how many
memories with a secret in them would have been stored, which has to be none. `--wrong` lists the cases that went wrong.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from evals.extraction import AT, step_cases
from memory.keys import Actor, Thread
from memory.longterm.access import PRIVATE, person
from memory.longterm.alike import is_han
from memory.longterm.candidate import Candidate, Read, Said
from memory.longterm.memory import Kind, Memory, Source, memory_id
from memory.longterm.reading import parsed
from memory.longterm.reading_checks import holds_secret
from memory.longterm.reconcile import reconcile

CORPUS: Final = Path(__file__).parents[1] / "tests" / "corpus" / "extraction"
SCRIPTED: Final = "pipeline_scripted.jsonl"
NOW: Final = 1_800_000_000.0
DAY: Final = 86_400.0
ACTOR: Final = Actor(team_id="T1", user_id="U1")
OWNER: Final = person(ACTOR)
THREAD: Final = Thread(team_id="T1", channel_id="D1")
STEPS: Final = ("add", "reinforce", "update", "supersede", "ask", "ignore")

Got = tuple[str, str]
"""A step and the key it is for."""


@dataclass(slots=True)
class Score:
    """What one set came to."""

    cases: int = 0
    wanted: Counter[str] = field(default_factory=Counter)
    given: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    secrets: int = 0
    wrong: list[str] = field(default_factory=list)

    def count(self, name: str, wanted: Sequence[Got], got: Sequence[Got]) -> None:
        """Add one case: a step is right when the same step was wanted for the same key."""
        self.cases += 1
        left = list(wanted)
        for step, _ in wanted:
            self.wanted[step] += 1
        for each in got:
            self.given[each[0]] += 1
            if (
                match := next((one for one in left if one[0] == each[0] and (one[1] == each[1] or (one[1].endswith(":") and each[1].startswith(one[1])))), None)
            ) is not None:
                left.remove(match)
                self.right[each[0]] += 1
        if len(got) != len(wanted) or left:
            self.wrong.append(f"{name}: wanted {list(wanted)}, got {list(got)}")

    def lines(self, title: str) -> Iterable[str]:
        """The table."""
        yield f"{title}: {self.cases} cases, {self.cases - len(self.wrong)} wholly right, {self.secrets} secrets stored"
        yield f"  {'step':<10}{'wanted':>8}{'given':>8}{'right':>8}{'precision':>11}{'recall':>8}"
        for step in (*STEPS, "all"):
            wanted, given, right = (sum(each.values()) if step == "all" else each[step] for each in (self.wanted, self.given, self.right))
            if wanted or given:
                yield f"  {step:<10}{wanted:>8}{given:>8}{right:>8}{_share(right, given):>11}{_share(right, wanted):>8}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


def read_cases(path: Path) -> list[dict[str, Any]]:
    """One case a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def memory_of(raw: dict[str, Any], at: float) -> Memory:
    """A known memory of a case, from the fields that it gives."""
    fields = {name: raw[name] for name in ("key", "text", "value", "negated", "condition", "single", "always", "sensitive") if name in raw}
    return Memory(
        id=memory_id(OWNER, raw["key"], raw["text"]),
        owner=OWNER,
        kind=Kind(raw.get("kind", "fact")),
        audience=PRIVATE,
        source=Source(thread=THREAD, ts=f"{at:.6f}", said_by=ACTOR),
        created=at,
        language="zh" if is_han(raw["text"]) else "en",
        **fields,
    )


def said_of_case(text: str, *, at: float = NOW, **more: Any) -> Said:
    """A case's message."""
    return Said(text=text, ts=f"{at:.6f}", at=at, language="zh" if is_han(text) else "en", **more)


def steps_of(candidates: Sequence[Candidate], known: Sequence[Memory], score: Score, at: float = NOW) -> list[Got]:
    """What each candidate leads to, one after the other; counts those with a secret in what would be stored."""
    got: list[Got] = []
    for number, candidate in enumerate(candidates):
        verdict = reconcile(candidate, known, audience=PRIVATE, said_at=at, memory_id=memory_id(OWNER, str(at), str(number)))
        got.append((verdict.step, candidate.key))
        stored = verdict.step in {"add", "update", "supersede", "ask"}
        score.secrets += stored and any(map(holds_secret, (candidate.text, candidate.value, candidate.condition, candidate.key)))
    return got


def answer_of(case: dict[str, Any]) -> str:
    """The scripted model's answer: what the case gives, the rest filled in with the message itself."""
    if "raw" in case:
        return str(case["raw"])
    blank = {
        "message": 1,
        "kind": "fact",
        "value": "",
        "condition": "",
        "single": False,
        "always": False,
        "retracts": False,
        "text": case["say"],
        "quote": case["say"],
    }
    return json.dumps({"memories": [blank | item for item in case["answer"]]}, ensure_ascii=False)


def scripted(cases: Sequence[dict[str, Any]]) -> Score:
    """The scripted answers through the checks and the comparison."""
    score = Score()
    for case in cases:
        known = [memory_of(raw, NOW - DAY) for raw in case.get("known", ())]
        said = said_of_case(case["say"], before=case.get("before", ""), direct=case.get("direct", False))
        read = parsed(answer_of(case), [said], known)
        score.count(case["id"], [(step, key) for step, key in case["want"]], steps_of(read.candidates, known, score))
    return score


def labelled(cases: Sequence[dict[str, Any]], read: Callable[[Said], Read]) -> Score:
    """The labelled cases with a `step`, read by the rules: `text` is what was said, `known` the memories there were, `key` what the step is for."""
    score = Score()
    for number, case in enumerate(cases):
        if "step" not in case:
            continue
        at = case.get("at", NOW)
        known = [memory_of(raw, raw.get("at", NOW - DAY)) for raw in case.get("known", ())]
        got = steps_of(read(said_of_case(case["text"], at=at, earlier=case.get("earlier", ""))).candidates, known, score, at)
        got = [next((each for each in got if each[0] != "add"), got[0])] if got else []  # the rest is new beside what is compared
        key = case.get("key") or next((each for _, each in got), "")
        score.count(str(case.get("id", number)), [(case["step"], key)], got)
    return score


def labelled_cases() -> list[dict[str, Any]]:
    """Every labelled case that names what was known and the step that follows."""
    fields = ("kind", "key", "text", "value", "negated", "single", "condition")
    return [
        {
            "id": case.text,
            "text": case.text,
            "step": case.step,
            "at": AT,
            "earlier": case.earlier,
            "known": [{name: getattr(case.known, name) for name in fields} | {"at": case.known.created}],
        }
        for case in step_cases()
    ]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--wrong", action="store_true", help="list the cases that went wrong")
    wrong = parser.parse_args().wrong
    from memory.longterm.rules import read  # noqa: PLC0415 - the scripted half and its tests need no rules

    for title, score in (("rules", labelled(labelled_cases(), read)), ("scripted model", scripted(read_cases(CORPUS / SCRIPTED)))):
        print("\n".join(score.lines(title)))
        if wrong:
            print("\n".join(f"  {line}" for line in score.wrong))


if __name__ == "__main__":
    main()

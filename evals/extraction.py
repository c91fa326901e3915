"""How well rules read what people tell about themselves: precision and recall over labelled messages, and how many secrets would be kept.

`python -m evals.extraction [--failures]`. The labels are in tests/corpus/extraction: `said.tsv` (language, message, what is right: kinds with
keys, `!` where it says that something is not so, `?` where it holds in a case only; `nothing`; or `refused` and why) and `steps.tsv` (what is
to be done with a message when something is known already). Of every three messages the third is held out: the rules were not changed for it.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memory.keys import Actor, Thread
from memory.longterm.access import WORKSPACE, person
from memory.longterm.candidate import Candidate, Read, Said
from memory.longterm.memory import Kind, Memory, Source
from memory.longterm.reconcile import reconcile
from memory.longterm.rules import read

CORPUS: Final = Path(__file__).parents[1] / "tests" / "corpus" / "extraction"
AT: Final = 1_764_547_200.0
"""When everything is said: a Monday."""
_LABEL: Final = re.compile(r"(?P<sign>[!?]?)(?P<kind>fact|preference|plan|agreement)(?: (?P<key>.+))?")


@dataclass(frozen=True, slots=True)
class Label:
    """One thing that should be kept."""

    kind: str
    key: str = ""
    negated: bool = False
    conditional: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """One labelled message."""

    number: int
    language: str
    text: str
    expected: tuple[Label, ...]
    refused: str = ""

    @property
    def held_out(self) -> bool:
        """Whether the rules were not tuned on it."""
        return self.number % 3 == 2

    def said(self) -> Said:
        """The message."""
        return Said(text=self.text, ts=f"{AT:.6f}", at=AT, language=self.language)


def cases() -> list[Case]:
    """All labelled messages."""
    lines = (CORPUS / "said.tsv").read_text(encoding="utf-8").splitlines()
    return [_case(number, *line.split("\t")) for number, line in enumerate(lines) if line]


def _case(number: int, language: str, text: str, wanted: str) -> Case:
    if wanted == "nothing" or wanted.startswith("refused "):
        return Case(number, language, text, (), wanted.removeprefix("refused ").removeprefix("nothing"))
    labels = []
    for part in wanted.split(" & "):
        match = _LABEL.fullmatch(part)
        if match is None:
            raise ValueError(f"line {number + 1}: {part!r} is no label")
        labels.append(Label(match["kind"], match["key"] or "", match["sign"] == "!", match["sign"] == "?"))
    return Case(number, language, text, tuple(labels))


def right(candidate: Candidate, label: Label) -> bool:
    """Whether a candidate is what a label says: its kind, its key where one is named, whether it is denied, and whether it holds in a case only."""
    denied = candidate.negated or candidate.retracts
    key = not label.key or candidate.key == label.key or candidate.key.startswith(f"{label.key}:")
    same_kind = candidate.kind.value == label.kind or {candidate.kind.value, label.kind} <= {"fact", "preference"}
    return same_kind and key and denied == label.negated and bool(candidate.condition) == label.conditional


@dataclass(frozen=True, slots=True)
class Scored:
    """How one case went."""

    case: Case
    found: Read
    hits: int
    reason_right: bool


def scored(wanted: Sequence[Case]) -> list[Scored]:
    """Read each message and hold it against its labels."""
    results = []
    for case in wanted:
        found = read(case.said())
        left = list(found.candidates)
        hits = 0
        for label in case.expected:
            match = next((candidate for candidate in left if right(candidate, label)), None)
            if match is not None:
                left.remove(match)
                hits += 1
        results.append(Scored(case, found, hits, not case.refused or case.refused in {each.value for each in found.refused}))
    return results


def figures(results: Sequence[Scored]) -> dict[str, float]:
    """Precision, recall, how often a refusal names its reason, and how many secrets would be kept."""
    kept = sum(len(each.found.candidates) for each in results)
    hits = sum(each.hits for each in results)
    wanted = sum(len(each.case.expected) for each in results)
    refusals = [each for each in results if each.case.refused]
    return {
        "cases": len(results),
        "precision": hits / kept if kept else 1.0,
        "recall": hits / wanted if wanted else 1.0,
        "reasons": sum(each.reason_right for each in refusals) / len(refusals) if refusals else 1.0,
        "kept_though_refused": sum(bool(each.found.candidates) for each in refusals),
        "secrets_kept": sum(bool(each.found.candidates) for each in results if each.case.refused == "secret"),
    }


def wrong(results: Sequence[Scored]) -> Iterator[str]:
    """A line for each case that is not wholly right."""
    for each in results:
        candidates = each.found.candidates
        if each.hits != len(each.case.expected) or len(candidates) != each.hits or not each.reason_right:
            shown = [f"{'!' if c.negated or c.retracts else ''}{'?' if c.condition else ''}{c.kind.value} {c.key}" for c in candidates]
            yield f"{each.case.text}  wanted {[f'{label.kind} {label.key}' for label in each.case.expected] or each.case.refused or 'nothing'}  found {shown}"


# --- against what is known ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StepCase:
    """One message beside one known memory, and what is to be done."""

    step: str
    text: str
    known: Memory


def step_cases() -> list[StepCase]:
    """All of them."""
    lines = (CORPUS / "steps.tsv").read_text(encoding="utf-8").splitlines()
    return [_step_case(*[*line.split("\t"), "", ""][:5]) for line in lines if line]


def _step_case(step: str, text: str, known: str, value: str, mark: str) -> StepCase:
    kind, key, words = _known(known)
    actor = Actor(team_id="T1", user_id="U1")
    source = Source(thread=Thread(team_id="T1", channel_id="C1"), ts="1.0", said_by=actor)
    memory = Memory(
        id="known",
        owner=person(actor),
        kind=Kind(kind),
        key=key,
        text=words,
        value=value,
        negated="neg" in mark,
        single="single" in mark,
        audience=WORKSPACE,
        source=source,
        created=AT - 86_400,
        updated=AT - 86_400,
        language="zh" if any("\u4e00" <= char <= "\u9fff" for char in words) else "en",
    )
    return StepCase(step, text, memory)


def _known(text: str) -> tuple[str, str, str]:
    kind, rest = text.split(" ", 1)
    multi = re.match(r"((?:[a-z_]+:)?(?:green tea|spicy food|[\w:]+)) (.+)", rest)
    if multi is None:
        raise ValueError(f"{text!r} is no known memory")
    return kind, multi[1], multi[2]


def step_of(case: StepCase) -> str:
    """What would be done."""
    language = "zh" if any("\u4e00" <= char <= "\u9fff" for char in case.text) else "en"
    found = read(Said(text=case.text, ts=f"{AT:.6f}", at=AT, language=language))
    if not found.candidates:
        return "nothing"
    return reconcile(found.candidates[0], [case.known], audience=WORKSPACE, said_at=AT, memory_id="new").step


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--failures", action="store_true", help="show the messages that are not read rightly, of the part that may be tuned on")
    wants = parser.parse_args()
    results = scored(cases())
    parts = {
        "all": results,
        "tuned on": [each for each in results if not each.case.held_out],
        "held out": [each for each in results if each.case.held_out],
        "English": [each for each in results if each.case.language == "en"],
        "Chinese": [each for each in results if each.case.language == "zh"],
    }
    for name, part in parts.items():
        told = figures(part)
        print(f"{name:9} " + "  ".join(f"{key} {value:.3f}" if isinstance(value, float) else f"{key} {value}" for key, value in told.items()))
    steps = step_cases()
    by_step: Counter[tuple[str, bool]] = Counter((case.step, step_of(case) == case.step) for case in steps)
    told_steps = (f"{step} {by_step[step, True]}/{by_step[step, True] + by_step[step, False]}" for step in sorted({case.step for case in steps}))
    print("steps     " + "  ".join(told_steps))
    if wants.failures:
        print("\n".join(wrong(parts["tuned on"])))
        print("\n".join(f"{case.text}  wanted {case.step}  did {did}" for case in steps if (did := step_of(case)) != case.step))


if __name__ == "__main__":
    main()

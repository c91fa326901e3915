"""How well rules read what people tell about themselves: precision and recall over labelled messages, and how many secrets would be kept.

`python -m evals.extraction [--failures] [--held-out-failures]`. The labels are in tests/corpus/extraction: `said.tsv` (language, message, what is right:
kinds with keys, `=` with the value in its normal form, `!` where it says that something is not so, `?` where it holds in a case only; `nothing`; or
`refused` and why), `held_out.tsv` (the same, written before the rules were changed last and not tuned on) and `steps.tsv` (what is to be done with
a message when something is known already).
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memory.keys import Actor, Thread
from memory.longterm.access import WORKSPACE, person
from memory.longterm.candidate import Candidate, Read, Said
from memory.longterm.memory import Kind, Memory, Source
from memory.longterm.reconcile import reconcile
from memory.longterm.rules import read

CORPUS: Final = Path(__file__).parents[1] / "tests" / "corpus" / "extraction"
AT: Final = 1_764_547_200.0
"""When everything is said: a Monday."""
FIRST: Final = 309
"""Cases of the first set."""
_LABEL: Final = re.compile(r"(?P<sign>[!?]?)(?P<kind>fact|preference|plan|agreement)(?: (?P<key>[^=]+))?(?:=(?P<value>.+))?")


@dataclass(frozen=True, slots=True)
class Label:
    """One thing that should be kept."""

    kind: str
    key: str = ""
    value: str = ""
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
        """Whether it is of the third of the first cases that the rules were not tuned on at first; what came later was tuned on."""
        return self.number % 3 == 2 and self.number < FIRST

    def said(self) -> Said:
        """The message."""
        return Said(text=self.text, ts=f"{AT:.6f}", at=AT, language=self.language)


def cases(name: str = "said.tsv") -> list[Case]:
    """All labelled messages of a file."""
    lines = (CORPUS / name).read_text(encoding="utf-8").splitlines()
    return [_case(number, *line.split("\t")) for number, line in enumerate(lines) if line]


def _case(number: int, language: str, text: str, wanted: str) -> Case:
    if wanted == "nothing" or wanted.startswith("refused "):
        return Case(number, language, text, (), wanted.removeprefix("refused ").removeprefix("nothing"))
    labels = []
    for part in wanted.split(" & "):
        match = _LABEL.fullmatch(part)
        if match is None:
            raise ValueError(f"line {number + 1}: {part!r} is no label")
        labels.append(Label(match["kind"], match["key"] or "", match["value"] or "", match["sign"] == "!", match["sign"] == "?"))
    return Case(number, language, text, tuple(labels))


def right(candidate: Candidate, label: Label) -> bool:
    """Whether a candidate is what a label says: its kind, its key and value where they are named, whether it is denied, and whether it holds in a case only."""
    denied = candidate.negated or candidate.retracts
    key = not label.key or candidate.key == label.key or candidate.key.startswith(f"{label.key}:")
    same_kind = candidate.kind.value == label.kind or {candidate.kind.value, label.kind} <= {"fact", "preference"}
    value = not label.value or candidate.value == label.value
    return same_kind and key and value and denied == label.negated and bool(candidate.condition) == label.conditional


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
        if not whole(each):
            shown = [f"{'!' if c.negated or c.retracts else ''}{'?' if c.condition else ''}{c.kind.value} {c.key}" for c in candidates]
            yield f"{each.case.text}  wanted {[f'{label.kind} {label.key}' for label in each.case.expected] or each.case.refused or 'nothing'}  found {shown}"


# --- against what is known ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StepCase:
    """One message beside one known memory, and what is to be done."""

    step: str
    text: str
    known: Memory
    earlier: str = ""
    """What the person said just before, where the memory was read from it."""


_WHEN: Final = {"later": AT + 3_600, "together": AT}
"""When the known one was said, where it was not the day before: afterwards, or in the same moment."""


def step_cases() -> list[StepCase]:
    """All of them."""
    lines = (CORPUS / "steps.tsv").read_text(encoding="utf-8").splitlines()
    return [_step_case(*[*line.split("\t"), "", ""][:5]) for line in lines if line]


def _step_case(step: str, text: str, known: str, value: str, mark: str) -> StepCase:
    at = next((time for word, time in _WHEN.items() if word in mark), AT - 86_400)
    if known.startswith("said "):
        earlier = known.removeprefix("said ")
        found = read(_said(earlier)).candidates
        if not found:
            raise ValueError(f"nothing is read from {earlier!r}")
        names = ("kind", "key", "text", "value", "negated", "single", "condition", "always")
        return StepCase(step, text, _memory(at, **{name: getattr(found[0], name) for name in names}), earlier)
    kind, key, words = _known(known)
    return StepCase(step, text, _memory(at, kind=Kind(kind), key=key, text=words, value=value, negated="neg" in mark, single="single" in mark))


def _memory(at: float, **fields: Any) -> Memory:
    actor = Actor(team_id="T1", user_id="U1")
    source = Source(thread=Thread(team_id="T1", channel_id="C1"), ts="1.0", said_by=actor)
    return Memory(id="known", owner=person(actor), audience=WORKSPACE, source=source, created=at, updated=at, language=_tongue(fields["text"]), **fields)


def _tongue(text: str) -> str:
    return "zh" if any("\u4e00" <= char <= "\u9fff" for char in text) else "en"


def _said(text: str, earlier: str = "") -> Said:
    return Said(text=text, ts=f"{AT:.6f}", at=AT, language=_tongue(text), earlier=earlier)


def _known(text: str) -> tuple[str, str, str]:
    kind, rest = text.split(" ", 1)
    multi = re.match(r"((?:[a-z_]+:)?(?:green tea|spicy food|[\w:]+)) (.+)", rest)
    if multi is None:
        raise ValueError(f"{text!r} is no known memory")
    return kind, multi[1], multi[2]


def step_of(case: StepCase) -> str:
    """What would be done; of several statements the first one's step that is not that it is new."""
    found = read(_said(case.text, case.earlier)).candidates
    steps = [reconcile(each, [case.known], audience=WORKSPACE, said_at=AT, memory_id="new").step for each in found]
    return next((step for step in steps if step != "add"), steps[0] if steps else "nothing")


KINDS_OF_CASE: Final = ("fact", "preference", "plan", "agreement", "nothing", "secret", "sensitive", "anothers", "authority")


def by_label(results: Sequence[Scored]) -> Iterator[str]:
    """A line for each label and language: cases, how many are wholly right, and precision and recall where something is to be kept."""
    for label in KINDS_OF_CASE:
        for language in ("en", "zh"):
            part = [each for each in results if each.case.language == language and _label_of(each.case) == label]
            if not part:
                continue
            told = figures(part)
            kept = (
                f"  precision {told['precision']:.3f}  recall {told['recall']:.3f}"
                if label in KINDS_OF_CASE[:4]
                else f"  kept {sum(len(each.found.candidates) for each in part)}"
            )
            yield f"  {label:10} {language}  {sum(whole(each) for each in part):3}/{len(part):<3}{kept}"


def _label_of(case: Case) -> str:
    return case.expected[0].kind if case.expected else case.refused or "nothing"


def whole(result: Scored) -> bool:
    """Whether a case went wholly right: everything wanted was found, nothing else, and a refusal names its reason."""
    return result.hits == len(result.case.expected) == len(result.found.candidates) and result.reason_right


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--failures", action="store_true", help="show the messages that are not read rightly, of the part that may be tuned on")
    parser.add_argument("--held-out-failures", action="store_true", help="show those of the held-out file too: to find faults, not to tune")
    wants = parser.parse_args()
    results, fresh = scored(cases()), scored(cases("held_out.tsv"))
    parts = {
        "all": results,
        "tuned on": [each for each in results if not each.case.held_out],
        "English": [each for each in results if each.case.language == "en"],
        "Chinese": [each for each in results if each.case.language == "zh"],
        "held out": fresh,
        "  English": [each for each in fresh if each.case.language == "en"],
        "  Chinese": [each for each in fresh if each.case.language == "zh"],
    }
    for name, part in parts.items():
        told = figures(part)
        print(f"{name:9} " + "  ".join(f"{key} {value:.3f}" if isinstance(value, float) else f"{key} {value}" for key, value in told.items()))
    print("by label, all:", *by_label(results), "by label, held out:", *by_label(fresh), sep="\n")
    steps = step_cases()
    by_step: Counter[tuple[str, bool]] = Counter((case.step, step_of(case) == case.step) for case in steps)
    told_steps = (f"{step} {by_step[step, True]}/{by_step[step, True] + by_step[step, False]}" for step in sorted({case.step for case in steps}))
    print("steps     " + "  ".join(told_steps))
    if wants.failures:
        print("\n".join(wrong(parts["tuned on"])))
        print("\n".join(f"{case.text}  wanted {case.step}  did {did}" for case in steps if (did := step_of(case)) != case.step))
    if wants.held_out_failures:
        print("\n".join(wrong(fresh)))


if __name__ == "__main__":
    main()

"""The contract of the store of memories, run on both engines."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import numpy as np
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.longterm.access import Owner
from memory.longterm.store import Hit, Record, Where
from tests.fakes.stores import ENGINES, Engine, one_id, opened, person, record, texts, vector

ANN, BEN = person("U1"), person("U2")
ROOM = Owner(team_id="T1", kind="room", id="C1")


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=ENGINES)
async def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Engine]:
    async with opened(request.param, tmp_path_factory.mktemp("store") / "store") as it:
        yield it


@pytest_asyncio.fixture(loop_scope="module")
async def store(engine: Engine) -> Engine:
    """Empty."""
    for team in ("T1", "T2"):
        await engine.delete_team(team)
    return engine


def said(hits: list[Hit]) -> set[str]:
    return {str(hit.record.payload["text"]) for hit in hits}


def plain(each: Record) -> tuple[object, ...]:
    return (each.id, each.owner, each.what, each.payload, each.audience, each.kind, each.key, each.live, each.at, dict(each.words))


async def test_a_record_comes_back_as_it_was_put(store: Engine) -> None:
    full = record(
        "allergy", dense=vector(1, 2, 3, 4), words={7: 1.5, 4_294_967_295: 0.25}, at=1.75e9 + 0.123456, audience="channel:C1", key="allergy:peanut", live=False
    )
    bare = record("bare", what="settings")
    await store.put([full, bare])
    got = await store.get(ANN, [bare.id, one_id("never"), full.id])
    assert [plain(each) for each in got] == [plain(bare), plain(full)]
    assert got[0].dense is None
    assert got[1].dense is not None
    assert full.dense is not None
    np.testing.assert_allclose(got[1].dense, full.dense, atol=1e-6)


@pytest.mark.parametrize(
    "text", ["花生过敏 🥜", "half \ud800 a pair", "a\0b", 'quotes " \\ \n', "x" * 200_000], ids=["chinese", "surrogate", "nul", "quotes", "big"]
)
async def test_any_text_comes_back_exactly(store: Engine, text: str) -> None:
    deep = {"text": text, "n": 2**70, "list": [1, {"a": None}], "f": 0.1}
    await store.put([replace(record("any"), payload=deep)])
    assert (await store.get(ANN, [one_id("any")]))[0].payload == deep
    assert (await store.list(Where((ANN,)), limit=1))[0].payload == deep


async def test_a_key_with_half_a_character_is_kept_and_found(store: Engine) -> None:
    await store.put([record("odd", key="key \ud800")])
    assert texts(await store.list(Where((ANN,), keys=("key \ud800",)), limit=5)) == ["odd"]


async def test_putting_again_replaces_and_existing_only_never_brings_back(store: Engine) -> None:
    await store.put([record("a", text="old", words={1: 1.0}), record("b")])
    await store.put([record("a", text="new", words={2: 1.0})])
    assert texts(await store.get(ANN, [one_id("a")])) == ["new"]
    assert said(await store.search(Where((ANN,)), dense=None, words={1: 1.0}, limit=5)) == set()
    await store.delete(ANN, [one_id("a")])
    await store.put([record("a", text="back"), record("b", text="changed"), record("c")], existing=True)
    assert texts(await store.list(Where((ANN,)), limit=5)) == ["changed"]
    await store.put([record("d", BEN)], existing=True)
    assert await store.count(Where((BEN,))) == 0


async def test_search_brings_each_record_once_with_the_scores_of_both_legs(store: Engine) -> None:
    await store.put(
        [
            record("both", dense=vector(1, 0, 0, 0), words={1: 2.0, 2: 1.0}),
            record("meaning", dense=vector(1, 1, 0, 0)),
            record("words", words={1: 1.0}),
            record("other", words={3: 1.0}),
        ]
    )
    hits = {str(hit.record.payload["text"]): hit for hit in await store.search(Where((ANN,)), dense=vector(1, 0, 0, 0), words={1: 1.0}, limit=10)}
    assert set(hits) == {"both", "meaning", "words"}
    assert hits["both"].dense == pytest.approx(1.0, abs=1e-5)
    assert hits["meaning"].dense == pytest.approx(0.7071, abs=1e-3)
    assert (hits["meaning"].words, hits["words"].dense) == (None, None)
    assert hits["words"].words is not None
    assert hits["both"].words == pytest.approx(2 * hits["words"].words, rel=1e-4)


async def test_the_weight_of_a_word_depends_on_its_owners_records_alone(store: Engine) -> None:
    await store.put([record("mine", words={1: 1.0}), record("mine too", words={2: 1.0})])
    before = await store.search(Where((ANN,)), dense=None, words={1: 1.0}, limit=5)
    await store.put([record(f"theirs {n}", BEN, words={1: 1.0}) for n in range(30)])
    after = await store.search(Where((ANN,)), dense=None, words={1: 1.0}, limit=5)
    assert [hit.words for hit in before] == [hit.words for hit in after]


async def test_a_search_without_words_without_a_vector_or_without_owners_brings_nothing(store: Engine) -> None:
    await store.put([record("a", dense=vector(1, 0, 0, 0), words={1: 1.0})])
    assert await store.search(Where((ANN,)), dense=None, words={}, limit=5) == []
    assert await store.search(Where(()), dense=vector(1, 0, 0, 0), words={1: 1.0}, limit=5) == []
    assert await store.list(Where(()), limit=5) == []
    assert await store.count(Where(())) == 0
    assert await store.list(Where((ANN,)), limit=0) == []


async def test_filters_hold_inside_both_legs_even_when_better_records_lie_outside(store: Engine) -> None:
    hidden = [record(f"hidden {n}", dense=vector(1, 0, 0, 0), words={1: 9.0}, audience="private") for n in range(20)]
    seen = [
        record("seen", dense=vector(1, 1, 1, 1), words={1: 0.1}, audience="workspace"),
        record("here", dense=vector(0, 1, 0, 0), words={1: 0.1}, audience="channel:C1"),
    ]
    await store.put([*hidden, *seen])
    where = Where((ANN,), audiences=frozenset({"workspace", "channel:C1"}))
    for hit in (hits := await store.search(where, dense=vector(1, 0, 0, 0), words={1: 1.0}, limit=2)):
        assert hit.dense is not None
        assert hit.words is not None
    assert said(hits) == {"seen", "here"}
    assert await store.search(Where((ANN,), audiences=frozenset()), dense=vector(1, 0, 0, 0), words={1: 1.0}, limit=5) == []


async def test_the_best_of_several_owners_are_the_best_of_all(store: Engine) -> None:
    await store.put([record(f"p{n}", ANN, dense=vector(1, n, 0, 0)) for n in range(4)])
    await store.put([record(f"r{n}", ROOM, dense=vector(1, n + 0.5, 0, 0)) for n in range(4)])
    await store.put([record("else", BEN, dense=vector(1, 0, 0, 0))])
    assert said(await store.search(Where((ANN, ROOM)), dense=vector(1, 0, 0, 0), words={}, limit=3)) == {"p0", "r0", "p1"}
    assert await store.count(Where((ANN, ROOM))) == 8


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Where((ANN,)), ["d", "c", "b", "a"]),
        (Where((ANN,), kinds=("fact", "plan")), ["c", "a"]),
        (Where((ANN,), keys=("colour",)), ["d", "b"]),
        (Where((ANN,), live=True), ["d", "b", "a"]),
        (Where((ANN,), live=False), ["c"]),
        (Where((ANN,), since=2.0, until=4.0), ["c", "b"]),
        (Where((ANN,), what="change"), ["e"]),
        (Where((ANN,), audiences=frozenset({"workspace"})), ["d"]),
    ],
    ids=["all", "kinds", "keys", "live", "dead", "time", "what", "audience"],
)
async def test_list_and_count_agree_on_every_filter(store: Engine, where: Where, expected: list[str]) -> None:
    await store.put(
        [
            record("a", at=1.0, kind="fact"),
            record("b", at=2.0, kind="habit", key="colour"),
            record("c", at=3.0, kind="plan", live=False),
            record("d", at=4.0, kind="habit", key="colour", audience="workspace"),
            record("e", at=5.0, what="change"),
        ]
    )
    assert texts(await store.list(where, limit=10)) == expected
    assert await store.count(where) == len(expected)


@pytest.mark.parametrize("size", [1, 3, 7, 50])
async def test_paging_shows_everything_once_newest_first_even_at_equal_moments(store: Engine, size: int) -> None:
    put = [record(f"n{n}", at=float([0, 0, 0, 0, 1, 1, 1, 2, 3, 3][n % 10])) for n in range(30)]
    await store.put(put)
    seen: list[Record] = []
    while page := await store.list(Where((ANN,)), limit=size, before=(seen[-1].at, seen[-1].id) if seen else None):
        seen += page
    assert [(each.at, each.id) for each in seen] == sorted(((each.at, each.id) for each in put), reverse=True)


async def test_list_gives_vectors_where_they_are_asked_for(store: Engine) -> None:
    await store.put([record("a", dense=vector(1, 0, 0, 0), words={3: 1.0})])
    with_them = (await store.list(Where((ANN,)), limit=1, vectors=True))[0]
    assert with_them.dense is not None
    assert dict(with_them.words) == {3: 1.0}
    assert (await store.list(Where((ANN,)), limit=1))[0].dense is None


async def test_delete_counts_what_was_there_and_reaches_only_the_owners(store: Engine) -> None:
    await store.put([record("a"), record("b"), record("a", BEN)])
    assert await store.delete(ANN, [one_id("a"), one_id("a"), one_id("never")]) == 1
    assert await store.delete(ANN, [one_id("a")]) == 0
    assert await store.delete(ANN, []) == 0
    assert texts(await store.list(Where((ANN,)), limit=5)) == ["b"]
    assert texts(await store.list(Where((BEN,)), limit=5)) == ["a"]


async def test_deleting_an_owner_keeps_what_is_to_be_kept(store: Engine) -> None:
    await store.put([record("m"), record("c", what="change"), record("s", what="settings"), record("x", BEN)])
    assert await store.delete_owner(ANN, keep=("settings",)) == 2
    assert await store.count(Where((ANN,), what="settings")) == 1
    assert await store.delete_owner(ANN) == 1
    assert await store.delete_owner(ANN) == 0
    assert [owner async for owner in store.owners()] == [BEN]


async def test_deleting_a_team_leaves_the_others(store: Engine) -> None:
    other = [person(f"U{n}", "T2") for n in range(4)]
    await store.put([record("m", owner) for owner in (ANN, BEN, ROOM, *other)])
    assert {owner async for owner in store.owners("T1")} == {ANN, BEN, ROOM}
    assert await store.delete_team("T1") == 3
    assert [owner async for owner in store.owners("T1")] == []
    assert {owner async for owner in store.owners()} == set(other)
    assert (await store.stats())["memory"] == 4


async def test_what_a_search_found_once_is_found_as_it_is_now(store: Engine) -> None:
    """Whatever an engine keeps at hand of what it found."""

    async def found() -> dict[str, tuple[object, ...]]:
        hits = await store.search(Where((ANN, ROOM)), dense=vector(1, 0, 0, 0), words={1: 1.0}, limit=50)
        return {hit.record.id: plain(hit.record)[1:9] for hit in hits}

    def one(name: str, owner: Owner = ANN, **rest: object) -> Record:
        return replace(record(name, owner, dense=vector(1, 1, 0, 0), words={1: 1.0}), **rest)  # type: ignore[arg-type]

    first = [one("a"), one("b"), one("c"), one("room", ROOM), one("theirs", BEN)]
    await store.put(first)
    before = await found()
    assert set(before) == {each.id for each in first[:4]}
    assert await found() == before
    changed = one("a", payload={"text": "另一个"}, audience="workspace", kind="plan", key="k", at=5.0)
    await store.put([changed])
    assert (await found())[changed.id] == plain(changed)[1:9]
    changed = replace(changed, payload={"text": "third"})
    await store.put([changed], existing=True)
    assert (await found())[changed.id] == plain(changed)[1:9]
    await store.delete(ANN, [one_id("b")])
    assert set(await found()) == {one_id("a"), one_id("c"), one_id("room")}
    await store.scrub()
    assert (await found())[changed.id] == plain(changed)[1:9]
    await store.delete_owner(ANN)
    assert set(await found()) == {one_id("room")}
    await store.put([one("b", payload={"text": "back, and new"})])
    assert {one: row[2] for one, row in (await found()).items()} == {one_id("b"): {"text": "back, and new"}, one_id("room"): {"text": "room"}}
    await store.delete_team("T1")
    assert await found() == {}
    await store.put([one("room", ROOM, payload={"text": "after"})])
    assert [row[2] for row in (await found()).values()] == [{"text": "after"}]


async def test_scrubbing_keeps_everything_that_was_not_deleted(store: Engine) -> None:
    keep = [record(f"keep {n}", dense=vector(1, n, 0, 0), words={n: 1.0}, at=float(n), key=f"k{n}") for n in range(10)]
    await store.put([*keep, record("gone")])
    await store.delete(ANN, [one_id("gone")])
    await store.scrub()
    got = await store.list(Where((ANN,)), limit=20, vectors=True)
    assert [plain(each) for each in got] == [plain(each) for each in reversed(keep)]
    assert said(await store.search(Where((ANN,)), dense=None, words={3: 1.0}, limit=5)) == {"keep 3"}


async def test_a_vector_of_another_size_is_a_mistake_and_writes_nothing(store: Engine) -> None:
    with pytest.raises(ValueError, match="a store of 4"):
        await store.put([record("ok"), record("bad", dense=vector(1, 2))])
    assert await store.count(Where((ANN,))) == 0


OWNERS = [person("U1", "T1"), person("U1", "T2"), person("U2", "T1"), Owner(team_id="T1", kind="room", id="U1")]
STEPS = st.lists(
    st.tuples(st.sampled_from(["put", "existing", "delete", "delete_owner"]), st.sampled_from(OWNERS), st.lists(st.integers(0, 4), min_size=1, max_size=3)),
    max_size=12,
)


@given(steps=STEPS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_owners_with_equal_ids_never_see_or_touch_each_other(store: Engine, steps: list[tuple[str, Owner, list[int]]]) -> None:
    for team in ("T1", "T2"):
        await store.delete_team(team)
    model: dict[Owner, dict[str, str]] = {owner: {} for owner in OWNERS}
    for number, (what, owner, names) in enumerate(steps):
        ids = [one_id(str(name)) for name in names]
        if what == "delete":
            assert await store.delete(owner, ids) == sum(model[owner].pop(one, None) is not None for one in dict.fromkeys(ids))
        elif what == "delete_owner":
            assert await store.delete_owner(owner) == len(model[owner])
            model[owner] = {}
        else:
            text = f"{owner.tag} {number}"
            await store.put([record(str(name), owner, text=text, dense=vector(1, 0, 0, 0), words={1: 1.0}) for name in names], existing=what == "existing")
            model[owner] |= {one: text for one in ids if what == "put" or one in model[owner]}
        hits = await store.search(Where((owner,)), dense=vector(1, 0, 0, 0), words={1: 1.0}, limit=50)  # each time: what was found before is no longer so
        assert {(hit.record.id, hit.record.payload["text"]) for hit in hits} == set(model[owner].items())
    for owner in OWNERS:
        expected = set(model[owner].items())
        assert {(each.id, each.payload["text"]) for each in await store.list(Where((owner,)), limit=50)} == expected
        assert {(each.id, each.payload["text"]) for each in await store.get(owner, [one_id(str(n)) for n in range(5)])} == expected
        hits = await store.search(Where((owner,)), dense=vector(1, 0, 0, 0), words={1: 1.0}, limit=50)
        assert {(hit.record.id, hit.record.payload["text"]) for hit in hits} == expected
    assert {owner async for owner in store.owners()} == {owner for owner in OWNERS if model[owner]}

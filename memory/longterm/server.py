"""The server engine of the store: a Qdrant server that several bot processes share, through its asynchronous client.

The collection carries a numbered name behind an alias, so that one made with another embedding model takes its place in one step. What is
noted about it (form, model, size) is the collection's own metadata. Filters on the owner stand inside every query, on an index that the
server uses to keep one owner's records together. Every failure of the network or the server is a `StoreDown`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Self

from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from memory.longterm.access import Owner
from memory.longterm.collection import NAME, Meta, Tuning, best, by_owner, narrowed, newest, unpack
from memory.longterm.packed import KEYWORDS, Narrow, Packed, Scored, fields, point_id, unpointed, vector_floats
from memory.longterm.store import Floats, Hit, Record, StoreDown, StoreError, What, Where

TIMEOUT: Final = 10
"""Seconds the server has for one request."""
AT_ONCE: Final = 1_000
"""Records in one request."""
MOST_OWNERS: Final = 1_000_000
WHATS: Final[tuple[What, ...]] = ("memory", "change", "settings")
VACUUM: Final = models.OptimizersConfigDiff(deleted_threshold=0.01, vacuum_min_vector_number=100)
"""Deleted records are cleared out of the server's files early: at one in a hundred, in any segment of a hundred records."""


class ServerStore:
    """See `Store`. `local`: the client is the library's own stand-in, which has no indexes; `borrowed`: the client is closed by another."""

    def __init__(
        self, client: AsyncQdrantClient, *, model: str, size: int, tuning: Tuning | None = None, local: bool = False, name: str = NAME, borrowed: bool = False
    ) -> None:
        self.client = client
        self.model = model
        self.size = size
        self.tuning = tuning or Tuning()
        self.local = local
        self.alias = name
        self.name = ""
        """The collection in force."""
        self._borrowed = borrowed

    @classmethod
    def at(cls, url: str, api_key: str | None = None, *, model: str, size: int, tuning: Tuning | None = None) -> Self:
        """A store on the server at `url`."""
        client = AsyncQdrantClient(url=url, api_key=api_key, timeout=TIMEOUT, check_compatibility=False)
        return cls(client, model=model, size=size, tuning=tuning)

    # --- opening -----------------------------------------------------------------------------------------------------------

    async def start(self, *, whatever_model: bool = False) -> None:
        """See `Store`. `whatever_model`: take the model that is noted instead of refusing another."""
        with _answering():
            self.name = await self.in_force() or await self._make_first()
            meta = await self.meta(self.name)
        if whatever_model:
            self.model, self.size = meta.model, meta.size
        meta.check(self.model, self.size)

    async def in_force(self) -> str:
        """The collection behind the alias; empty when there is none."""
        with _answering():
            aliases = (await self.client.get_aliases()).aliases
        return next((each.collection_name for each in aliases if each.alias_name == self.alias), "")

    async def _make_first(self) -> str:
        name = f"{self.alias}_000001"
        await self.make(name, self.model, self.size)
        if (earlier := await self.in_force()) != "":  # another process was first
            return earlier
        await self.put_in_force(name)
        return name

    async def make(self, name: str, model: str, size: int) -> None:
        """Make a collection, unless it is there."""
        with _answering():
            if not await self.client.collection_exists(name):
                try:
                    await self.client.create_collection(name, **self._layout(size), metadata=Meta(model, size).noted())
                except UnexpectedResponse as error:
                    if error.status_code != 409:  # 409: another process made it at this moment
                        raise
            if self.local:
                return
            owner = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
            await self.client.create_payload_index(name, "owner", field_schema=owner)
            for field in KEYWORDS:
                await self.client.create_payload_index(name, field, field_schema=models.PayloadSchemaType.KEYWORD)
            await self.client.create_payload_index(name, "live", field_schema=models.PayloadSchemaType.INTEGER)
            await self.client.create_payload_index(name, "at", field_schema=models.PayloadSchemaType.FLOAT)

    def _layout(self, size: int) -> dict[str, Any]:
        smaller: models.QuantizationConfig | None = None
        if self.tuning.quantization == "int8":
            smaller = models.ScalarQuantization(scalar=models.ScalarQuantizationConfig(type=models.ScalarType.INT8, quantile=0.99))
        elif self.tuning.quantization == "binary":
            smaller = models.BinaryQuantization(binary=models.BinaryQuantizationConfig())
        dense = models.VectorParams(size=size, distance=models.Distance.COSINE, on_disk=self.tuning.on_disk) if size else None
        return {
            "vectors_config": {"dense": dense} if dense is not None else {},
            "sparse_vectors_config": {"words": models.SparseVectorParams(modifier=models.Modifier.IDF)},
            "hnsw_config": models.HnswConfigDiff(m=0, payload_m=self.tuning.m),
            "quantization_config": smaller,
            "optimizers_config": VACUUM,
        }

    async def meta(self, name: str) -> Meta:
        """What is noted about a collection. Raises `StoreError` when nothing is."""
        with _answering():
            noted = (await self.client.get_collection(name)).config.metadata
        if not noted:
            raise StoreError(f"the Qdrant server kept no description of {name}; it must be version 1.16 or newer")
        return Meta.read(noted)

    async def put_in_force(self, name: str) -> None:
        """Let the alias name this collection."""
        operations: list[Any] = []
        with _answering():
            if await self.in_force():
                operations.append(models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=self.alias)))
            operations.append(models.CreateAliasOperation(create_alias=models.CreateAlias(collection_name=name, alias_name=self.alias)))
            await self.client.update_collection_aliases(operations)
        self.name = name

    async def close(self) -> None:
        """See `Store`."""
        if not self._borrowed:
            with _answering():
                await self.client.close()

    # --- another model -------------------------------------------------------------------------------------------------------

    async def successor(self, model: str, size: int) -> Self:
        """The collection to come, made or, if it was begun with this model, as far as it came. See `reembed.py`."""
        name = f"{self.alias}_{int(self.name.rpartition('_')[2]) + 1:06}"
        with _answering():
            if await self.client.collection_exists(name) and await self.meta(name) != Meta(model, size):
                await self.client.delete_collection(name)
        await self.make(name, model, size)
        fresh = type(self)(self.client, model=model, size=size, tuning=self.tuning, local=self.local, name=self.alias, borrowed=True)
        fresh.name = name
        return fresh

    async def adopt(self, successor: Self) -> None:
        """Let it take over, in one step, and drop what it follows."""
        old = self.name
        await self.put_in_force(successor.name)
        with _answering():
            await self.client.delete_collection(old)

    # --- writing -----------------------------------------------------------------------------------------------------------

    async def put(self, records: Sequence[Record], *, existing: bool = False) -> None:
        """See `Store`."""
        mode = models.UpdateMode.UPDATE_ONLY if existing else models.UpdateMode.UPSERT
        for own in by_owner(records, self.size).values():
            with _answering():
                await self.client.upsert(self.name, [_point(packed) for packed in own], wait=True, update_mode=mode)

    async def delete(self, owner: Owner, ids: Sequence[str]) -> int:
        """See `Store`."""
        points: list[Any] = [point_id(owner.tag, one) for one in dict.fromkeys(ids)]
        if not points:
            return 0
        with _answering():
            found = [each.id for each in await self.client.retrieve(self.name, points, with_payload=False)]
            if found:
                await self.client.delete(self.name, models.PointIdsList(points=found), wait=True)
        return len(found)

    async def delete_owner(self, owner: Owner, *, keep: Sequence[What] = ()) -> int:
        """See `Store`."""
        spared: list[Any] = [_any("what", list(keep))] if keep else []
        return await self._delete_where(models.Filter(must=[_is("owner", owner.tag)], must_not=spared))

    async def delete_team(self, team_id: str) -> int:
        """See `Store`."""
        return await self._delete_where(models.Filter(must=[_is("team", team_id)]))

    async def _delete_where(self, among: models.Filter) -> int:
        with _answering():
            count = (await self.client.count(self.name, count_filter=among, exact=True)).count
            if count:
                await self.client.delete(self.name, models.FilterSelector(filter=among), wait=True)
        return count

    # --- reading -----------------------------------------------------------------------------------------------------------

    async def get(self, owner: Owner, ids: Sequence[str]) -> list[Record]:
        """See `Store`."""
        points: list[Any] = [point_id(owner.tag, one) for one in dict.fromkeys(ids)]
        if not points:
            return []
        with _answering():
            found = {str(each.id): _packed(each) for each in await self.client.retrieve(self.name, points, with_payload=True, with_vectors=True)}
        return [unpack(found[point]) for point in points if point in found]

    async def search(self, where: Where, *, dense: Floats | None, words: Mapping[int, float], limit: int) -> list[Hit]:
        """See `Store`."""
        asked: list[models.QueryRequest] = []
        legs: list[bool] = []
        for narrow in narrowed(where) if limit > 0 else ():
            among = _filter(narrow)
            if dense is not None and self.size:
                smaller = models.QuantizationSearchParams(rescore=True, oversampling=2.0) if self.tuning.quantization != "none" else None
                how = models.SearchParams(quantization=smaller)
                asked.append(models.QueryRequest(query=dense.tolist(), using="dense", filter=among, limit=limit, params=how, with_payload=True))
                legs.append(True)
            if words:
                query = models.SparseVector(indices=list(words), values=list(words.values()))
                own = models.IdfCorpusParams(corpus=models.Filter(must=[_is("owner", narrow.owner)]))
                how = models.SearchParams(idf=own)  # how rare a word is among the owner's records, nobody else's
                asked.append(models.QueryRequest(query=query, using="words", filter=among, limit=limit, params=how, with_payload=True))
                legs.append(False)
        if not asked:
            return []
        with _answering():
            answers = await self.client.query_batch_points(self.name, asked)
        found: dict[str, Scored] = {}
        for by_meaning, answer in zip(legs, answers, strict=True):
            for point in answer.points:
                known = found.get(str(point.id)) or Scored(_packed(point), None, None)
                found[str(point.id)] = known._replace(dense=point.score) if by_meaning else known._replace(words=point.score)
        return [Hit(unpack(each.record), each.dense, each.words) for each in best(list(found.values()), limit)]

    async def list(self, where: Where, *, limit: int, before: tuple[float, str] | None = None, vectors: bool = False) -> list[Record]:
        """See `Store`."""
        found: list[Packed] = []
        for narrow in narrowed(where) if limit > 0 else ():
            found += await self._page(narrow, limit, before, vectors=vectors)
        return [unpack(packed) for packed in newest(found)[:limit]]

    async def _page(self, narrow: Narrow, limit: int, before: tuple[float, str] | None, *, vectors: bool) -> Sequence[Packed]:
        page: list[Packed] = []
        if before is not None:
            page = [each for each in await self._at(narrow, before[0], vectors=vectors) if each.id < before[1]][:limit]
            narrow = narrow._replace(until=before[0] if narrow.until is None else min(before[0], narrow.until))
        missing = limit - len(page)
        if missing <= 0:
            return page
        order = models.OrderBy(key="at", direction=models.Direction.DESC)
        with _answering():
            points, _ = await self.client.scroll(self.name, scroll_filter=_filter(narrow), limit=missing + 1, order_by=order, with_vectors=vectors)
        found = newest([_packed(each) for each in points])
        if len(found) > missing and found[missing].at == found[missing - 1].at:  # more of the same moment than fit: which of them is by id
            last = found[missing].at
            found = [*(each for each in found if each.at > last), *await self._at(narrow, last, vectors=vectors)]
        return page + found[:missing]

    async def _at(self, narrow: Narrow, at: float, *, vectors: bool) -> Sequence[Packed]:
        """All of one moment."""
        among = _filter(narrow, models.FieldCondition(key="at", range=models.Range(gte=at, lte=at)))
        found: list[Packed] = []
        offset: Any = None
        while True:
            with _answering():
                points, offset = await self.client.scroll(self.name, scroll_filter=among, limit=AT_ONCE, offset=offset, with_vectors=vectors)
            found += [_packed(each) for each in points]
            if offset is None:
                return newest(found)

    async def count(self, where: Where) -> int:
        """See `Store`."""
        total = 0
        for narrow in narrowed(where):
            with _answering():
                total += (await self.client.count(self.name, count_filter=_filter(narrow), exact=True)).count
        return total

    async def owners(self, team_id: str | None = None) -> AsyncIterator[Owner]:
        """See `Store`."""
        among = models.Filter(must=[_is("team", team_id)]) if team_id is not None else None
        with _answering():
            hits = (await self.client.facet(self.name, "owner", facet_filter=among, limit=MOST_OWNERS, exact=True)).hits
        for tag in sorted(str(hit.value) for hit in hits if hit.count):
            yield Owner.parse(tag)

    async def stats(self) -> dict[str, float]:
        """See `Store`. How much disk the server uses is not known here."""
        found: dict[str, float] = {}
        for what in WHATS:
            with _answering():
                found[what] = float((await self.client.count(self.name, count_filter=models.Filter(must=[_is("what", what)]), exact=True)).count)
        return found

    async def scrub(self) -> None:
        """Ask the server to clear deleted records out of its files.

        A server gives no promise of when: its optimizer rewrites a segment in which more than one in a hundred records is deleted, from a
        hundred records on, and its log and snapshots are its own. No search, list or copy returns a deleted record from the moment of deletion.
        """
        with _answering():
            await self.client.update_collection(self.name, optimizers_config=VACUUM)


@contextmanager
def _answering() -> Iterator[None]:
    """Whatever goes wrong with the server is one thing to those who ask."""
    try:
        yield
    except (ApiException, QdrantException, OSError, RuntimeError, ValueError) as error:
        raise StoreDown(f"the Qdrant server does not answer as it should: {type(error).__name__}") from error


def _is(name: str, value: str) -> models.FieldCondition:
    return models.FieldCondition(key=name, match=models.MatchValue(value=value))


def _any(name: str, values: Sequence[str]) -> models.FieldCondition:
    return models.FieldCondition(key=name, match=models.MatchAny(any=list(values)))


def _filter(narrow: Narrow, *more: models.FieldCondition) -> models.Filter:
    must: list[Any] = [_is("owner", narrow.owner), _is("what", narrow.what)]
    must += [_any(name, values) for name, values in narrow.texts()]
    if narrow.live is not None:
        must.append(models.FieldCondition(key="live", match=models.MatchValue(value=int(narrow.live))))
    if narrow.since is not None or narrow.until is not None:
        must.append(models.FieldCondition(key="at", range=models.Range(gte=narrow.since, lt=narrow.until)))
    return models.Filter(must=[*must, *more])


def _point(record: Packed) -> models.PointStruct:
    vector: dict[str, Any] = {}
    if record.dense:
        vector["dense"] = vector_floats(record.dense)
    if record.terms:
        vector["words"] = models.SparseVector(indices=list(record.terms), values=list(record.weights))
    return models.PointStruct(id=point_id(record.owner, record.id), vector=vector, payload=fields(record))


def _packed(point: Any) -> Packed:
    vector = point.vector or {}
    return unpointed(point.payload, vector.get("dense"), vector.get("words"))

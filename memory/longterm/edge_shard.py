"""One part of the embedded store: the records of some owners, in one `qdrant_edge` shard. Synchronous; for the store's own process.

On disk a part is a folder with the shard in a folder of its own, a revision, and a file that names the revision in force:

    current     the name of the revision, replaced in one step when a rewritten one takes over
    r000001/    the shard
    deleted     there while a revision may still hold bytes of deleted records; written before the first deletion

A write is in the shard's log when it returns, and so survives the end of the process. Deleted records stay in the files until the part is
rewritten: `copy_…` hands out what is there, notes what changes meanwhile, and puts the finished revision in force.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import qdrant_edge as q

from memory.longterm.edge_rows import Legs, Rows
from memory.longterm.files import copy_folder, replace_text, sync_folder
from memory.longterm.packed import KEYWORDS, Narrow, Packed, fields, point_id, row_text, unpointed, vector_floats

FLUSH_AFTER: Final = 5_000
"""Records written to the log alone, at most; the log is read again at every start."""
FLUSH_AT_END: Final = 1_000
"""The same when the store is closed."""
ALL: Final = 1_000_000_000


def config(size: int, *, quantization: str, on_disk: bool, m: int) -> q.EdgeConfig:
    """How a shard is made: a vector of meaning (none when `size` is 0) and weighted terms."""
    smaller: Any = None
    if quantization == "int8":
        smaller = q.ScalarQuantizationConfig(type=q.ScalarType.Int8, quantile=0.99)
    elif quantization == "binary":
        smaller = q.BinaryQuantizationConfig()
    memory = q.Memory.Cold if on_disk else q.Memory.Cached
    dense = {"dense": q.EdgeVectorParams(size=size, distance=q.Distance.Cosine, memory=memory, quantization_config=smaller)} if size else {}
    return q.EdgeConfig(
        vectors=dense,
        sparse_vectors={"words": q.EdgeSparseVectorParams(modifier=q.Modifier.Idf, memory=memory)},
        hnsw_config=q.HnswIndexConfig(m=m, ef_construct=100, full_scan_threshold=10_000, payload_m=m),
        optimizers=q.EdgeOptimizersConfig(default_segment_number=1, indexing_threshold=1_000),
        max_search_threads=1,
    )


def create(path: Path, made: q.EdgeConfig) -> q.EdgeShard:
    """A new, empty shard with the indexes that filters need."""
    shard = q.EdgeShard.create(str(path), made)
    indexes: list[tuple[str, Any]] = [("owner", q.KeywordIndexParams(is_tenant=True))]
    indexes += [(name, q.KeywordIndexParams()) for name in KEYWORDS]
    indexes += [("live", q.IntegerIndexParams(lookup=True, range=False)), ("at", q.FloatIndexParams())]
    for name, schema in indexes:
        shard.update(q.UpdateOperation.create_field_index(name, schema))
    return shard


CopyPlace = tuple[int, str | None]
"""How many owners were copied, and the point of the next one's at which to go on; None: at its beginning."""


@dataclass(slots=True)
class _Copying:
    """A revision in the making."""

    name: str
    owners: list[str]
    """Whose records are copied, in this order: what one search reads lies side by side then."""
    touched: set[str] = field(default_factory=set)
    """Points written or deleted since it was begun."""
    deleted: bool = False


class Shard:
    """The part in the folder `home`. `blank` is an empty shard to begin with, by copy."""

    def __init__(self, home: Path, blank: Path, *, rescore: bool, rows: Rows | None = None) -> None:
        """`rows`: where records read before are kept at hand, of all parts together."""
        self.home = home
        self._rows = rows if rows is not None else Rows()
        self._rescore = rescore
        self._unflushed = 0
        self.unsynced = False
        self._copying: _Copying | None = None
        self._deleted_mark = home / "deleted"
        if not (home / "current").exists():
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir(parents=True)
            copy_folder(blank, home / "r000001")
            sync_folder(home)
            replace_text(home / "current", "r000001")
        self._name = (home / "current").read_text(encoding="utf-8").strip()
        for left in home.glob("r[0-9]*"):
            if left.name != self._name:
                shutil.rmtree(left)
        self._shard = q.EdgeShard.load(str(home / self._name))

    @property
    def folder(self) -> Path:
        """Where the revision in force is."""
        return self.home / self._name

    # --- writing ---------------------------------------------------------------------------------------------------------

    def put(self, records: Sequence[Packed], *, existing: bool) -> None:
        """Write these in one step."""
        mode = q.UpdateMode.UpdateOnly if existing else q.UpdateMode.Upsert
        points: list[Any] = [_point(record) for record in records]
        self._rows.drop(point.id.int for point in points)
        self._shard.update(q.UpdateOperation.upsert_points(points, update_mode=mode))
        self._wrote([str(point.id) for point in points])

    def delete(self, owner: str, ids: Sequence[str]) -> int:
        """Delete those there are; how many."""
        points: list[Any] = [point_id(owner, one) for one in dict.fromkeys(ids)]
        found = [str(each.id) for each in self._shard.retrieve(points, with_payload=False, with_vector=False)]
        return self._delete(found)

    def delete_where(self, name: str, value: str, keep: Sequence[str]) -> int:
        """Delete every record with this value in a field, but those whose `what` is kept; how many."""
        spared: list[Any] = [q.FieldCondition("what", match=q.MatchAny(list(keep)))] if keep else []
        among = q.Filter(must=[q.FieldCondition(name, match=q.MatchValue(value))], must_not=spared)
        found, _ = self._shard.scroll(q.ScrollRequest(limit=ALL, filter=among, with_payload=False, with_vector=False))
        return self._delete([str(each.id) for each in found])

    def _delete(self, points: Sequence[str]) -> int:
        if not points:
            return 0
        if not self._deleted_mark.exists():
            replace_text(self._deleted_mark, "")
        if self._copying is not None:
            self._copying.deleted = True
        self._rows.drop(UUID(point).int for point in points)
        self._shard.update(q.UpdateOperation.delete_points(list(points)))
        self._wrote(points)
        return len(points)

    def _wrote(self, points: Sequence[str]) -> None:
        if self._copying is not None:
            self._copying.touched.update(points)
        self.unsynced = True
        self._unflushed += len(points)
        if self._unflushed >= FLUSH_AFTER:
            self.flush()

    def sync(self) -> None:
        """Bring the log to the disk itself, so that it survives the machine's failure as well."""
        self.unsynced = False
        for path in (self.home / self._name / "wal").iterdir():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def flush(self) -> None:
        """Bring what is in the log into place."""
        self._shard.flush()
        self._unflushed = 0
        self.unsynced = False

    def settle(self) -> None:
        """Leave everything as the next start likes it: little to read again from the log. The library's own closing would write all of it anew."""
        if self._unflushed >= FLUSH_AT_END:
            self.flush()
        elif self.unsynced:
            self.sync()

    # --- reading ---------------------------------------------------------------------------------------------------------

    def get(self, owner: str, ids: Sequence[str]) -> list[Packed]:
        """Those there are, in the order asked, with their vectors."""
        points: list[Any] = [point_id(owner, one) for one in dict.fromkeys(ids)]
        found = {str(each.id): _packed(each) for each in self._shard.retrieve(points, with_payload=True, with_vector=True)}
        return [found[point] for point in points if point in found]

    def legs(self, narrow: Narrow, dense: str, terms: Sequence[int], weights: Sequence[float], limit: int) -> Legs:
        """The best by meaning and the best by words: their points with the scores."""
        among, owner = _filter(narrow), q.Filter(must=[q.FieldCondition("owner", match=q.MatchValue(narrow.owner))])
        meant: list[tuple[int, float]] = []
        worded: list[tuple[int, float]] = []
        if dense:
            rescore = q.QuantizationSearchParams(rescore=True, oversampling=2.0) if self._rescore else None
            nearest = q.Query.Nearest(vector_floats(dense), using="dense")
            asked = q.QueryRequest(limit=limit, query=nearest, filter=among, params=q.SearchParams(quantization=rescore))
            meant = _scores(self._shard.query(asked))
        if terms:
            nearest = q.Query.Nearest(q.SparseVector(list(terms), list(weights)), using="words")
            own = q.SearchParams(idf=q.IdfParams(corpus=owner))  # how rare a word is among the owner's records, nobody else's
            worded = _scores(self._shard.query(q.QueryRequest(limit=limit, query=nearest, filter=among, params=own)))
        return Legs(meant, worded)

    def rows(self, points: Sequence[int]) -> dict[int, bytes]:
        """What there is of these, without vectors, as `row_text`."""
        held = {point: row for point in points if (row := self._rows.get(point)) is not None}
        missing: list[Any] = [UUID(int=point) for point in points if point not in held]
        if missing:
            read: list[Any] = self._shard.retrieve(missing, with_payload=True, with_vector=False)
            for each in read:
                point = each.id.int
                held[point] = row_text(each.payload)
                self._rows.add(point, held[point])
        return held

    def page(self, narrow: Narrow, limit: int, before: tuple[float, str] | None, *, vectors: bool) -> list[Packed]:
        """Newest first by (`at`, id)."""
        page: list[Packed] = []
        if before is not None:
            page = [record for record in self._at(narrow, before[0], vectors=vectors) if record.id < before[1]][:limit]
            narrow = narrow._replace(until=before[0] if narrow.until is None else min(before[0], narrow.until))
        missing = limit - len(page)
        if missing <= 0:
            return page
        order = q.OrderBy("at", q.Direction.Desc)
        asked = q.ScrollRequest(limit=missing + 1, filter=_filter(narrow), with_payload=True, with_vector=vectors, order_by=order)
        found = newest_first([_packed(each) for each in self._shard.scroll(asked)[0]])
        if len(found) > missing and found[missing].at == found[missing - 1].at:  # more of the same moment than fit: which of them is by id
            last = found[missing].at
            found = [record for record in found if record.at > last] + self._at(narrow, last, vectors=vectors)
        return page + found[:missing]

    def _at(self, narrow: Narrow, at: float, *, vectors: bool) -> list[Packed]:
        """All of one moment."""
        among = _filter(narrow, q.FieldCondition("at", range=q.RangeFloat(gte=at, lte=at)))
        found, _ = self._shard.scroll(q.ScrollRequest(limit=ALL, filter=among, with_payload=True, with_vector=vectors))
        return newest_first([_packed(each) for each in found])

    def count(self, narrow: Narrow) -> int:
        """How many, exactly."""
        return self._shard.count(q.CountRequest(filter=_filter(narrow), exact=True))

    def count_what(self, what: str) -> int:
        """How many there are of one `what`."""
        return self._shard.count(q.CountRequest(filter=q.Filter(must=[q.FieldCondition("what", match=q.MatchValue(what))]), exact=True))

    def owners(self, team: str | None) -> list[str]:
        """The owners there are, in order."""
        among = q.Filter(must=[q.FieldCondition("team", match=q.MatchValue(team))]) if team is not None else None
        return sorted(str(hit.value) for hit in self._shard.facet(q.FacetRequest(key="owner", limit=ALL, exact=True, filter=among)).hits if hit.count)

    # --- rewriting -------------------------------------------------------------------------------------------------------

    @property
    def has_deleted(self) -> bool:
        """Whether bytes of deleted records may lie in the files."""
        return self._deleted_mark.exists()

    def copy_begin(self) -> str:
        """Begin a new revision: the folder in which it is to be built."""
        self.copy_abort()
        self._copying = _Copying(f"r{int(self._name[1:]) + 1:06}", self.owners(None))
        shutil.rmtree(self.home / self._copying.name, ignore_errors=True)
        return str(self.home / self._copying.name)

    def copy_read(self, place: CopyPlace | None, limit: int) -> tuple[list[Packed], CopyPlace | None]:
        """Some of the records, owner by owner, and where the next begin."""
        if self._copying is None:
            raise RuntimeError("no revision was begun")
        owners, (number, start) = self._copying.owners, place or (0, None)
        found: list[Packed] = []
        while number < len(owners) and len(found) < limit:
            among = q.Filter(must=[q.FieldCondition("owner", match=q.MatchValue(owners[number]))])
            page, following = self._shard.scroll(q.ScrollRequest(offset=start, limit=limit - len(found), filter=among, with_payload=True, with_vector=True))
            found += [_packed(each) for each in page]
            number, start = (number + 1, None) if following is None else (number, str(following))
        return found, (number, start) if number < len(owners) else None

    def copy_abort(self) -> None:
        """Give up the revision in the making, if there is one."""
        if self._copying is not None:
            shutil.rmtree(self.home / self._copying.name, ignore_errors=True)
            self._copying = None

    def copy_finish(self) -> None:
        """Put the new revision, built and closed, in force, with what has changed meanwhile; the old one is deleted."""
        if self._copying is None:
            raise RuntimeError("no revision was begun")
        done, fresh = self._copying, q.EdgeShard.load(str(self.home / self._copying.name))
        for batch in _batches(sorted(done.touched), 500):
            now = self._shard.retrieve(batch, with_payload=True, with_vector=True)
            if gone := sorted(set(batch) - {str(each.id) for each in now}):
                fresh.update(q.UpdateOperation.delete_points(list(gone)))
            if now:
                fresh.update(q.UpdateOperation.upsert_points([_point(_packed(each)) for each in now]))
        replace_text(self.home / "current", done.name)
        old, self._shard, self._copying = self._shard, fresh, None
        self._name, old_name = done.name, self._name
        self._unflushed, self.unsynced = len(done.touched), bool(done.touched)
        old.close()
        shutil.rmtree(self.home / old_name)
        if not done.deleted:
            self._deleted_mark.unlink(missing_ok=True)
        sync_folder(self.home)


def build(path: str, blank: str, made: q.EdgeConfig) -> q.EdgeShard:
    """A shard to be filled with `fill` and ended with `finish`, with `made` in force even if the blank one is of earlier times."""
    copy_folder(Path(blank), Path(path))
    return q.EdgeShard.load(path, made)


def fill(shard: q.EdgeShard, records: Sequence[Packed]) -> None:
    """Put records into a shard that is being built."""
    if records:
        shard.update(q.UpdateOperation.upsert_points([_point(record) for record in records]))


def finish(shard: q.EdgeShard) -> None:
    """Bring a built shard into its final form."""
    shard.flush()
    shard.optimize()
    shard.flush()
    shard.close()


def newest_first(records: list[Packed]) -> list[Packed]:
    """By (`at`, id), the newest first."""
    return sorted(records, key=lambda record: (record.at, record.id), reverse=True)


def _batches(items: Sequence[str], size: int) -> Iterator[list[Any]]:
    return (list(items[start : start + size]) for start in range(0, len(items), size))


def _filter(narrow: Narrow, *more: Any) -> q.Filter:
    must: list[Any] = [
        q.FieldCondition("owner", match=q.MatchValue(narrow.owner)),
        q.FieldCondition("what", match=q.MatchValue(narrow.what)),
    ]
    must += [q.FieldCondition(name, match=q.MatchAny(list(values))) for name, values in narrow.texts()]
    if narrow.live is not None:
        must.append(q.FieldCondition("live", match=q.MatchValue(int(narrow.live))))
    if narrow.since is not None or narrow.until is not None:
        must.append(q.FieldCondition("at", range=q.RangeFloat(gte=narrow.since, lt=narrow.until)))
    return q.Filter(must=[*must, *more])


def _point(record: Packed) -> q.Point:
    vector: dict[str, Any] = {}
    if record.dense:
        vector["dense"] = vector_floats(record.dense)
    if record.terms:
        vector["words"] = q.SparseVector(list(record.terms), list(record.weights))
    return q.Point(id=point_id(record.owner, record.id), vector=vector, payload=fields(record))


def _scores(found: Sequence[Any]) -> list[tuple[int, float]]:
    return [(each.id.int, each.score) for each in found]


def _packed(point: Any) -> Packed:
    vector = point.vector or {}
    return unpointed(point.payload, vector.get("dense"), vector.get("words"))

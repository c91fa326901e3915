"""The shop's book in SQLite: made from the seed on first use, shared by every process that opens the same file.

A change and the record of its idempotency key are one transaction, so the same key never applies twice, whichever
process it comes from and wherever that process dies.
"""

from __future__ import annotations

import atexit
import contextlib
import difflib
import hashlib
import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from memory.keys import Actor
from tools.builtin.orders.rules import Order, may_cancel, may_readdress, refund
from tools.result import ErrorCode, Suggestion
from tools.tool import ToolFailed

FILE_NAME: Final = "orders.sqlite3"
BUSY_SECONDS: Final = 5.0
"""How long a transaction waits for another process's to end."""
_VERSION = 1
_COLUMNS = "order_id, status, customer, placed_at, items, currency, address, carrier, tracking_number, cancelled_at, cancel_reason"

_OWN_ORDERS = f"SELECT {_COLUMNS} FROM orders WHERE owner_team = ? AND owner_user = ? AND ? IN ('', status) ORDER BY placed_at DESC, order_id"  # noqa: S608 - constants only
_ONE_ORDER = f"SELECT {_COLUMNS}, owner_team, owner_user FROM orders WHERE order_id = ?"  # noqa: S608 - the same


class OrderStore:
    """Orders, each with its owner. Blocking: call it from a thread. One connection, used by one thread at a time."""

    def __init__(self, path: Path | None) -> None:
        """Open the book at `path`, or one in memory; makes and fills it when it is new. Raises `sqlite3.Error`."""
        self._lock = threading.Lock()
        self._db = sqlite3.connect(path or ":memory:", timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            # Only fails while another process makes the same file; that one has set the mode for all.
            with contextlib.suppress(sqlite3.OperationalError):
                self._db.execute("PRAGMA journal_mode = WAL")
            with self._transaction() as db:
                _create(db)
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        """Let go of the file; the store is of no use afterwards."""
        with self._lock:
            self._db.close()

    def list(self, owner: Actor, status: str = "") -> list[Order]:
        """The orders of `owner`, newest first, those in `status` only when it is given."""
        with self._transaction() as db:
            _settle(db, owner)
            rows = db.execute(_OWN_ORDERS, (owner.team_id, owner.user_id, status)).fetchall()
        return [_order(row) for row in rows]

    def get(self, owner: Actor, order_id: str) -> Order:
        """One order of `owner`. Raises `ToolFailed`: unknown, or somebody else's."""
        with self._transaction() as db:
            _settle(db, owner)
            return _find(db, owner, order_id)

    def cancel(self, owner: Actor, order_id: str, reason: str, *, key: str, at: datetime) -> dict[str, Any]:
        """Cancel an order once per `key`. Raises `ToolFailed` when it may not be."""

        def change(db: sqlite3.Connection, order: Order) -> dict[str, Any]:
            may_cancel(order)
            moment = at.isoformat(timespec="seconds")
            db.execute(
                "UPDATE orders SET status = 'cancelled', cancelled_at = ?, cancel_reason = ? WHERE order_id = ?", (moment, reason or None, order.order_id)
            )
            return {"order_id": order.order_id, "status": "cancelled", "previous_status": order.status, "cancelled_at": moment, "refund": refund(order)}

        return self._once(owner, order_id, change, key=f"cancel_order:{key}", at=at, reason=reason)

    def readdress(self, owner: Actor, order_id: str, address: str, recipient: str, *, key: str, at: datetime) -> dict[str, Any]:
        """Send an order elsewhere, once per `key`. Raises `ToolFailed` when its address may not change."""

        def change(db: sqlite3.Connection, order: Order) -> dict[str, Any]:
            may_readdress(order)
            full = f"{recipient}, {address}" if recipient else address
            db.execute("UPDATE orders SET address = ? WHERE order_id = ?", (full, order.order_id))
            return {"order_id": order.order_id, "status": order.status, "address": full, "previous_address": order.address}

        return self._once(owner, order_id, change, key=f"change_shipping_address:{key}", at=at, address=address, recipient=recipient)

    def _once(
        self, owner: Actor, order_id: str, change: Callable[[sqlite3.Connection, Order], dict[str, Any]], *, key: str, at: datetime, **request: str
    ) -> dict[str, Any]:
        asked = json.dumps({"order_id": order_id, "team": owner.team_id, "user": owner.user_id, **request}, ensure_ascii=False, sort_keys=True)
        with self._transaction() as db:
            known = db.execute("SELECT request, outcome FROM outcomes WHERE key = ?", (key,)).fetchone()
            if known is not None and known[0] != asked:
                raise ToolFailed("This request was already used for a different change; nothing was done.", code=ErrorCode.INTERNAL)
            if known is not None:
                outcome: dict[str, Any] = json.loads(known[1])
            else:
                _settle(db, owner)
                try:
                    outcome = {"done": change(db, _find(db, owner, order_id))}
                except ToolFailed as refusal:  # a refusal is an outcome too: the same key gets the same answer
                    outcome = {"refused": str(refusal), "code": refusal.code, "suggestion": refusal.suggestion}
                db.execute("INSERT INTO outcomes VALUES (?, ?, ?, ?)", (key, asked, json.dumps(outcome, ensure_ascii=False), at.isoformat()))
        if "refused" in outcome:
            raise ToolFailed(outcome["refused"], code=ErrorCode(outcome["code"]), suggestion=Suggestion(outcome["suggestion"]))
        done: dict[str, Any] = outcome["done"]
        return done

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        # Immediate: two processes that both read first and write later would otherwise refuse each other.
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            try:
                self._db.execute("COMMIT")
            except sqlite3.Error as error:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise RuntimeError("the order book could not be written") from error  # not a sqlite3.Error: whether it was kept is unknown


_open: dict[Path | None, OrderStore] = {}
_opening = threading.Lock()


def shared_store(home: Path | None) -> OrderStore:
    """The process's store under the data folder `home` (in memory without one), opened on first use and closed at exit."""
    with _opening:
        if home not in _open:
            if home is not None:
                home.mkdir(parents=True, exist_ok=True)
            _open[home] = OrderStore(home / FILE_NAME if home is not None else None)
        return _open[home]


@atexit.register
def _close_all() -> None:
    while _open:
        _open.popitem()[1].close()


def _create(db: sqlite3.Connection) -> None:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version == _VERSION:
        return
    if version != 0:
        raise sqlite3.DatabaseError(f"the order book has version {version}; this program knows {_VERSION}")
    for statement in _resource("schema.sql").split(";"):
        db.execute(statement)
    for order in json.loads(_resource("seed.json"))["orders"]:
        _insert(db, order, order_id=order["id"], placed_at=order["placed_at"], owner=("", order["slack_user"]), customer=order["customer"])
    db.execute(f"PRAGMA user_version = {_VERSION}")


def _settle(db: sqlite3.Connection, owner: Actor) -> None:
    """See to it that `owner` has orders: those the seed keeps for that id, else a starter set made for them."""
    who = (owner.team_id, owner.user_id)
    if db.execute("SELECT 1 FROM orders WHERE owner_team = ? AND owner_user = ? LIMIT 1", who).fetchone() is not None:
        return
    # Slack repeats user ids across workspaces: the first team whose person comes by gets the seed's rows, nobody after it.
    if owner.user_id and db.execute("UPDATE orders SET owner_team = ? WHERE owner_team = '' AND owner_user = ?", who).rowcount:
        return
    number = int.from_bytes(hashlib.sha256(f"{owner.team_id}:{owner.user_id}".encode()).digest()[:4]) % 90_000 + 10_000
    for order in json.loads(_resource("seed.json"))["starter"]:
        day = order["date"]
        while db.execute("SELECT 1 FROM orders WHERE order_id = ?", (f"ABC-{day}-{number}",)).fetchone() is not None:
            number += 1
        placed_at = f"{day[:4]}-{day[4:6]}-{day[6:]}"
        _insert(db, order, order_id=f"ABC-{day}-{number}", placed_at=placed_at, owner=who, customer=f"Slack user {owner.user_id}")


def _insert(db: sqlite3.Connection, order: dict[str, Any], *, order_id: str, placed_at: str, owner: tuple[str, str], customer: str) -> None:
    items = json.dumps(order["items"], ensure_ascii=False)
    extra = [order.get(name) for name in ("carrier", "tracking", "cancelled_at", "cancel_reason")]
    row = (order_id, *owner, customer, order["status"], placed_at, items, order["currency"], order["address"], *extra)
    db.execute("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)


def _find(db: sqlite3.Connection, owner: Actor, order_id: str) -> Order:
    row = db.execute(_ONE_ORDER, (order_id,)).fetchone()
    if row is None:
        own = db.execute("SELECT order_id FROM orders WHERE owner_team = ? AND owner_user = ?", (owner.team_id, owner.user_id))
        close = difflib.get_close_matches(order_id, [known[0] for known in own], n=3, cutoff=0.8)
        hint = f"The person's own orders with a similar number: {', '.join(close)}; ask which one is meant." if close else "Ask the person for the full number."
        raise ToolFailed(f"There is no order {order_id}. {hint}", code=ErrorCode.NOT_FOUND, suggestion=Suggestion.ASK_PERSON)
    if row[-2:] != (owner.team_id, owner.user_id):
        message = f"Order {order_id} belongs to someone else; the person who asks may only see and change their own."
        raise ToolFailed(message, code=ErrorCode.PERMISSION_DENIED)
    return _order(row[:-2])


def _order(row: tuple[Any, ...]) -> Order:
    values = dict(zip(_COLUMNS.split(", "), row, strict=True))
    return Order.model_validate({**values, "items": json.loads(values["items"])})


def _resource(name: str) -> str:
    return (files("tools.builtin.orders") / name).read_text(encoding="utf-8")

-- The shop's book. owner_team is empty on seed rows until the person they are meant for comes by.
CREATE TABLE orders (
    order_id        TEXT PRIMARY KEY,
    owner_team      TEXT NOT NULL DEFAULT '',
    owner_user      TEXT NOT NULL DEFAULT '',
    customer        TEXT NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('placed', 'paid', 'packed', 'shipped', 'delivered', 'cancelled', 'returned')),
    placed_at       TEXT NOT NULL,
    items           TEXT NOT NULL,
    currency        TEXT NOT NULL,
    address         TEXT NOT NULL,
    carrier         TEXT,
    tracking_number TEXT,
    cancelled_at    TEXT,
    cancel_reason   TEXT
);

CREATE INDEX orders_by_owner ON orders (owner_user, owner_team);

-- One row per idempotency key: what was asked with it and how it ended, written in the same transaction as the change itself.
CREATE TABLE outcomes (
    key     TEXT PRIMARY KEY,
    request TEXT NOT NULL,
    outcome TEXT NOT NULL,
    at      TEXT NOT NULL
);

// Which channels have something new for a person: how far they have read (remembered in the browser) and what came in since.

export class ReadMarks {
  constructor(user) {
    this.user = user;
    this.unread = new Map(); // channel → {count, personal}
    this.storageKey = `read:${user}`;
    this.last = this.#restore();
  }

  #restore() {
    try {
      return new Map(Object.entries(JSON.parse(localStorage.getItem(this.storageKey) ?? "{}")));
    } catch (error) {
      console.info("What was read is not remembered here:", error.message);
      return new Map();
    }
  }

  /** The ts up to which the channel was read, or "". */
  lastRead(channel) {
    return this.last.get(channel) ?? "";
  }

  /** Whether a message at `ts` is new to the person; in a channel never opened only direct messages are. */
  isNew(channel, ts, direct) {
    return this.last.has(channel) ? ts > this.last.get(channel) : direct;
  }

  /** Counts one unread message; `personal` ones (direct messages, mentions) carry a number. */
  add(channel, personal) {
    const entry = this.unread.get(channel) ?? { count: 0, personal: 0 };
    this.unread.set(channel, { count: entry.count + 1, personal: entry.personal + (personal ? 1 : 0) });
  }

  /** Marks a channel read up to `ts`; answers whether anything changed. */
  read(channel, ts) {
    const had = this.unread.delete(channel);
    const further = Boolean(ts) && ts > this.lastRead(channel);
    if (further) {
      this.last.set(channel, ts);
      try {
        localStorage.setItem(this.storageKey, JSON.stringify(Object.fromEntries(this.last)));
      } catch (error) {
        console.info("What was read cannot be remembered here:", error.message);
      }
    }
    return had || further;
  }

  /** All unread personal messages, for the window's title. */
  total() {
    return [...this.unread.values()].reduce((sum, entry) => sum + entry.personal, 0);
  }
}

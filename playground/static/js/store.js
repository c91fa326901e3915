// Everything the page knows, as one person sees it: the workspace, messages, statuses, unread marks. Views listen to its events:
// "workspace", "messages" {channel}, "status" {channel}, "unread", "app", "incoming" {channel, message}, "stale" (load the workspace again).
// Messages are keyed by channel and ts, so a push that arrives twice, or also by a fetch, is one message.

import { get } from "./api.js";
import { ReadMarks } from "./unread.js";

const keyOf = (channel, thread) => `${channel}:${thread ?? ""}`;
const PAGE = 200;
const isReply = (message) => Boolean(message.thread_ts && message.thread_ts !== message.ts);

export class Store extends EventTarget {
  constructor() {
    super();
    this.me = null;
    this.#clear();
  }

  #clear() {
    this.team = { id: "", name: "", domain: "" };
    this.users = new Map();
    this.channels = new Map();
    this.commands = [];
    this.shortcuts = [];
    this.examples = [];
    this.app = { id: "", name: "", bot_user_id: "", connected: true };
    this.messages = new Map(); // channel → Map(ts → message)
    this.loaded = new Map(); // keyOf(channel, thread) once fetched → {limit, full: whether there may be more}
    this.statuses = new Map(); // keyOf(channel, thread) → {status, loading_messages}
    this.sessions = new Map(); // keyOf(channel, thread) → {status, title}
    this.prompts = new Map(); // keyOf(channel, thread) → {title, prompts}
    this.flights = new Set(); // fetches under way; each collects the ts that the feed touched meanwhile
    this.loads = new Set(); // loads under way; each collects what the feed said of statuses, sessions and prompts meanwhile
    this.marks = new ReadMarks("");
  }

  #emit(type, detail = {}) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  // ---- the workspace

  /** Fetches the workspace as `user` (or as the server's first person) and forgets what the person before could see. */
  async load(user) {
    const pushed = new Set();
    this.loads.add(pushed);
    let state;
    try {
      state = await get("state", { user });
    } finally {
      this.loads.delete(pushed);
    }
    if (state.user !== this.me) this.#clear();
    this.me = state.user;
    this.team = state.team;
    this.app = state.app;
    this.commands = state.commands ?? [];
    this.shortcuts = state.shortcuts ?? [];
    this.examples = state.examples ?? [];
    this.users = new Map(state.users.map((entry) => [entry.id, entry]));
    this.channels = new Map(state.channels.map((entry) => [entry.id, entry]));
    const shown = new Set(); // channels whose threads may show something else now
    for (const name of ["prompts", "sessions", "statuses"]) {
      if (!state[name]) continue;
      for (const { channel } of state[name]) shown.add(channel);
      for (const key of this[name].keys()) shown.add(key.slice(0, key.indexOf(":")));
      const told = new Map(state[name].map((entry) => [keyOf(entry.channel, entry.thread_ts), entry]));
      for (const [what, key] of pushed) {
        if (what !== name) continue;
        if (this[name].has(key)) told.set(key, this[name].get(key));
        else told.delete(key);
      }
      this[name] = told;
    }
    if (this.marks.user !== this.me) this.marks = new ReadMarks(this.me);
    this.#emit("workspace");
    this.#emit("app");
    for (const channel of shown) this.#emit("status", { channel });
  }

  user(id) {
    return this.users.get(id) ?? { id, name: id ?? "unknown", real_name: id ?? "Unknown" };
  }

  /** Everyone who is not a bot, by name. */
  people() {
    return [...this.users.values()].filter((user) => !user.is_bot && !user.deleted).sort((a, b) => a.name.localeCompare(b.name));
  }

  /** The `im` channel with `user`, if there is one. */
  directWith(user) {
    return [...this.channels.values()].find((channel) => channel.kind === "im" && channel.peer === user);
  }

  isAppChannel(id) {
    const channel = this.channels.get(id);
    return channel?.kind === "im" && channel.peer === this.app.bot_user_id;
  }

  /** What people call a channel: "#general", "Alice Moreau", "Alice, Mei". */
  title(id) {
    const channel = this.channels.get(id);
    if (!channel) return id ?? "";
    if (channel.kind === "im") return this.user(channel.peer).real_name || this.user(channel.peer).name;
    if (channel.kind === "mpim")
      return (channel.members ?? [])
        .filter((user) => user !== this.me)
        .map((user) => this.user(user).real_name.split(" ")[0])
        .join(", ");
    return `#${channel.name}`;
  }

  // ---- messages

  /** Fetches a channel, or one thread of it, and merges the answer; what the feed brought meanwhile wins. */
  async fetch(channel, thread) {
    const flight = { channel, touched: new Set() };
    this.flights.add(flight);
    try {
      const me = this.me;
      const limit = this.loaded.get(keyOf(channel, thread))?.limit ?? PAGE;
      const { messages } = await get("messages", { user: me, channel, thread_ts: thread, limit });
      if (this.me !== me) return;
      const known = this.#channelMessages(channel);
      const fetched = new Set(messages.map((message) => message.ts));
      const oldest = messages[0]?.ts ?? "";
      for (const message of this.list(channel, thread)) {
        if (message.ts >= oldest && !fetched.has(message.ts) && !flight.touched.has(message.ts)) known.delete(message.ts);
      }
      for (const message of messages) if (!flight.touched.has(message.ts)) known.set(message.ts, message);
      this.loaded.set(keyOf(channel, thread), { limit, full: messages.length >= limit });
    } finally {
      this.flights.delete(flight);
    }
    this.#emit("messages", { channel });
  }

  /** Whether a conversation may have messages older than those fetched. */
  hasEarlier(channel, thread) {
    return this.loaded.get(keyOf(channel, thread))?.full ?? false;
  }

  /** Fetches twice as many messages as before. */
  fetchEarlier(channel, thread) {
    const known = this.loaded.get(keyOf(channel, thread));
    this.loaded.set(keyOf(channel, thread), { ...known, limit: known.limit * 2 });
    return this.fetch(channel, thread);
  }

  #channelMessages(channel) {
    if (!this.messages.has(channel)) this.messages.set(channel, new Map());
    return this.messages.get(channel);
  }

  #touch(channel, ts) {
    for (const flight of this.flights) if (flight.channel === channel) flight.touched.add(ts);
  }

  message(channel, ts) {
    return this.messages.get(channel)?.get(ts);
  }

  /** The messages of a channel (roots and broadcasts) or of a thread (root first), oldest first. */
  list(channel, thread) {
    const all = [...(this.messages.get(channel)?.values() ?? [])];
    const wanted = thread
      ? all.filter((message) => message.ts === thread || message.thread_ts === thread)
      : all.filter((message) => !isReply(message) || message.subtype === "thread_broadcast");
    return wanted.sort((a, b) => (a.ts < b.ts ? -1 : a.ts > b.ts ? 1 : 0));
  }

  isLoaded(channel, thread) {
    return this.loaded.has(keyOf(channel, thread));
  }

  // ---- statuses, sessions, prompts

  statusOf(channel, thread) {
    return this.statuses.get(keyOf(channel, thread));
  }

  sessionOf(channel, thread) {
    return this.sessions.get(keyOf(channel, thread));
  }

  promptsOf(channel, thread) {
    return this.prompts.get(keyOf(channel, thread));
  }

  dropPrompts(channel, thread) {
    if (this.prompts.delete(keyOf(channel, thread))) this.#emit("status", { channel });
  }

  // ---- unread

  /** Marks everything in `channel` up to `ts` as read. */
  read(channel, ts) {
    if (this.marks.read(channel, ts)) this.#emit("unread");
  }

  /** Learns from the newest message of a channel, fetched at start, whether there is something unread. */
  async peek() {
    const me = this.me;
    await Promise.all(
      [...this.channels.values()].slice(0, 60).map(async (channel) => {
        const { messages } = await get("messages", { user: me, channel: channel.id, limit: 1 });
        const last = messages.at(-1);
        if (this.me !== me || !last) return;
        const direct = channel.kind === "im" || channel.kind === "mpim";
        if (last.user !== me && this.marks.isNew(channel.id, last.ts, direct)) this.marks.add(channel.id, direct);
      }),
    );
    if (this.me === me) this.#emit("unread");
  }

  #countUnread(channel, message) {
    if (message.user === this.me || message.subtype === "channel_join") return;
    const kind = this.channels.get(channel)?.kind;
    const personal =
      kind === "im" ||
      kind === "mpim" ||
      message.is_ephemeral ||
      (message.text ?? "").includes(`<@${this.me}>`) ||
      /<!(channel|here|everyone)>/.test(message.text ?? "");
    const mine = isReply(message) && this.list(channel, message.thread_ts).some((other) => other.user === this.me);
    if (isReply(message) && message.subtype !== "thread_broadcast" && !personal && !mine) return;
    this.marks.add(channel, personal || mine);
    this.#emit("unread");
  }

  // ---- the feed

  /** Applies one push of the feed. Pushes about modals and the App Home are not for the store. */
  apply(push) {
    const handler = this.#handlers[push.type];
    handler?.(push);
  }

  #handlers = {
    message: ({ channel, message }) => {
      const known = this.#channelMessages(channel);
      const fresh = !known.has(message.ts);
      known.set(message.ts, message);
      this.#touch(channel, message.ts);
      if (isReply(message) && fresh && !message.is_ephemeral) this.#countReply(channel, message);
      if (fresh) {
        this.#countUnread(channel, message);
        this.#emit("incoming", { channel, message });
      }
      this.#emit("messages", { channel });
    },
    message_changed: ({ channel, message }) => {
      this.#channelMessages(channel).set(message.ts, message);
      this.#touch(channel, message.ts);
      this.#emit("messages", { channel });
    },
    message_deleted: ({ channel, ts }) => {
      this.#channelMessages(channel).delete(ts);
      this.#touch(channel, ts);
      this.#emit("messages", { channel });
    },
    status: ({ channel, thread_ts: thread, status, loading_messages: loading = [] }) => {
      this.#pushed("statuses", channel, thread);
      if (status) this.statuses.set(keyOf(channel, thread), { status, loading_messages: loading });
      else this.statuses.delete(keyOf(channel, thread));
      this.#emit("status", { channel });
    },
    session: ({ channel, thread_ts: thread, status, title }) => {
      this.#pushed("sessions", channel, thread);
      this.sessions.set(keyOf(channel, thread), { status, title });
      this.#emit("status", { channel });
    },
    prompts: ({ channel, thread_ts: thread, title, prompts }) => {
      this.#pushed("prompts", channel, thread);
      this.prompts.set(keyOf(channel, thread), { title, prompts: prompts ?? [] });
      this.#emit("status", { channel });
    },
    // The push names the channel only; what it is like comes with the workspace.
    channel: () => this.#emit("stale"),
    app: ({ connected }) => {
      this.app = { ...this.app, connected };
      this.#emit("app");
    },
  };

  // What a load under way would bring of it may be older.
  #pushed(name, channel, thread) {
    for (const load of this.loads) load.add([name, keyOf(channel, thread)]);
  }

  // A reply counts at its root at once; the server's own count, if it comes by `message_changed`, replaces this one.
  #countReply(channel, reply) {
    const root = this.message(channel, reply.thread_ts);
    if (!root || (root.latest_reply ?? "") >= reply.ts) return;
    const people = new Set([...(root.reply_users ?? []), reply.user]);
    this.#channelMessages(channel).set(root.ts, {
      ...root,
      thread_ts: root.ts,
      reply_count: (root.reply_count ?? 0) + 1,
      latest_reply: reply.ts,
      reply_users: [...people],
    });
  }
}

// The live feed: one WebSocket per person, reconnected with growing pauses. After every (re)connection `onOpen(again)` is
// called so the page can fetch what it missed; pushes of an older socket are never delivered.

const FIRST_PAUSE_MS = 400;
const LONGEST_PAUSE_MS = 15_000;

export class Feed {
  /** `onPush(push)` for every push, `onOpen(again)` when a line is up, `onState("open" | "down")` for the banner. */
  constructor({ onPush, onOpen, onState }) {
    this.handlers = { onPush, onOpen, onState };
    this.socket = null;
    this.user = null;
    this.failures = 0;
    this.timer = null;
    addEventListener("online", () => this.#retryNow());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.#retryNow());
  }

  /** Opens the line for `user`, closing the one of the person before. */
  start(user) {
    this.user = user;
    this.failures = 0;
    this.#connect(false);
  }

  #retryNow() {
    if (this.user && this.timer) this.#connect(true);
  }

  #connect(again) {
    clearTimeout(this.timer);
    this.timer = null;
    const old = this.socket;
    this.socket = null;
    old?.close();
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/_/feed?user=${encodeURIComponent(this.user)}`);
    this.socket = socket;
    socket.onopen = () => {
      if (this.socket !== socket) return;
      this.failures = 0;
      this.handlers.onState("open");
      this.handlers.onOpen(again);
    };
    socket.onmessage = (event) => {
      if (this.socket !== socket) return;
      let push;
      try {
        push = JSON.parse(event.data);
      } catch (error) {
        console.error("The feed sent something that is not JSON:", error);
        return;
      }
      this.handlers.onPush(push);
    };
    socket.onclose = () => {
      if (this.socket !== socket) return;
      this.failures += 1;
      this.handlers.onState("down");
      const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.failures - 1)) * (0.75 + Math.random() / 2);
      this.timer = setTimeout(() => this.#connect(true), pause);
    };
  }
}

// What a screen reader is told, and the window's title: new messages of the open conversation, and how much is unread elsewhere.

import { plain } from "./entities.js";
import { authorOf } from "./message.js";

const KEPT = 6;

/** Starts announcing; `live` is the polite live region. */
export function startAnnouncing(ui, live) {
  const { store } = ui;
  const say = (message) => {
    const node = document.createElement("div");
    node.textContent = `${authorOf(store, message).real_name}: ${plain(store, message.text).slice(0, 400)}`;
    live.append(node);
    while (live.childElementCount > KEPT) live.firstElementChild.remove();
  };
  // A streaming answer is read once, when it is complete.
  const streaming = new Set();
  store.addEventListener("incoming", ({ detail: { channel, message } }) => {
    if (message.user === store.me || channel !== ui.place.channel) return;
    if (message.streaming_state === "in_progress") streaming.add(`${channel}:${message.ts}`);
    else say(message);
  });
  store.addEventListener("messages", ({ detail: { channel } }) => {
    for (const key of streaming) {
      const [where, ts] = key.split(":");
      if (where !== channel) continue;
      const message = store.message(channel, ts);
      if (message?.streaming_state === "in_progress") continue;
      streaming.delete(key);
      if (message) say(message);
    }
  });
  const title = () => {
    const unread = store.marks.total();
    document.title = `${unread ? `(${unread}) ` : ""}${store.title(ui.place.channel) || "Playground"} – ${store.team.name || "Playground"}`;
  };
  for (const type of ["workspace", "unread", "place"]) store.addEventListener(type, title);
}

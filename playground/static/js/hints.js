// A first visit: what this place is and what one might type, as examples that a click puts into the message box.

import { h, iconButton } from "./dom.js";

const KEY = "hints-dismissed";

const dismissed = () => {
  try {
    return localStorage.getItem(KEY) === "yes";
  } catch (error) {
    console.info("No storage here, hints are shown again:", error.message);
    return false;
  }
};

/** The examples to offer: the server's, or general ones for the app's name in English and Chinese. */
function examples(store, direct) {
  const given = store.examples.map((entry) => (typeof entry === "string" ? entry : (entry.message ?? entry.text ?? ""))).filter(Boolean);
  const bot = store.user(store.app.bot_user_id).name;
  const own = [`@${bot} hello`, `@${bot} what can you do?`, `@${bot} 你好`, `@${bot} 你能做什么？`];
  const list = given.length ? given : own;
  return direct ? list.map((text) => text.replace(new RegExp(`^@${bot}\\s*`), "")) : list;
}

/** The panel above the message box in #general and in empty conversations the app is part of; null when not wanted. */
export function hintPanel(ui, channel) {
  const { store } = ui;
  const place = store.channels.get(channel);
  if (!place || dismissed() || !store.isLoaded(channel)) return null;
  const withApp = (place.members ?? []).includes(store.app.bot_user_id) || store.isAppChannel(channel);
  const messages = store.list(channel);
  const empty = messages.every((message) => message.subtype);
  const newcomer =
    place.name === "general" && !messages.some((message) => message.user === store.me && message.text?.includes(`<@${store.app.bot_user_id}>`));
  if (!withApp || !(empty || newcomer)) return null;
  const panel = h(
    "section",
    { class: "hints", "aria-label": "What you can try", "data-testid": "hints" },
    h(
      "div",
      { class: "hints-head" },
      h("strong", {}, `Try ${store.app.name || "the app"}`),
      h("span", { class: "muted" }, "A Slack on this machine only. Pick a message and press Enter; the menu at the top makes you someone else."),
      iconButton("close", "Hide the examples", () => {
        try {
          localStorage.setItem(KEY, "yes");
        } catch (error) {
          console.info("Cannot remember that the hints are hidden:", error.message);
        }
        panel.remove();
      }),
    ),
    h(
      "div",
      { class: "prompts-row" },
      examples(store, store.isAppChannel(channel))
        .slice(0, 6)
        .map((text) => h("button", { type: "button", class: "prompt", onclick: () => ui.fillComposer(text) }, text)),
    ),
  );
  return panel;
}

// "Steward is thinking…" with loading messages that take turns, the Stop button of a processing session, and suggested prompts.

import { h, icon } from "./dom.js";

const TURN_MS = 3000;

/** The status line of a thread, or null. It is drawn once: in the thread panel when that is open, else below the root message. */
export function statusLine(ui, channel, thread, { panel = false } = {}) {
  if (!panel && ui.isThreadOpen(channel, thread)) return null;
  const status = ui.store.statusOf(channel, thread);
  const session = ui.store.sessionOf(channel, thread);
  const processing = session?.status === "processing";
  const suspended = session?.status === "suspended";
  if (!status && !processing && !suspended) return null;
  const name = ui.store.app.name || "The app";
  const turns = status?.loading_messages?.length ? status.loading_messages : null;
  let words = status?.status ? `${name} ${status.status}` : `${name} is working…`;
  if (turns) words = turns[Math.floor(Date.now() / TURN_MS) % turns.length];
  if (suspended && !status) words = `${name} waits for a decision.`;
  const line = h(
    "div",
    { class: `status-line${suspended ? " waiting" : ""}`, "data-testid": "status" },
    h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i")),
    h(
      "span",
      {
        class: "status-words",
        role: "status",
        "data-turns": turns ? JSON.stringify(turns) : null,
        title: status?.status ? `${name} ${status.status}` : null,
      },
      words,
    ),
    processing &&
      h(
        "button",
        {
          type: "button",
          class: "button small stop",
          "data-testid": "stop",
          "data-focus-key": "stop",
          onclick: (event) => ui.stop(channel, thread, event.currentTarget),
        },
        icon("stop"),
        "Stop",
      ),
  );
  return line;
}

/** Lets loading messages take turns; one timer for the whole page. */
export function startTurns() {
  setInterval(() => {
    for (const node of document.querySelectorAll(".status-words[data-turns]")) {
      const turns = JSON.parse(node.dataset.turns);
      const words = turns[Math.floor(Date.now() / TURN_MS) % turns.length];
      if (node.textContent !== words) node.textContent = words;
    }
  }, 500);
}

/** Suggested prompts as buttons: a click sends the prompt. Null when there are none. */
export function promptRow(ui, channel, thread) {
  const entry = ui.store.promptsOf(channel, thread);
  if (!entry?.prompts?.length) return null;
  return h(
    "div",
    { class: "prompts", role: "group", "aria-label": entry.title || "Suggested prompts", "data-testid": "prompts" },
    h("div", { class: "prompts-title muted" }, icon("spark"), entry.title || "Suggestions"),
    h(
      "div",
      { class: "prompts-row" },
      entry.prompts.map((prompt) =>
        h(
          "button",
          {
            type: "button",
            class: "prompt",
            title: prompt.message,
            onclick: () => ui.sendPrompt(channel, thread, prompt.message),
          },
          prompt.title,
        ),
      ),
    ),
  );
}

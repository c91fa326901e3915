// What a person can do here, each as one call to the playground: write, edit, delete, react, press an app's button, stop the agent.
// Failures become a notice; a message that could not be sent is thrown back to its composer.

import { explain, post, upload } from "./api.js";
import { h, isComposing } from "./dom.js";
import { confirm, pickEmoji } from "./dialogs.js";
import { emojiOf } from "./emoji.js";
import { plain } from "./entities.js";
import { Form } from "./form.js";

/** The deeds as methods to be mixed into `ui`. */
export function deeds(ui) {
  const { store } = ui;
  const forms = new Map(); // "channel:ts" → Form
  const attempt = async (work) => {
    try {
      return await work();
    } catch (error) {
      ui.notify(explain(error));
      return null;
    }
  };

  async function submitText(channel, thread, text, { files = [], broadcast = false } = {}) {
    const command = /^(\/[^\s/]+)(?:\s+([\s\S]*))?$/.exec(text.trim());
    if (command && !files.length) {
      if (thread) throw new Error(`${command[1]} cannot be used in a thread.`);
      // An app that lists no commands takes them all.
      if (store.commands.length && !store.commands.some((entry) => entry.command === command[1]))
        throw new Error(`There is no command ${command[1]}. Known: ${store.commands.map((entry) => entry.command).join(", ")}.`);
      await post("command", { user: store.me, channel, command: command[1], text: command[2] ?? "" });
      return;
    }
    const body = { user: store.me, channel, text: text.trim() };
    if (thread) body.thread_ts = thread;
    if (broadcast) body.broadcast = true;
    if (files.length) body.file_ids = files;
    const { ts } = await post("message", body);
    if (thread) store.dropPrompts(channel, thread);
    store.read(channel, ts);
    ui.afterSend(channel, thread, ts);
  }

  const act = (where, block, element, state) =>
    attempt(async () => {
      const action = { block_id: block.block_id, action_id: element.action_id, ...state, type: state?.type ?? element.type };
      await post("action", { user: store.me, action, ...where });
    });

  function messageSurface(message) {
    const key = `${message.channel}:${message.ts}`;
    if (!forms.has(key)) forms.set(key, new Form());
    const form = forms.get(key);
    return {
      ui,
      form,
      kind: "message",
      where: { channel: message.channel, message_ts: message.ts },
      send: (block, element, state) =>
        act({ channel: message.channel, message_ts: message.ts, state: form.state(message.blocks) }, block, element, state),
    };
  }

  const shortcut = (entry, message) =>
    attempt(() => post("shortcut", { user: store.me, callback_id: entry.callback_id, channel: message?.channel, message_ts: message?.ts }));

  const options = async (where, block, element, value) =>
    (await attempt(() => post("options", { user: store.me, ...where, block_id: block.block_id, action_id: element.action_id, value }))) ?? {};

  const react = (message, name, remove) =>
    attempt(() => post("react", { user: store.me, channel: message.channel, ts: message.ts, name, remove: remove || undefined }));

  async function deleteMessage(message) {
    const yes = await confirm({
      title: "Delete this message?",
      body: h("div", { class: "quoted" }, plain(store, message.text).slice(0, 300)),
      yes: "Delete",
      danger: true,
    });
    if (yes) await attempt(() => post("delete", { user: store.me, channel: message.channel, ts: message.ts }));
  }

  function startEdit(message) {
    ui.editing = message.ts;
    ui.redraw();
    requestAnimationFrame(() => document.querySelector(".edit-input")?.focus());
  }

  function endEdit() {
    ui.editing = null;
    ui.redraw();
    ui.focusComposer();
  }

  function editBox(message) {
    const input = h("textarea", {
      class: "composer-input edit-input",
      rows: "2",
      value: plain(store, message.text),
      "aria-label": "Edit message",
      "data-testid": "edit-input",
      "data-focus-key": "edit",
      onkeydown: (event) => {
        if (isComposing(event)) return;
        if (event.key === "Escape") {
          event.stopPropagation();
          endEdit();
        } else if (event.key === "Enter" && !event.shiftKey) {
          event.preventDefault();
          save();
        }
      },
    });
    const save = async () => {
      const text = input.value.trim();
      if (!text) return deleteMessage(message);
      const done = await attempt(() => post("edit", { user: store.me, channel: message.channel, ts: message.ts, text }));
      if (done) endEdit();
      return undefined;
    };
    return h(
      "div",
      { class: "edit-box" },
      input,
      h(
        "div",
        { class: "edit-foot" },
        h("button", { type: "button", class: "button small", onclick: endEdit }, "Cancel"),
        h("button", { type: "button", class: "button small primary", "data-testid": "edit-save", onclick: save }, "Save"),
      ),
    );
  }

  function editLast(channel, thread) {
    const mine = store
      .list(channel, thread)
      .filter((message) => message.user === store.me && (!message.subtype || message.subtype === "file_share"))
      .at(-1);
    if (mine) startEdit({ ...mine, channel });
  }

  return {
    submitText,
    act,
    shortcut,
    options,
    messageSurface,
    react,
    deleteMessage,
    startEdit,
    editBox,
    editLast,
    confirm,
    pickEmoji,
    dismiss: (message) => attempt(() => post("delete", { user: store.me, channel: message.channel, ts: message.ts })),
    pickReaction: (message, anchor) =>
      pickEmoji(anchor, ({ name }) =>
        react(
          message,
          name,
          (message.reactions ?? []).some((entry) => entry.name === name && entry.users?.includes(store.me)),
        ),
      ),
    sendPrompt: (channel, thread, text) => attempt(() => submitText(channel, thread, text)),
    uploadAll: async (files) => (await Promise.all(files.map((file) => attempt(() => upload(store.me, file))))).filter(Boolean),
    stop: (channel, thread, button) =>
      attempt(async () => {
        button.classList.add("busy");
        await post("stop", { user: store.me, channel, thread_ts: thread });
      }).finally(() => button.classList.remove("busy")),
    emojiOf,
  };
}

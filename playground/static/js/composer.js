// The box one writes in: Enter sends, Shift+Enter breaks the line, completion, formatting, files by button, paste or drop.
// Drafts are kept per conversation while the page is open.

import { explain, upload } from "./api.js";
import { Completion } from "./complete.js";
import { h, icon, iconButton, isComposing } from "./dom.js";
import { sizeOf } from "./files.js";

const drafts = new Map(); // "user:channel:thread" → text

export class Composer {
  constructor(ui, { channel, thread = null, placeholder, testid }) {
    Object.assign(this, { ui, channel, thread });
    this.draftKey = `${ui.store.me}:${channel}:${thread ?? ""}`;
    this.files = []; // {name, file? (once uploaded), failed?}
    this.sending = Promise.resolve();
    this.input = h("textarea", {
      class: "composer-input",
      rows: "1",
      placeholder,
      "aria-label": placeholder,
      "data-testid": testid,
      value: drafts.get(this.draftKey) ?? "",
      spellcheck: "true",
      "data-focus-key": testid,
      oninput: () => this.#changed(),
      onkeydown: (event) => this.#key(event),
      onclick: () => this.completion.refresh(),
      onblur: () => this.completion.close(),
      onpaste: (event) => event.clipboardData?.files.length && (event.preventDefault(), this.addFiles(event.clipboardData.files)),
    });
    this.completion = new Completion(ui, this.input, { thread });
    this.fileInput = h("input", {
      type: "file",
      multiple: true,
      hidden: true,
      "data-testid": `${testid}-file`,
      onchange: () => (this.addFiles(this.fileInput.files), (this.fileInput.value = "")),
    });
    this.chips = h("div", { class: "file-chips", hidden: true });
    this.hint = h("div", { class: "composer-hint muted", hidden: true });
    this.sendButton = iconButton("send", "Send", () => this.send(), {
      class: "icon-button send-button",
      "data-testid": thread ? "thread-send" : "send",
    });
    this.broadcast = thread && !ui.store.isAppChannel(channel) ? h("input", { type: "checkbox" }) : null;
    this.element = h(
      "div",
      { class: "composer" },
      this.completion.element,
      h(
        "div",
        { class: "composer-box" },
        this.input,
        this.chips,
        h(
          "div",
          { class: "composer-bar" },
          iconButton("clip", "Attach a file", () => this.fileInput.click()),
          this.fileInput,
          iconButton("at", "Mention someone", () => this.insert("@")),
          iconButton("smile", "Emoji", (event) => ui.pickEmoji(event.currentTarget, (entry) => this.insert(`${entry.glyph} `))),
          h("span", { class: "bar-gap" }),
          FORMATS.map(([label, name, edit]) =>
            h("button", { type: "button", class: `icon-button format ${name}`, title: name, "aria-label": name, onclick: () => edit(this) }, label),
          ),
          h("span", { class: "bar-rest" }),
          this.sendButton,
        ),
      ),
      this.broadcast && h("label", { class: "broadcast muted" }, this.broadcast, `Also send to ${ui.store.title(channel)}`),
      this.hint,
    );
    this.#grow();
  }

  focus() {
    this.input.focus({ preventScroll: true });
  }

  /** Puts text at the caret and gives the box the focus. */
  insert(text) {
    this.focus();
    const before = this.input.value.slice(0, this.input.selectionStart);
    const gap = text.startsWith("@") && before && !/\s$/.test(before) ? " " : "";
    this.input.setRangeText(gap + text, this.input.selectionStart, this.input.selectionEnd, "end");
    this.#changed();
  }

  /** Replaces what is written. */
  set(text) {
    this.input.value = text;
    this.focus();
    this.input.setSelectionRange(text.length, text.length);
    this.#changed();
    this.completion.close();
  }

  /** Surrounds the selection with `mark`. */
  wrap(mark) {
    const { selectionStart: start, selectionEnd: end, value } = this.input;
    this.focus();
    this.input.setRangeText(mark + value.slice(start, end) + mark, start, end, "end");
    if (start === end) this.input.setSelectionRange(start + mark.length, start + mark.length);
    this.#changed();
  }

  /** Puts `prefix` before every selected line. */
  prefix(prefix) {
    const { selectionStart, selectionEnd, value } = this.input;
    const start = value.lastIndexOf("\n", selectionStart - 1) + 1;
    this.focus();
    this.input.setRangeText(value.slice(start, selectionEnd).replace(/^/gm, prefix), start, selectionEnd, "end");
    this.#changed();
  }

  #changed() {
    drafts.set(this.draftKey, this.input.value);
    this.#grow();
    this.completion.refresh();
    const command = /^(\/\S+)\s/.exec(this.input.value)?.[1];
    const known = command && this.ui.store.commands.find((entry) => entry.command === command);
    this.hint.hidden = !known;
    this.hint.textContent = known ? [known.command, known.usage_hint, known.description && `— ${known.description}`].filter(Boolean).join(" ") : "";
  }

  #grow() {
    this.input.style.setProperty("height", "auto");
    if (this.input.scrollHeight) this.input.style.setProperty("height", `${Math.min(this.input.scrollHeight, 260)}px`);
    const empty = !this.input.value.trim() && !this.files.some((entry) => entry.file);
    this.sendButton.classList.toggle("ready", !empty);
  }

  #key(event) {
    if (isComposing(event) || this.completion.key(event)) return;
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.send();
    } else if (event.key === "ArrowUp" && !this.input.value && !event.shiftKey) {
      event.preventDefault();
      this.ui.editLast(this.channel, this.thread);
    } else if ((event.ctrlKey || event.metaKey) && !event.shiftKey && ["b", "i", "e"].includes(event.key.toLowerCase())) {
      event.preventDefault();
      this.wrap({ b: "*", i: "_", e: "`" }[event.key.toLowerCase()]);
    }
  }

  /** Uploads files and shows them as chips below the text. */
  addFiles(files) {
    for (const file of files) {
      const entry = { name: file.name, size: file.size, file: null };
      this.files.push(entry);
      entry.done = upload(this.ui.store.me, file)
        .then(
          (uploaded) => (entry.file = uploaded),
          (error) => {
            this.files = this.files.filter((other) => other !== entry);
            this.ui.notify(`${file.name}: ${explain(error)}`);
          },
        )
        .finally(() => this.#drawChips());
    }
    this.#drawChips();
    this.focus();
  }

  #drawChips() {
    this.chips.hidden = !this.files.length;
    this.chips.replaceChildren(
      ...this.files.map((entry) =>
        h(
          "span",
          { class: `file-chip${entry.file ? "" : " busy"}` },
          icon("file"),
          h("span", { class: "file-name" }, entry.name),
          h("span", { class: "muted" }, sizeOf(entry.size)),
          iconButton("close", `Remove ${entry.name}`, () => {
            this.files = this.files.filter((other) => other !== entry);
            this.#drawChips();
          }),
        ),
      ),
    );
    this.#grow();
  }

  /** Sends what is written; one message after another. What could not be sent comes back into the box. */
  send() {
    const text = this.input.value;
    const files = this.files;
    if (!text.trim() && !files.length) return;
    const broadcast = this.broadcast?.checked ?? false;
    this.input.value = "";
    this.files = [];
    if (this.broadcast) this.broadcast.checked = false;
    this.#drawChips();
    this.#changed();
    this.sending = this.sending.then(async () => {
      try {
        await Promise.all(files.map((entry) => entry.done));
        const ids = files.filter((entry) => entry.file).map((entry) => entry.file.id);
        if (text.trim() || ids.length) await this.ui.submitText(this.channel, this.thread, text, { files: ids, broadcast });
      } catch (error) {
        if (!this.input.value) this.set(text);
        this.files = [...files, ...this.files];
        this.#drawChips();
        this.ui.notify(explain(error));
      }
    });
  }
}

const FORMATS = [
  ["B", "Bold", (composer) => composer.wrap("*")],
  ["I", "Italic", (composer) => composer.wrap("_")],
  ["S", "Strike", (composer) => composer.wrap("~")],
  [
    "<>",
    "Code",
    (composer) =>
      composer.wrap(composer.input.value.slice(composer.input.selectionStart, composer.input.selectionEnd).includes("\n") ? "\n```\n" : "`"),
  ],
  ["❝", "Quote", (composer) => composer.prefix("> ")],
];

/** Lets files be dropped anywhere on `target` into the composer that `composer()` answers. */
export function acceptDrops(target, composer) {
  let depth = 0;
  const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  const show = (on) => target.classList.toggle("dropping", on);
  target.addEventListener("dragenter", (event) => hasFiles(event) && ((depth += 1), show(true)));
  target.addEventListener("dragleave", (event) => hasFiles(event) && (depth -= 1) <= 0 && ((depth = 0), show(false)));
  target.addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
  target.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth = 0;
    show(false);
    composer()?.addFiles(event.dataTransfer.files);
  });
}

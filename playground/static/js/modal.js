// Modals an app opens: a stack of views, of which the top one is shown. What a person has entered survives an update of the view;
// required fields and lengths are checked here first, the app's own errors are shown at their inputs.

import { ApiError, explain, post } from "./api.js";
import { renderBlocks } from "./blocks.js";
import { h, icon, iconButton, keepFocus, trapFocus } from "./dom.js";
import { Form, VALUE_KEYS } from "./form.js";

export class ModalStack {
  constructor(ui) {
    this.ui = ui;
    this.stack = []; // {view, form, errors, problem}
    this.dialog = null;
  }

  /** Applies a `view` push of the feed: open, push, update or close. */
  apply({ action, view, view_id: id }) {
    if (view?.type === "home") return;
    if (action === "open" && view) this.#show([this.#entry(view)]);
    else if (action === "push" && view) this.#put(view);
    else if (action === "update" && view) this.#put(view, { onlyKnown: true });
    else if (action === "close") this.#show(this.#below(id));
  }

  /** Forgets everything, for another person. */
  clear() {
    this.#show([]);
  }

  // The stack without a view and whatever is above it.
  #below(id) {
    const at = this.stack.findIndex((entry) => entry.view.id === id);
    return at < 0 ? this.stack : this.stack.slice(0, at);
  }

  #entry(view) {
    return { view, form: new Form(), errors: {}, problem: "" };
  }

  #put(view, { onlyKnown = false } = {}) {
    const known = this.stack.find((entry) => entry.view.id === view.id);
    if (!known && onlyKnown) return;
    if (known) Object.assign(known, { view, errors: {}, problem: "" });
    this.#show(known ? this.stack : [...this.stack, this.#entry(view)]);
  }

  #show(stack) {
    const topBefore = this.stack.at(-1);
    this.stack = stack;
    const top = stack.at(-1);
    if (!top) {
      const { dialog } = this;
      this.dialog = null;
      dialog?.close();
      dialog?.remove();
      if (this.opener?.isConnected) this.opener.focus({ preventScroll: true });
      return;
    }
    const fresh = !this.dialog;
    if (fresh) {
      this.opener = document.activeElement;
      this.dialog = h("dialog", { class: "dialog modal", "data-testid": "modal" });
      this.dialog.addEventListener("cancel", (event) => {
        event.preventDefault(); // Escape: the app is told, then the view goes
        this.#close();
      });
      trapFocus(this.dialog);
      document.body.append(this.dialog);
    }
    keepFocus(this.dialog, () => this.dialog.replaceChildren(this.#draw(top)));
    if (fresh) this.dialog.showModal();
    if (fresh || top !== topBefore) this.#focusFirst(top.view);
  }

  #focusFirst(view) {
    const wanted =
      this.dialog.querySelector("[autofocus]") ??
      this.dialog.querySelector(".modal-body :is(input, textarea, select, summary)") ??
      this.dialog.querySelector(".modal-foot .primary, .modal-foot button");
    wanted?.focus();
    this.dialog.setAttribute("aria-label", view.title?.text ?? "Dialog");
    this.dialog.dataset.view = view.id;
    this.dialog.dataset.callback = view.callback_id ?? "";
  }

  #draw(entry) {
    const { view, form, errors, problem } = entry;
    const { ui } = this;
    const send = (block, element, state) => ui.act({ view_id: view.id, state: form.state(entry.view.blocks) }, block, element, state);
    const surface = { ui, form, errors, kind: "modal", send, where: { view_id: view.id } };
    return h(
      "form",
      { novalidate: true, onsubmit: (event) => (event.preventDefault(), this.#submit(entry)) },
      h(
        "header",
        { class: "modal-head" },
        h("h2", {}, view.title?.text ?? ""),
        iconButton("close", this.stack.length > 1 ? "Back" : "Close", () => this.#close(), {
          "data-testid": "modal-close",
          "data-focus-key": "modal-close",
        }),
      ),
      h(
        "div",
        { class: "modal-body" },
        renderBlocks(surface, view.blocks),
        problem && h("div", { class: "input-error", role: "alert", "data-testid": "modal-error" }, icon("warn"), problem),
      ),
      h(
        "footer",
        { class: "modal-foot" },
        h(
          "button",
          { type: "button", class: "button", "data-testid": "modal-cancel", "data-focus-key": "modal-cancel", onclick: () => this.#close() },
          view.close?.text ?? (view.submit ? "Cancel" : "Close"),
        ),
        (view.submit || (view.blocks ?? []).some((block) => block.type === "input")) &&
          h(
            "button",
            { type: "submit", class: "button primary", "data-testid": "modal-submit", "data-focus-key": "modal-submit" },
            view.submit?.text ?? "Submit",
          ),
      ),
    );
  }

  async #close() {
    const top = this.stack.at(-1);
    if (!top) return;
    this.#show(this.stack.filter((entry) => entry !== top));
    try {
      await post("close", { user: this.ui.store.me, view_id: top.view.id });
    } catch (error) {
      this.ui.notify(explain(error));
    }
  }

  async #submit(entry) {
    const { view, form } = entry;
    if (entry.busy) return;
    entry.errors = validate(view, form);
    entry.problem = "";
    if (Object.keys(entry.errors).length) return this.#refuse();
    entry.busy = true;
    const button = this.dialog.querySelector("[data-testid=modal-submit]");
    button?.classList.add("busy");
    try {
      const answer = await post("submit", { user: this.ui.store.me, view_id: view.id, state: form.state(view.blocks) });
      const under = this.#below(view.id).some((other) => other.view.id === answer.view?.id);
      if (!answer.view || under) this.#show(this.#below(view.id));
      if (answer.view) this.#put(answer.view);
    } catch (error) {
      const errors = error instanceof ApiError ? error.answer.errors : null;
      const inputs = new Set(view.blocks.map((block) => block.block_id));
      if (errors && Object.keys(errors).some((block) => inputs.has(block))) entry.errors = errors;
      else entry.problem = explain(error);
      this.#refuse();
    } finally {
      entry.busy = false;
      button?.classList.remove("busy");
    }
    return undefined;
  }

  #refuse() {
    this.#show(this.stack);
    const wrong = this.dialog?.querySelector(".invalid :is(input, textarea, select, summary)");
    wrong?.focus();
  }
}

const isEmpty = (value) => value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);

// What Slack's own client refuses before the app is asked: empty required inputs, numbers and lengths out of bounds.
function validate(view, form) {
  const errors = {};
  for (const block of view.blocks ?? []) {
    if (block.type !== "input") continue;
    const { element } = block;
    const value = form.get(block.block_id, element.action_id)?.[VALUE_KEYS[element.type]];
    if (isEmpty(value)) {
      if (!block.optional) errors[block.block_id] = "Please fill in this field.";
    } else if (element.type === "number_input") {
      const number = Number(value);
      if (Number.isNaN(number)) errors[block.block_id] = "Please enter a number.";
      else if (!element.is_decimal_allowed && !Number.isInteger(number)) errors[block.block_id] = "Please enter a whole number.";
      else if (element.min_value !== undefined && number < Number(element.min_value)) errors[block.block_id] = `At least ${element.min_value}.`;
      else if (element.max_value !== undefined && number > Number(element.max_value)) errors[block.block_id] = `At most ${element.max_value}.`;
    } else if (typeof value === "string" && element.min_length && value.length < element.min_length) {
      errors[block.block_id] = `At least ${element.min_length} characters.`;
    } else if (element.type === "email_text_input" && !/^\S+@\S+\.\S+$/.test(value)) {
      errors[block.block_id] = "Please enter an email address.";
    } else if (element.type === "url_text_input" && !/^https?:\/\/\S+$/.test(value)) {
      errors[block.block_id] = "Please enter a web address.";
    }
  }
  return errors;
}

// The app's Home tab: a view the app publishes for one person, redrawn in place when the app publishes it again.

import { explain, post } from "./api.js";
import { renderBlocks } from "./blocks.js";
import { h, icon, keepFocus } from "./dom.js";
import { Form } from "./form.js";

export class HomeTab {
  constructor(ui) {
    this.ui = ui;
    this.form = new Form();
    this.view = null;
    this.body = h("div", { class: "home-body" }, h("div", { class: "loading muted" }, "Loading…"));
    this.element = h("div", { class: "home scroller", "data-testid": "app-home", tabindex: "-1" }, this.body);
  }

  /** Tells the app that its Home was opened and shows what is published. */
  async open() {
    try {
      const { view } = await post("home", { user: this.ui.store.me, tab: "home" });
      // The app may publish while this call is answered; what the feed brought in the meantime is newer.
      if (!this.view) this.show(view ?? null);
    } catch (error) {
      if (!this.view) this.show(null);
      this.ui.notify(explain(error));
    }
  }

  show(view) {
    this.view = view;
    const { ui, form } = this;
    if (!view?.blocks?.length) {
      this.body.replaceChildren(
        h("div", { class: "empty" }, icon("spark"), h("p", {}, `${ui.store.app.name || "The app"} has not published a Home for you yet.`)),
      );
      return;
    }
    const send = (block, element, state) => ui.act({ view_id: view.id, state: form.state(view.blocks) }, block, element, state);
    keepFocus(this.body, () => this.body.replaceChildren(renderBlocks({ ui, form, kind: "home", send, where: { view_id: view.id } }, view.blocks)));
  }
}

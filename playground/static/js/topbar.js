// The bar above everything: sidebar button, jump box, who you are, colour scheme; and the banners below it.

import { h, icon, iconButton } from "./dom.js";

const THEMES = { auto: ["light", "sun", "Light"], light: ["dark", "moon", "Dark"], dark: ["auto", "auto", "System"] };

export class Topbar {
  constructor(ui, element, banners) {
    Object.assign(this, { ui, element, banners });
    this.select = h("select", {
      class: "person-select",
      "data-testid": "person-select",
      "aria-label": "You are",
      onchange: () => ui.become(this.select.value),
    });
    this.theme = iconButton("sun", "Colour scheme", () => this.#nextTheme(), { class: "icon-button bar", "data-testid": "theme" });
    element.append(
      iconButton("menu", "Channels", () => ui.toggleSidebar(), { class: "icon-button bar menu-button", "data-testid": "menu" }),
      h(
        "button",
        { type: "button", class: "jump", onclick: () => ui.openSwitcher(), "data-testid": "jump" },
        icon("search"),
        h("span", { class: "jump-text" }, "Go to a channel or a person"),
        h("kbd", {}, /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘K" : "Ctrl K"),
      ),
      h("label", { class: "person" }, h("span", { class: "person-label" }, "You are:"), this.select),
      this.theme,
    );
    this.#drawTheme();
    ui.store.addEventListener("workspace", () => this.#drawPeople());
    ui.store.addEventListener("app", () => this.drawBanners());
  }

  #drawPeople() {
    const { store } = this.ui;
    this.select.replaceChildren(
      ...store
        .people()
        .map((user) =>
          h(
            "option",
            { value: user.id, selected: user.id === store.me },
            `${user.real_name || user.name}${user.is_guest ? " (guest)" : user.team_id && user.team_id !== store.team.id && store.team.id ? " (external)" : ""}`,
          ),
        ),
    );
    this.select.value = store.me;
  }

  /** Shows what is wrong with the connections, if anything. */
  drawBanners() {
    const { app } = this.ui.store;
    this.banners.replaceChildren();
    if (this.ui.feedDown)
      this.banners.append(
        h("div", { class: "banner bad", "data-testid": "banner-feed" }, icon("warn"), "The line to the playground is down. Trying again…"),
      );
    else if (app.id && !app.connected)
      this.banners.append(
        h(
          "div",
          { class: "banner", "data-testid": "banner-app" },
          icon("info"),
          `${app.name || "The app"} is not connected. You can write, but nobody answers until it is started.`,
        ),
      );
  }

  #current() {
    return document.documentElement.dataset.theme ?? "auto";
  }

  #drawTheme() {
    const [, , next] = THEMES[this.#current()];
    const shown = { auto: "auto", light: "sun", dark: "moon" }[this.#current()];
    this.theme.replaceChildren(icon(shown));
    this.theme.title = `Colour scheme: ${this.#current()}. Click for ${next.toLowerCase()}.`;
    this.theme.setAttribute("aria-label", this.theme.title);
  }

  #nextTheme() {
    const [next] = THEMES[this.#current()];
    if (next === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem("theme", next);
    } catch (error) {
      console.info("The colour scheme cannot be remembered here:", error.message);
    }
    this.#drawTheme();
  }
}

// The left column: workspace, channels, the app, people. Unread places are bold, direct messages and mentions carry a number.

import { batched, h, icon, iconButton, keepFocus } from "./dom.js";
import { avatar } from "./message.js";

export class Sidebar {
  constructor(ui, element) {
    Object.assign(this, { ui, element });
    this.update = batched(() => this.draw());
    for (const type of ["workspace", "unread", "app"]) ui.store.addEventListener(type, this.update);
    element.addEventListener("keydown", (event) => this.#arrows(event));
  }

  #entry({ key, testid, label, mark, active, unread, go, extra }) {
    const count = unread?.personal ?? 0;
    return h(
      "li",
      {},
      h(
        "button",
        {
          type: "button",
          class: `place${active ? " active" : ""}${unread ? " unread" : ""}`,
          "data-testid": testid,
          "data-focus-key": key,
          "aria-current": active ? "page" : null,
          "data-unread": unread ? String(unread.count) : null,
          onclick: go,
        },
        h("span", { class: "place-mark" }, mark),
        h("span", { class: "place-name" }, label),
        extra,
        count > 0 && h("span", { class: "count", "aria-label": `${count} unread` }, String(count)),
        unread && !count && h("span", { class: "sr-only" }, "unread"),
      ),
    );
  }

  draw() {
    const { ui } = this;
    const { store } = ui;
    const marks = store.marks.unread;
    const at = ui.place.channel;
    const channels = [...store.channels.values()];
    const named = channels.filter((channel) => channel.kind === "channel" || channel.kind === "group").sort((a, b) => a.name.localeCompare(b.name));
    const groups = channels.filter((channel) => channel.kind === "mpim");
    const app = store.users.get(store.app.bot_user_id);
    const users = [...store.users.values()]
      .filter((user) => user.id !== store.me && user.id !== app?.id && !user.deleted)
      .sort((a, b) => Number(a.is_bot) - Number(b.is_bot) || (a.real_name || a.name).localeCompare(b.real_name || b.name));
    const person = (user) => {
      const direct = store.directWith(user.id);
      return this.#entry({
        key: `dm-${user.id}`,
        testid: `dm-${user.name}`,
        label: user.real_name || user.name,
        mark: avatar(user, true),
        active: direct && direct.id === at,
        unread: direct && marks.get(direct.id),
        go: () => ui.openPerson(user.id),
        extra: user.is_guest && h("span", { class: "badge soft" }, "guest"),
      });
    };
    keepFocus(this.element, () =>
      this.element.replaceChildren(
        h(
          "div",
          { class: "workspace" },
          h("span", { class: "workspace-mark", "aria-hidden": "true" }, [...(store.team.name || "P")][0]),
          h("span", { class: "workspace-name" }, store.team.name || "Playground"),
        ),
        h(
          "div",
          { class: "places" },
          app &&
            h(
              "section",
              {},
              h("h2", {}, "App"),
              h(
                "ul",
                {},
                h(
                  "li",
                  { class: "app-place" },
                  this.#entry({
                    key: "app",
                    testid: `dm-${app.name}`,
                    label: app.real_name || app.name,
                    mark: avatar(app, true),
                    active: store.isAppChannel(at),
                    unread: marks.get(store.directWith(app.id)?.id),
                    go: () => ui.openPerson(app.id),
                    extra: h("span", {
                      class: `presence${store.app.connected ? " on" : ""}`,
                      role: "img",
                      "aria-label": store.app.connected ? "connected" : "not connected",
                      title: store.app.connected ? "connected" : "not connected",
                    }),
                  }).firstChild,
                ),
              ),
            ),
          h(
            "section",
            {},
            h("h2", {}, "Channels"),
            h(
              "ul",
              {},
              named.map((channel) =>
                this.#entry({
                  key: channel.id,
                  testid: `channel-${channel.name}`,
                  label: channel.name,
                  mark: icon(channel.kind === "group" ? "lock" : "hash"),
                  active: channel.id === at,
                  unread: marks.get(channel.id),
                  go: () => ui.openChannel(channel.id),
                }),
              ),
            ),
          ),
          h(
            "section",
            {},
            h(
              "h2",
              {},
              "Direct messages",
              iconButton("plus", "New group conversation", () => ui.newConversation(), { class: "icon-button side" }),
            ),
            h(
              "ul",
              {},
              groups.map((channel) =>
                this.#entry({
                  key: channel.id,
                  testid: `dm-${channel.name}`,
                  label: store.title(channel.id),
                  mark: h("span", { class: "avatar small group" }, String((channel.members ?? []).length - 1)),
                  active: channel.id === at,
                  unread: marks.get(channel.id),
                  go: () => ui.openChannel(channel.id),
                }),
              ),
              users.map(person),
            ),
          ),
        ),
      ),
    );
  }

  #arrows(event) {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const places = [...this.element.querySelectorAll(".place")];
    const at = places.indexOf(document.activeElement);
    if (at < 0) return;
    event.preventDefault();
    places[(at + (event.key === "ArrowDown" ? 1 : -1) + places.length) % places.length].focus();
  }
}

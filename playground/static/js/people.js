// "New group conversation": choose some people and open the conversation with them.

import { h, trapFocus } from "./dom.js";
import { avatar } from "./message.js";

/** Asks for people; resolves their ids, or an empty list when it was closed. */
export function choosePeople(store) {
  return new Promise((resolve) => {
    const users = [...store.users.values()].filter((user) => user.id !== store.me && !user.deleted);
    const dialog = h(
      "dialog",
      { class: "dialog small", "aria-label": "New conversation", "data-testid": "new-conversation" },
      h(
        "form",
        { method: "dialog" },
        h("h2", {}, "New conversation"),
        h(
          "div",
          { class: "dialog-body choices" },
          users.map((user) =>
            h(
              "label",
              { class: "choice" },
              h("input", { type: "checkbox", name: "user", value: user.id }),
              avatar(user, true),
              h("span", {}, user.real_name || user.name),
            ),
          ),
        ),
        h(
          "div",
          { class: "dialog-foot" },
          h("button", { class: "button", value: "no" }, "Cancel"),
          h("button", { class: "button primary", value: "yes" }, "Open"),
        ),
      ),
    );
    dialog.addEventListener("close", () => {
      const chosen = [...dialog.querySelectorAll("input:checked")].map((input) => input.value);
      dialog.remove();
      resolve(dialog.returnValue === "yes" ? chosen : []);
    });
    document.body.append(dialog);
    trapFocus(dialog);
    dialog.showModal();
  });
}

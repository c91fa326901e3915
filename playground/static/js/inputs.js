// Block Kit elements that hold a value: text, numbers, dates, choices, people, files. Each is a native control, so keyboard,
// screen reader and phone behave as people expect. A change goes into the surface's Form and, where asked for, to the app.

import { h, isComposing } from "./dom.js";
import { initialOf, VALUE_KEYS } from "./form.js";
import { renderText } from "./mrkdwn.js";

let serial = 0;

/** True for an element this module draws. */
export const isInput = (element) => element.type in VALUE_KEYS;

/** Draws a value element. `dispatch`: whether a change is sent to the app (always outside input blocks). `labels`: ARIA attributes. */
export function renderInput(surface, block, element, { dispatch, labels = {} }) {
  const state = surface.form.declare(block.block_id, element.action_id, initialOf(element));
  const key = VALUE_KEYS[element.type];
  const change = (value, send = true) => {
    const next = { type: element.type, [key]: value };
    surface.form.set(block.block_id, element.action_id, next);
    if (dispatch && send) surface.send(block, element, next);
  };
  const common = {
    "data-testid": `action-${element.action_id}`,
    "data-focus-key": `${block.block_id}/${element.action_id}`,
    "aria-label": labels["aria-labelledby"] ? null : (element.placeholder?.text ?? element.accessibility_label ?? element.action_id),
    autofocus: element.focus_on_load ? true : null,
    ...labels,
  };
  return DRAW[element.type]({ surface, block, element, value: state[key], change, common, dispatch });
}

const DRAW = {
  plain_text_input: text,
  rich_text_input: richText,
  email_text_input: text,
  url_text_input: text,
  number_input: text,
  static_select: select,
  external_select: external,
  users_select: select,
  conversations_select: select,
  channels_select: select,
  multi_static_select: multi,
  multi_external_select: multi,
  multi_users_select: multi,
  multi_conversations_select: multi,
  multi_channels_select: multi,
  checkboxes: boxes,
  radio_buttons: boxes,
  datepicker: moment,
  timepicker: moment,
  datetimepicker: moment,
  file_input: files,
};
const TEXT_TYPES = { email_text_input: "email", url_text_input: "url" };

function text({ element, value, change, common, dispatch }) {
  const on = element.dispatch_action_config?.trigger_actions_on ?? ["on_enter_pressed"];
  const number = element.type === "number_input";
  const props = {
    ...common,
    class: "field",
    value: value ?? "",
    placeholder: element.placeholder?.text,
    minlength: element.min_length,
    maxlength: element.max_length,
    oninput: (event) => change(event.target.value === "" ? null : event.target.value, on.includes("on_character_entered")),
    onkeydown: (event) => {
      if (event.key !== "Enter" || isComposing(event) || !dispatch || event.shiftKey) return;
      event.preventDefault();
      if (on.includes("on_enter_pressed")) change(event.target.value || null);
    },
  };
  if (element.multiline) return h("textarea", { ...props, rows: "4" });
  // A number stays a text field: the app's own check of "12a" must be reachable, and Slack's server does that check.
  return h("input", {
    ...props,
    type: TEXT_TYPES[element.type] ?? "text",
    inputmode: number ? (element.is_decimal_allowed ? "decimal" : "numeric") : null,
    autocomplete: "off",
  });
}

function richText({ element, value, change, common }) {
  const flat = (value?.elements ?? []).flatMap((section) => (section.elements ?? []).map((part) => part.text ?? "")).join("");
  return h("textarea", {
    ...common,
    class: "field",
    rows: "4",
    value: flat,
    placeholder: element.placeholder?.text,
    oninput: (event) =>
      change(
        event.target.value === ""
          ? null
          : { type: "rich_text", elements: [{ type: "rich_text_section", elements: [{ type: "text", text: event.target.value }] }] },
      ),
  });
}

// Everything one may choose from, as groups of {key, label, value}; `value` is what goes into the state.
function choices(surface, element) {
  const { store } = surface.ui;
  const option = (entry) => ({ key: entry.value, label: entry.text?.text ?? entry.value, detail: entry.description?.text, value: entry });
  if (element.type.includes("users")) {
    return [
      {
        label: null,
        options: store.people().map((user) => ({ key: user.id, label: `${user.real_name || user.name} (@${user.name})`, value: user.id })),
      },
    ];
  }
  if (element.type.includes("conversations") || element.type.includes("channels")) {
    const onlyChannels = element.type.includes("channels");
    const shown = [...store.channels.values()].filter((channel) => !onlyChannels || channel.kind === "channel");
    return [{ label: null, options: shown.map((channel) => ({ key: channel.id, label: store.title(channel.id), value: channel.id })) }];
  }
  if (element.option_groups) return element.option_groups.map((group) => ({ label: group.label?.text, options: group.options.map(option) }));
  return [{ label: null, options: (element.options ?? [...(element.initial_options ?? []), element.initial_option].filter(Boolean)).map(option) }];
}

const keyOf = (value) => (typeof value === "string" ? value : value?.value);

function select({ surface, element, value, change, common }) {
  const groups = choices(surface, element);
  const current = keyOf(value);
  const draw = (entry) => h("option", { value: entry.key, selected: entry.key === current }, entry.label);
  const all = groups.flatMap((group) => group.options);
  return h(
    "select",
    {
      ...common,
      class: "field select",
      onchange: (event) => change(all.find((entry) => entry.key === event.target.value)?.value ?? null),
    },
    h("option", { value: "", selected: !current }, element.placeholder?.text ?? "Choose…"),
    groups.map((group) => (group.label ? h("optgroup", { label: group.label }, group.options.map(draw)) : group.options.map(draw))),
  );
}

// A menu whose options the app gives while one types: a text box with a list below it.
function external({ surface, block, element, value, change, common }) {
  const id = `options-${(serial += 1)}`;
  const list = h("datalist", { id });
  let known = [];
  let asked = 0;
  const ask = async (typed) => {
    if (typed.length < (element.min_query_length ?? 3)) return;
    const turn = (asked += 1);
    const answer = await surface.ui.options(surface.where, block, element, typed);
    if (turn !== asked) return;
    known = answer.options ?? (answer.option_groups ?? []).flatMap((group) => group.options);
    list.replaceChildren(...known.map((option) => h("option", { value: option.text.text })));
  };
  const input = h("input", {
    ...common,
    class: "field",
    list: id,
    type: "text",
    autocomplete: "off",
    placeholder: element.placeholder?.text ?? "Type to search…",
    value: value?.text?.text ?? "",
    onfocus: () => ask(input.value),
    oninput: () => {
      const chosen = known.find((option) => option.text.text === input.value);
      if (chosen) change(chosen);
      else ask(input.value);
    },
    onchange: () => {
      const chosen = known.find((option) => option.text.text === input.value);
      if (!chosen) change(null, false);
    },
  });
  return h("span", {}, input, list);
}

function multi({ surface, element, value, change, common }) {
  const groups = choices(surface, element);
  const all = groups.flatMap((group) => group.options);
  let chosen = new Set((value ?? []).map(keyOf));
  const summary = h("summary", {
    class: "field select",
    "data-focus-key": common["data-focus-key"],
    "aria-label": common["aria-label"],
    "aria-labelledby": common["aria-labelledby"],
  });
  const caption = () => {
    const labels = all.filter((entry) => chosen.has(entry.key)).map((entry) => entry.label);
    summary.replaceChildren(labels.length ? labels.join(", ") : h("span", { class: "muted" }, element.placeholder?.text ?? "Choose…"));
  };
  const toggle = (event) => {
    const most = element.max_selected_items ?? Infinity;
    if (event.target.checked && chosen.size >= most) {
      event.target.checked = false;
      surface.ui.notify(`At most ${most} can be chosen.`);
      return;
    }
    if (event.target.checked) chosen.add(event.target.value);
    else chosen = new Set([...chosen].filter((key) => key !== event.target.value));
    caption();
    change(all.filter((entry) => chosen.has(entry.key)).map((entry) => entry.value));
  };
  caption();
  return h(
    "details",
    { class: "multi", "data-testid": common["data-testid"] },
    summary,
    h(
      "div",
      { class: "multi-options", role: "group", "aria-labelledby": common["aria-labelledby"] },
      groups.map((group) => [
        group.label && h("div", { class: "group-label" }, group.label),
        group.options.map((entry) =>
          h(
            "label",
            { class: "choice" },
            h("input", { type: "checkbox", value: entry.key, checked: chosen.has(entry.key), onchange: toggle }),
            h("span", {}, entry.label),
          ),
        ),
      ]),
    ),
  );
}

function boxes({ surface, element, value, change, common }) {
  const radio = element.type === "radio_buttons";
  const name = `choice-${(serial += 1)}`;
  const chosen = new Set((radio ? [value] : (value ?? [])).filter(Boolean).map((entry) => entry.value));
  const toggle = (option) => (event) => {
    if (radio) return change(option);
    if (event.target.checked) chosen.add(option.value);
    else chosen.delete(option.value);
    return change(element.options.filter((entry) => chosen.has(entry.value)));
  };
  return h(
    "div",
    {
      class: "choices",
      role: radio ? "radiogroup" : "group",
      "data-testid": common["data-testid"],
      "aria-label": common["aria-label"],
      "aria-labelledby": common["aria-labelledby"],
      "aria-describedby": common["aria-describedby"],
    },
    (element.options ?? []).map((option, i) =>
      h(
        "label",
        { class: "choice" },
        h("input", {
          type: radio ? "radio" : "checkbox",
          name,
          value: option.value,
          checked: chosen.has(option.value),
          onchange: toggle(option),
          "data-focus-key": `${common["data-focus-key"]}/${i}`,
        }),
        h(
          "span",
          {},
          renderText(surface.ui, option.text),
          option.description && h("small", { class: "muted block" }, renderText(surface.ui, option.description)),
        ),
      ),
    ),
  );
}

function moment({ element, value, change, common }) {
  if (element.type === "datetimepicker") {
    const local = value ? new Date(value * 1000 - new Date(value * 1000).getTimezoneOffset() * 60_000).toISOString().slice(0, 16) : "";
    return h("input", {
      ...common,
      class: "field",
      type: "datetime-local",
      value: local,
      onchange: (event) => change(event.target.value ? Math.floor(new Date(event.target.value).getTime() / 1000) : null),
    });
  }
  return h("input", {
    ...common,
    class: "field",
    type: element.type === "datepicker" ? "date" : "time",
    value: value ?? "",
    onchange: (event) => change(event.target.value || null),
  });
}

function files({ surface, element, value, change, common }) {
  const list = h("div", { class: "muted" }, (value ?? []).map((file) => file.name).join(", "));
  return h(
    "div",
    {},
    h("input", {
      ...common,
      class: "field",
      type: "file",
      multiple: (element.max_files ?? 10) > 1,
      accept: element.filetypes?.map((type) => `.${type}`).join(","),
      onchange: async (event) => {
        const uploaded = await surface.ui.uploadAll([...event.target.files].slice(0, element.max_files ?? 10));
        list.textContent = uploaded.map((file) => file.name).join(", ");
        change(uploaded);
      },
    }),
    list,
  );
}

// What a person has entered in the inputs of one message, modal or App Home: kept outside the DOM so that it survives a re-render,
// and turned into Slack's `state.values`.

export class Form {
  constructor() {
    this.values = new Map(); // "block\naction" → the element's state object
  }

  #key(block, action) {
    return `${block}\n${action}`;
  }

  /** The state entered for an element, or undefined when it was not touched. */
  get(block, action) {
    return this.values.get(this.#key(block, action));
  }

  /** Sets the state of an element, e.g. `{type: "plain_text_input", value: "x"}`. */
  set(block, action, state) {
    this.values.set(this.#key(block, action), state);
  }

  /** Declares an element at render time with its initial state, unless the person has changed it already. Answers the state in force. */
  declare(block, action, initial) {
    const key = this.#key(block, action);
    const known = this.values.get(key);
    if (known && known.type === initial.type) return known;
    this.values.set(key, initial);
    return initial;
  }

  /** Slack's `state.values` restricted to the blocks that are on the screen. */
  state(blocks) {
    const shown = new Set((blocks ?? []).map((block) => block.block_id));
    const values = {};
    for (const [key, state] of this.values) {
      const [block, action] = key.split("\n");
      if (!shown.has(block)) continue;
      (values[block] ??= {})[action] = state;
    }
    return { values };
  }
}

/** Block Kit elements that hold a value, and the key of that value in their state. */
export const VALUE_KEYS = {
  plain_text_input: "value",
  number_input: "value",
  email_text_input: "value",
  url_text_input: "value",
  rich_text_input: "rich_text_value",
  static_select: "selected_option",
  external_select: "selected_option",
  radio_buttons: "selected_option",
  checkboxes: "selected_options",
  multi_static_select: "selected_options",
  multi_external_select: "selected_options",
  users_select: "selected_user",
  multi_users_select: "selected_users",
  conversations_select: "selected_conversation",
  multi_conversations_select: "selected_conversations",
  channels_select: "selected_channel",
  multi_channels_select: "selected_channels",
  datepicker: "selected_date",
  timepicker: "selected_time",
  datetimepicker: "selected_date_time",
  file_input: "files",
};

/** The value a fresh element shows, from its `initial_…` field. */
export function initialOf(element) {
  const key = VALUE_KEYS[element.type];
  const many = key === "selected_options" || element.type.startsWith("multi_") || key === "files";
  const initial = {
    value: element.initial_value,
    rich_text_value: element.initial_value,
    selected_option: element.initial_option,
    selected_options: element.initial_options,
    selected_user: element.initial_user,
    selected_users: element.initial_users,
    selected_conversation: element.initial_conversation,
    selected_conversations: element.initial_conversations,
    selected_channel: element.initial_channel,
    selected_channels: element.initial_channels,
    selected_date: element.initial_date,
    selected_time: element.initial_time,
    selected_date_time: element.initial_date_time,
  }[key];
  return { type: element.type, [key]: initial ?? (many ? [] : null) };
}

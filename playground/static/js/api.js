// The page's side of the playground's own API (`/_/…`): every call answers with parsed JSON, and a refusal
// (`ok: false`) or an unreachable server becomes an ApiError that carries Slack's error word.

export class ApiError extends Error {
  /** `code` is Slack's error word, `answer` the whole JSON that came back (if any). */
  constructor(code, answer = {}) {
    super(code);
    this.code = code;
    this.answer = answer;
  }
}

async function parse(response) {
  let answer;
  try {
    answer = await response.json();
  } catch (error) {
    throw new ApiError(`http_${response.status}`, { detail: error.message });
  }
  if (answer.ok === false) throw new ApiError(answer.error ?? "failed", answer);
  return answer;
}

async function request(url, options) {
  let response;
  try {
    response = await fetch(url, options);
  } catch (error) {
    throw new ApiError("unreachable", { detail: error.message });
  }
  return parse(response);
}

/** `GET /_/name?…`; undefined values are left out of the query. */
export function get(name, query = {}) {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined && value !== null && value !== "") params.set(key, value);
  return request(`/_/${name}?${params}`, { headers: { Accept: "application/json" } });
}

/** `POST /_/name` with a JSON body. */
export function post(name, body) {
  return request(`/_/${name}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

/** Uploads one file as `user`; answers Slack's file object. */
export async function upload(user, file) {
  const form = new FormData();
  form.set("user", user);
  form.set("file", file, file.name || "file");
  return (await request("/_/upload", { method: "POST", body: form })).file;
}

const WORDS = {
  unreachable: "The playground does not answer. Is it still running?",
  dispatch_failed: "The app did not answer within three seconds.",
  operation_timeout: "The app did not answer within three seconds.",
  app_not_connected: "The app is not connected.",
  not_in_channel: "You are not in this channel.",
  cant_update_message: "You can only edit your own messages.",
  cant_delete_message: "You can only delete your own messages.",
  message_not_found: "This message is gone.",
  unknown_command: "There is no such command.",
  invalid_command: "The app has no such command.",
  file_too_large: "The file is larger than 50 MB.",
  no_such_element: "The app has changed this message meanwhile.",
  view_not_found: "This window is no longer open.",
  app_not_installed: "The app is not in this conversation.",
  no_text: "There is nothing to send.",
};

/** A sentence for people about a failed call. */
export function explain(error) {
  if (error instanceof ApiError) return WORDS[error.code] ?? `That did not work (${error.code}).`;
  return error.message;
}

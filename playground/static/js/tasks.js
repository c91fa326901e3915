// An agent's visible work: task cards with a state, what was done and which sources were used, alone or gathered in a plan.

import { h, icon } from "./dom.js";
import { link } from "./entities.js";
import { renderMarkdown } from "./markdown.js";
import { renderRichText } from "./richtext.js";

const STATES = { pending: "waiting", in_progress: "in progress", complete: "done", error: "failed" };

/** A `task_card` block. */
export function renderTaskCard(ui, task) {
  const status = task.status in STATES ? task.status : "pending";
  const mark = h(
    "span",
    { class: `task-mark ${status}`, role: "img", "aria-label": STATES[status] },
    status === "complete" ? icon("check") : status === "error" ? icon("warn") : null,
  );
  const body = [content(ui, task.details), content(ui, task.output, "task-output"), sources(task.sources)].filter(Boolean);
  const title = h("span", { class: "task-title" }, plainTitle(task.title));
  const data = { class: `task-card ${status}`, "data-task": task.task_id ?? task.id, "data-status": status };
  if (!body.length) return h("div", data, h("div", { class: "task-head" }, mark, title));
  return h(
    "details",
    { ...data, open: status === "error" || status === "in_progress" },
    h("summary", { class: "task-head" }, mark, title),
    h("div", { class: "task-body" }, body),
  );
}

/** A `plan` block: its title, how far it is, and its tasks. */
export function renderPlan(ui, plan) {
  const tasks = plan.tasks ?? [];
  const done = tasks.filter((task) => task.status === "complete").length;
  const over = tasks.length > 0 && tasks.every((task) => task.status === "complete" || task.status === "error");
  return h(
    "details",
    { class: `plan${over ? " over" : ""}`, open: true },
    h(
      "summary",
      { class: "plan-head" },
      h("span", { class: "card-title" }, plainTitle(plan.title)),
      tasks.length > 0 && h("span", { class: "muted" }, `${done} of ${tasks.length} done`),
    ),
    h(
      "div",
      { class: "plan-tasks" },
      tasks.map((task) => renderTaskCard(ui, task)),
    ),
  );
}

const plainTitle = (title) => (typeof title === "string" ? title : (title?.text ?? ""));

function content(ui, value, className = "task-details") {
  if (!value) return null;
  return h("div", { class: className }, typeof value === "string" ? renderMarkdown(ui, value) : renderRichText(ui, value));
}

function sources(list) {
  if (!list?.length) return null;
  return h(
    "div",
    { class: "task-sources" },
    list.map((source) => h("span", { class: "source" }, link(source.url, source.text || source.url))),
  );
}

// Files in messages: a picture for images, a card with name and size for everything else. The download goes to this playground only.

import { h, icon } from "./dom.js";

/** The same-origin address of a file for the person looking. */
export function fileUrl(ui, file) {
  return `/files/${encodeURIComponent(file.id)}/${encodeURIComponent(file.name || "file")}?as=${encodeURIComponent(ui.store.me)}`;
}

/** "1.2 MB" */
export function sizeOf(bytes) {
  if (!Number.isFinite(bytes)) return "";
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1_048_576 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1_048_576).toFixed(1)} MB`;
}

/** The files of a message, or null. */
export function renderFiles(ui, files) {
  if (!files?.length) return null;
  return h(
    "div",
    { class: "files" },
    files.map((file) => {
      if (file.mode === "tombstone") return h("div", { class: "file-card muted" }, icon("file"), "This file was deleted.");
      const name = file.title || file.name || file.id;
      const href = fileUrl(ui, file);
      const open = { href, target: "_blank", rel: "noopener noreferrer" };
      if (/^image\/(png|jpe?g|gif|webp)$/.test(file.mimetype ?? "")) {
        return h(
          "figure",
          { class: "file-image" },
          h("figcaption", { class: "muted" }, name),
          h("a", open, h("img", { src: href, alt: name, loading: "lazy" })),
        );
      }
      return h(
        "a",
        { class: "file-card", ...open, download: file.name },
        icon("file"),
        h("span", { class: "file-name" }, name),
        h("span", { class: "muted" }, [file.pretty_type, sizeOf(file.size)].filter(Boolean).join(" · ")),
      );
    }),
  );
}

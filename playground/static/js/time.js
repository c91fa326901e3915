// Times as people read them. Slack timestamps are strings of seconds with six decimals ("1790000001.000200").

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const clockSeconds = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const long = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const longYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "long", year: "numeric" });
const short = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });

/** The Date of a Slack timestamp or of plain seconds. */
export const dateOf = (ts) => new Date(Number.parseFloat(ts) * 1000);

/** "14:05" */
export const timeOf = (ts) => clock.format(dateOf(ts));

/** "02:05", without AM or PM: for the narrow margin. */
export const narrowTimeOf = (ts) =>
  clock
    .formatToParts(dateOf(ts))
    .filter((part) => part.type === "hour" || part.type === "minute" || (part.type === "literal" && part.value.trim()))
    .map((part) => part.value)
    .join("");

/** The whole date and time, for tooltips. */
export const fullOf = (ts) => full.format(dateOf(ts));

function dayDistance(date) {
  const start = (d) => new Date(d.getFullYear(), d.getMonth(), d.getDate()).getTime();
  return Math.round((start(new Date()) - start(date)) / 86_400_000);
}

/** "Today", "Yesterday" or the date: the label of a day divider. */
export function dayOf(ts) {
  const date = dateOf(ts);
  const distance = dayDistance(date);
  if (distance === 0) return "Today";
  if (distance === 1) return "Yesterday";
  return date.getFullYear() === new Date().getFullYear() ? long.format(date) : longYear.format(date);
}

/** "5 minutes ago", "in 2 days". */
export function agoOf(ts) {
  const seconds = Math.round((dateOf(ts).getTime() - Date.now()) / 1000);
  const format = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
  for (const [unit, size] of [
    ["day", 86_400],
    ["hour", 3_600],
    ["minute", 60],
  ]) {
    if (Math.abs(seconds) >= size) return format.format(Math.trunc(seconds / size), unit);
  }
  return format.format(seconds, "second");
}

/** Fills Slack's date tokens (`{date_short} at {time}`) for `seconds`, in the reader's own time zone. */
export function formatTokens(seconds, pattern) {
  const date = dateOf(seconds);
  const distance = dayDistance(date);
  const pretty = (plain) => ({ 0: "today", 1: "yesterday", "-1": "tomorrow" })[distance] ?? plain;
  const values = {
    date_num: `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, "0")}-${String(date.getDate()).padStart(2, "0")}`,
    date_slash: date.toLocaleDateString(),
    date: longYear.format(date),
    date_short: short.format(date),
    date_long: `${long.format(date)} ${date.getFullYear()}`,
    date_pretty: pretty(longYear.format(date)),
    date_short_pretty: pretty(short.format(date)),
    date_long_pretty: pretty(`${long.format(date)} ${date.getFullYear()}`),
    day_divider_pretty: dayOf(seconds),
    time: clock.format(date),
    time_secs: clockSeconds.format(date),
    ago: agoOf(seconds),
  };
  return pattern.replace(/\{(\w+)\}/g, (whole, token) => values[token] ?? whole);
}

// Start-up and navigation. The address holds where one is (`#as=U1&in=C1&thread=…&tab=home`), so a reload, a bookmark and the back
// button work, and two windows can be two people. `ui` is the object all parts share.

import { explain, post } from "./api.js";
import { startAnnouncing } from "./announce.js";
import { Conversation, ThreadPanel } from "./conversation.js";
import { deeds } from "./deeds.js";
import { menu, openSwitcher } from "./dialogs.js";
import { Feed } from "./feed.js";
import { ModalStack } from "./modal.js";
import { choosePeople } from "./people.js";
import { Sidebar } from "./sidebar.js";
import { startTurns, statusLine } from "./status.js";
import { Store } from "./store.js";
import { Topbar } from "./topbar.js";

const byId = (id) => document.getElementById(id);
const store = new Store();
const ui = { store, place: { channel: null, thread: null, tab: null }, editing: null, asked: null, feedDown: false };

// ---- notices

let toastTimer = 0;
ui.notify = (text) => {
  const toast = byId("toast");
  toast.textContent = text;
  // Shown anew each time, so that it is above a dialog opened since.
  if (toast.matches(":popover-open")) toast.hidePopover();
  toast.showPopover();
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => toast.hidePopover(), 6000);
};

// ---- navigation

const hash = () => new URLSearchParams(location.hash.slice(1));

function go({ as = store.me, channel = ui.place.channel, thread = null, tab = null }) {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries({ as, in: channel, thread, tab })) if (value) params.set(key, value);
  const next = `#${params}`;
  if (location.hash !== next) location.hash = next;
  document.body.classList.remove("sidebar-open");
}

function findUser(wanted) {
  return store.users.get(wanted) ?? [...store.users.values()].find((user) => user.name === wanted);
}

function findChannel(wanted) {
  const channels = [...store.channels.values()];
  return (
    store.channels.get(wanted) ??
    channels.find((channel) => channel.name && channel.name === wanted) ??
    channels.find((channel) => channel.name === "general") ??
    channels.find((channel) => store.isAppChannel(channel.id)) ??
    channels[0]
  );
}

let routed = 0;
async function route() {
  const turn = (routed += 1);
  const wanted = hash();
  const as = wanted.get("as");
  if (!store.me || (as && as !== store.me && findUser(as)?.id !== store.me)) {
    if (!(await enter(findUser(as)?.id ?? as)) || turn !== routed) return;
  }
  const channel = findChannel(wanted.get("in"))?.id ?? null;
  const tab = wanted.get("tab") === "home" && store.isAppChannel(channel) ? "home" : "messages";
  const thread = tab === "home" ? null : wanted.get("thread");
  const before = ui.place;
  const samePane = before.channel === channel && before.tab === tab && before.user === store.me;
  ui.place = { channel, thread, tab, user: store.me };
  if (!samePane) {
    conversation.show(channel, tab);
    if (!thread) ui.focusComposer();
    if (channel) load(channel);
    if (store.isAppChannel(channel) && tab === "messages")
      post("home", { user: store.me, tab: "messages" }).catch((error) => ui.notify(explain(error)));
  }
  if (thread) {
    const fresh = before.thread !== thread || !samePane;
    panel.show(channel, thread);
    if (fresh) load(channel, thread);
    if (fresh) ui.focusComposer();
  } else if (panel.place) {
    panel.hide();
    if (samePane) ui.focusComposer();
  }
  document.body.classList.toggle("thread-open", Boolean(thread));
  conversation.refresh();
  sidebar.update();
  markRead();
  store.dispatchEvent(new CustomEvent("place"));
}

async function load(channel, thread) {
  try {
    await store.fetch(channel, thread);
    markRead();
  } catch (error) {
    ui.notify(explain(error));
  }
}

// Loads the workspace as a user id or name; somebody unknown (an old bookmark) becomes the first person.
async function loadAs(wanted) {
  const isId = !wanted || /^[UW][A-Z0-9]+$/.test(wanted);
  try {
    await store.load(isId ? wanted : undefined);
  } catch (error) {
    if (error.code === "unreachable" || !wanted) throw error;
    await store.load(undefined);
  }
  const named = isId ? null : findUser(wanted);
  if (named && named.id !== store.me) await store.load(named.id);
}

// Becomes `user` (or the first person when undefined). False when the playground did not answer.
async function enter(user) {
  try {
    await loadAs(user);
  } catch (error) {
    ui.notify(explain(error));
    if (store.me === null) setTimeout(route, 2000);
    return false;
  }
  modals.clear();
  ui.editing = null;
  feed.start(store.me);
  if (hash().get("as") !== store.me) {
    const params = hash();
    params.set("as", store.me);
    history.replaceState(null, "", `#${params}`);
  }
  store
    .peek()
    .then(markRead)
    .catch((error) => ui.notify(explain(error)));
  return true;
}

// What is on the screen of a visible window counts as read.
function markRead() {
  const { channel, tab } = ui.place;
  if (!channel || tab === "home" || document.visibilityState !== "visible") return;
  const last = store
    .list(channel)
    .filter((message) => !message.is_ephemeral)
    .at(-1);
  const reply = [...(store.messages.get(channel)?.keys() ?? [])].sort().at(-1);
  if (store.isLoaded(channel)) store.read(channel, reply ?? last?.ts ?? "");
}

Object.assign(ui, {
  menu,
  statusLine: (channel, thread) => statusLine(ui, channel, thread, { panel: true }),
  openSwitcher: () => openSwitcher(ui),
  fetchEarlier: (channel, thread) => store.fetchEarlier(channel, thread).catch((error) => ui.notify(explain(error))),
  openChannel: (channel) => go({ channel }),
  openTab: (channel, tab) => go({ channel, tab: tab === "home" ? "home" : null }),
  openThread: (channel, thread) => go({ channel, thread }),
  closeThread: () => go({ channel: ui.place.channel }),
  // Another person looks at the same place, the open thread included, unless it is nobody else's to see.
  become: (user) => {
    const direct = store.channels.get(ui.place.channel)?.kind === "im";
    return go({ as: user, channel: direct ? null : ui.place.channel, thread: direct ? null : ui.place.thread });
  },
  isThreadOpen: (channel, thread) => ui.place.channel === channel && ui.place.thread === thread,
  toggleSidebar: () => document.body.classList.toggle("sidebar-open"),
  focusComposer: () => !matchMedia("(pointer: coarse)").matches && (panel.composer ?? conversation.composer)?.focus(),
  fillComposer: (text) => conversation.composer?.set(text),
  redraw: () => (conversation.timeline?.update(), panel.timeline?.update()),
  // In its own conversation the app may answer below a message or in a thread of it: the thread is opened once something comes there.
  afterSend: (channel, thread, ts) => !thread && store.isAppChannel(channel) && (ui.asked = { channel, ts }),
  async openPerson(user) {
    const known = store.directWith(user);
    if (known) return ui.openChannel(known.id);
    return openWith([user]);
  },
  async newConversation() {
    const users = await choosePeople(store);
    if (users.length) await openWith(users);
  },
});
Object.assign(ui, deeds(ui));

async function openWith(users) {
  try {
    const { channel } = await post("open", { user: store.me, users });
    await store.load(store.me);
    ui.openChannel(channel);
  } catch (error) {
    ui.notify(explain(error));
  }
}

// ---- the parts

const conversation = new Conversation(ui, byId("main"));
const panel = new ThreadPanel(ui, byId("thread"));
const modals = new ModalStack(ui);
const sidebar = new Sidebar(ui, byId("sidebar"));
const topbar = new Topbar(ui, byId("topbar"), byId("banners"));

const feed = new Feed({
  onPush(push) {
    if (push.type === "view") modals.apply(push);
    else if (push.type === "home") conversation.home?.show(push.view);
    else store.apply(push);
  },
  async onOpen(again) {
    const { channel, thread } = ui.place;
    try {
      await store.load(store.me); // the first time too: what happened between the load before and the line is told by neither
      if (channel) await store.fetch(channel);
      if (thread) await store.fetch(channel, thread);
      if (again) await store.peek();
      markRead();
    } catch (error) {
      ui.notify(explain(error));
    }
  },
  onState(state) {
    ui.feedDown = state === "down";
    topbar.drawBanners();
  },
});

store.addEventListener("incoming", markRead);
store.addEventListener("incoming", ({ detail: { channel, message } }) => {
  const { asked, place } = ui;
  if (!asked || message.user === store.me || asked.channel !== channel || place.channel !== channel) return;
  ui.asked = null;
  if (message.thread_ts === asked.ts && !place.thread) ui.openThread(channel, asked.ts);
});
store.addEventListener("stale", () => store.load(store.me).catch((error) => ui.notify(explain(error))));
addEventListener("hashchange", route);
document.addEventListener("visibilitychange", markRead);
byId("scrim").addEventListener("click", () => document.body.classList.remove("sidebar-open"));

document.addEventListener("keydown", (event) => {
  const command = event.ctrlKey || event.metaKey;
  if (command && !event.shiftKey && event.key.toLowerCase() === "k") {
    event.preventDefault();
    ui.openSwitcher();
  } else if (event.key === "Escape" && !event.defaultPrevented && !event.isComposing && !document.querySelector("dialog[open], .popup")) {
    if (document.body.classList.contains("sidebar-open")) document.body.classList.remove("sidebar-open");
    else if (ui.place.thread) ui.closeThread();
  } else if (event.altKey && !command && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
    const places = [...document.querySelectorAll(".place")];
    const at = places.findIndex((node) => node.classList.contains("active"));
    event.preventDefault();
    places.at((at + (event.key === "ArrowDown" ? 1 : -1)) % places.length)?.click();
  }
});

startAnnouncing(ui, byId("live"));
startTurns();
route();

"""The workspace a playground starts with: a few people, a guest, a partner company, two apps, some channels.

Small on purpose, and enough for every rule about who may see and do what: people in three time zones, one who reads Chinese, one
guest, one person of another company in a shared channel, a second app, a private channel, and a channel the app is not in.
"""

from __future__ import annotations

from playground.appconfig import AppConfig
from playground.people import Channel, Team, User

TEAM_ID = "T01NORTHWD"
PARTNER_TEAM_ID = "T02PARTNER"

ALICE, BRUNO, MEI, DANA, ERIK = "U01ALICE00", "U01BRUNO00", "U01MEI0000", "U01DANA000", "U02ERIK000"
BUILDS_BOT, BUILDS_BOT_ID, BUILDS_APP = "U01BUILDS0", "B01BUILDS0", "A01BUILDS0"
GENERAL, ORDERS, RANDOM, LEADS, PARTNERS = "C01GENERAL", "C01ORDERS0", "C01RANDOM0", "C01LEADS00", "C01PARTNER"


def teams() -> list[Team]:
    """The home workspace and the partner's."""
    return [Team(TEAM_ID, "Northwind", "northwind"), Team(PARTNER_TEAM_ID, "Partner", "partner")]


def users(app: AppConfig) -> list[User]:
    """Everyone, the app's own user included."""
    return [
        User(ALICE, TEAM_ID, "alice", "Alice Moreau", tz="America/New_York", is_admin=True, title="Customer support"),
        User(BRUNO, TEAM_ID, "bruno", "Bruno Keller", tz="Europe/Berlin", title="Warehouse"),
        User(MEI, TEAM_ID, "mei", "Mei Lin", tz="Asia/Shanghai", locale="zh-CN", title="采购"),
        User(DANA, TEAM_ID, "dana", "Dana Costa", tz="Europe/Lisbon", is_restricted=True, title="Contractor"),
        User(ERIK, PARTNER_TEAM_ID, "erik", "Erik Holm", tz="Europe/Stockholm", title="Account manager"),
        User(app.bot_user_id, TEAM_ID, app.bot_name, app.name, is_bot=True, bot_id=app.bot_id, app_id=app.app_id),
        User(BUILDS_BOT, TEAM_ID, "builds", "Builds", is_bot=True, bot_id=BUILDS_BOT_ID, app_id=BUILDS_APP),
    ]


def channels(app: AppConfig) -> list[Channel]:
    """Public, private and shared channels, and each person's conversation with the app."""
    bot = app.bot_user_id

    def room(channel_id: str, name: str, kind: str, members: tuple[str, ...], topic: str, **more: object) -> Channel:
        channel = Channel(channel_id, TEAM_ID, name, kind, dict.fromkeys(members), topic, creator=ALICE)
        for key, value in more.items():
            setattr(channel, key, value)
        return channel

    rooms = [
        room(GENERAL, "general", "channel", (ALICE, BRUNO, MEI, bot, BUILDS_BOT), "Everyone", is_general=True),
        room(ORDERS, "orders", "channel", (ALICE, BRUNO, MEI, DANA, bot), "Orders and deliveries"),
        room(RANDOM, "random", "channel", (ALICE, BRUNO, MEI), "Everything else"),
        room(LEADS, "leads", "group", (ALICE, MEI, bot), "Team leads"),
        room(PARTNERS, "partners", "channel", (ALICE, BRUNO, ERIK, bot), "Shared with Partner", shared_with=(PARTNER_TEAM_ID,)),
    ]
    for number, person in enumerate((ALICE, BRUNO, MEI, DANA, ERIK), start=1):
        rooms.append(Channel(f"D01DIRECT{number}", TEAM_ID, "", "im", dict.fromkeys((person, bot)), creator=person))
    return rooms

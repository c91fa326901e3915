"""users.* and bots.info."""

from __future__ import annotations

from playground.people import Json, User
from playground.webapi.registry import ApiError, Call, method, page_of


def _shape(call: Call, user: User) -> Json:
    email = "users:read.email" in call.token.scopes
    return user.shape(email=email, locale=call.flag("include_locale"), viewer_team=call.token.team_id)


@method("users.info", tier=4, scopes=("users:read",))
def info(call: Call) -> Json:
    """One user."""
    return {"user": _shape(call, call.user())}


@method("users.list", tier=2, scopes=("users:read",))
def list_all(call: Call) -> Json:
    """The users of the token's team, and strangers met in shared channels."""
    users = list(call.world.users.values())
    part, cursor = page_of(users, call, default=1000)
    return {"members": [_shape(call, u) for u in part], "cache_ts": int(call.core.clock.now()), "response_metadata": {"next_cursor": cursor}}


@method("users.lookupByEmail", tier=3, scopes=("users:read.email",), required=("email",))
def lookup_by_email(call: Call) -> Json:
    """A user by address."""
    wanted = call.text("email").lower()
    for user in call.world.users.values():
        if not user.is_bot and user.email == wanted:
            return {"user": _shape(call, user)}
    raise ApiError("users_not_found")


@method("users.profile.get", tier=4, scopes=("users.profile:read",))
def profile(call: Call) -> Json:
    """A user's profile, the caller's by default."""
    user = call.user() if call.text("user") else call.world.users[call.caller]
    return {"profile": user.profile(email="users:read.email" in call.token.scopes)}


@method("users.getPresence", tier=3, scopes=("users:read",))
def presence(call: Call) -> Json:
    """Whether a user is around; here everyone is."""
    if call.text("user"):
        call.user()
    return {"presence": "active"}


@method("bots.info", tier=3, scopes=("users:read",))
def bot_info(call: Call) -> Json:
    """An app's bot by its bot id."""
    bot_id = call.text("bot")
    for user in call.world.users.values():
        if bot_id and user.bot_id == bot_id:
            return {
                "bot": {"id": bot_id, "deleted": False, "name": user.real_name, "updated": user.updated, "app_id": user.app_id, "user_id": user.id, "icons": {}}
            }
    raise ApiError("bot_not_found")

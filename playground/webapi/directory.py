"""What is known about the workspace: team.info, usergroups.*, emoji.list, pins.list."""

from __future__ import annotations

from playground.people import Json
from playground.webapi.registry import ApiError, Call, method


@method("team.info", tier=3, scopes=("team:read",))
def team_info(call: Call) -> Json:
    """The token's team, or another one met in shared channels."""
    team = call.world.teams.get(call.text("team") or call.token.team_id)
    if team is None:
        raise ApiError("team_not_found")
    return {"team": {"id": team.id, "name": team.name, "url": f"https://{team.domain}.slack.com/", "domain": team.domain, "email_domain": "", "icon": {}}}


@method("usergroups.list", tier=2, scopes=("usergroups:read",))
def usergroups(call: Call) -> Json:
    """The user groups of the team."""
    with_users = call.flag("include_users")
    groups = [g for g in call.world.usergroups.values() if g["team_id"] == call.token.team_id]
    return {"usergroups": groups if with_users else [{k: v for k, v in g.items() if k != "users"} for g in groups]}


@method("usergroups.users.list", tier=2, scopes=("usergroups:read",), required=("usergroup",))
def usergroup_users(call: Call) -> Json:
    """The members of a user group."""
    group = call.world.usergroups.get(call.text("usergroup"))
    if group is None or group["team_id"] != call.token.team_id:
        raise ApiError("no_such_subteam")
    return {"users": list(group["users"])}


@method("emoji.list", tier=2, scopes=("emoji:read",))
def emoji(call: Call) -> Json:
    """Custom emoji: none."""
    return {"emoji": {}, "cache_ts": str(int(call.core.clock.now()))}


@method("pins.list", tier=2, scopes=("pins:read",), required=("channel",))
def pins(call: Call) -> Json:
    """The pinned messages of a channel."""
    channel = call.channel()
    items = [{"type": "message", "channel": channel.id, "message": channel.messages[ts]} for ts in channel.pins if ts in channel.messages]
    return {"items": items}

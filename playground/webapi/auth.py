"""auth.*, apps.connections.open, oauth.v2.access, api.test, blocks.validate."""

from __future__ import annotations

import hmac

from playground.people import Json
from playground.validate import check_blocks
from playground.webapi.registry import APP, BOT, USER, ApiError, Call, method


@method("auth.test", tier=0, tokens=(BOT, USER, APP))
def auth_test(call: Call) -> Json:
    """Who the token is."""
    if call.token.kind == "app":
        return {"app_name": call.world.app.name, "app_id": call.world.app.app_id}
    team = call.world.teams[call.token.team_id]
    user = call.world.users[call.token.user_id]
    body: Json = {
        "url": f"https://{team.domain}.slack.com/",
        "team": team.name,
        "user": user.name,
        "team_id": team.id,
        "user_id": user.id,
        "is_enterprise_install": False,
    }
    if call.token.bot_id:
        body["bot_id"] = call.token.bot_id
    return body


@method("auth.revoke", tier=3)
def auth_revoke(call: Call) -> Json:
    """Revoke the token in use; the app hears `tokens_revoked`."""
    if call.flag("test"):
        return {"revoked": False}
    call.token.revoked = True
    kind = "bot" if call.token.kind == "bot" else "oauth"
    if call.core.events.subscribed("tokens_revoked"):
        tokens: Json = {"oauth": [], "bot": []}
        tokens[kind].append(call.token.user_id)
        call.core.events.send(call.install, {"type": "tokens_revoked", "tokens": tokens, "event_ts": call.core.clock.stamp()})
    return {"revoked": True}


@method("apps.connections.open", tier=3, scopes=("connections:write",), tokens=(APP,))
def connections_open(call: Call) -> Json:
    """A WebSocket address for Socket Mode."""
    ticket = call.core.socket.ticket()
    return {"url": f"ws{call.core.url.removeprefix('http')}/link/?ticket={ticket}&app_id={call.world.app.app_id}"}


@method("api.test", tier=4, tokens=(BOT, USER, APP))
def api_test(call: Call) -> Json:
    """Echo."""
    if call.args.get("error"):
        raise ApiError(call.text("error"), args=call.args)
    return {"args": call.args}


@method("blocks.validate", tier=4)
def blocks_validate(call: Call) -> Json:
    """Check blocks without posting them."""
    blocks = call.args.get("blocks")
    if not isinstance(blocks, list):
        raise ApiError("invalid_blocks_format")
    if problems := check_blocks(blocks).texts:
        raise ApiError("invalid_blocks", problems, errors=problems)
    return {}


@method("oauth.v2.access", tier=4, tokens=(BOT, USER, APP))
def oauth_access(call: Call) -> Json:
    """Exchange the code of an installation for its bot token."""
    app = call.world.app
    if call.text("client_id") != app.client_id:
        raise ApiError("invalid_client_id")
    if not hmac.compare_digest(call.text("client_secret"), app.client_secret):
        raise ApiError("bad_client_secret")
    team_id = call.core.oauth_codes.pop(call.text("code"), None)
    install = call.world.installs.get(team_id) if team_id else None
    if install is None:
        raise ApiError("invalid_code")
    team = call.world.teams[install.team_id]
    installer = next(u.id for u in call.world.users.values() if u.team_id == team.id and not u.is_bot)
    return {
        "app_id": app.app_id,
        "authed_user": {"id": installer},
        "scope": ",".join(sorted(app.scopes)),
        "token_type": "bot",
        "access_token": install.token,
        "bot_user_id": install.bot_user_id,
        "team": {"id": team.id, "name": team.name},
        "enterprise": None,
        "is_enterprise_install": False,
    }

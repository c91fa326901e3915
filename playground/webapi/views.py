"""views.open, push, update, publish."""

from __future__ import annotations

from collections.abc import Callable

from playground.people import Json
from playground.views import ViewError, check_view
from playground.webapi.registry import ApiError, Call, method


def _guarded(act: Callable[[], Json]) -> Json:
    try:
        return {"view": act()}
    except ViewError as error:
        raise ApiError(error.error, error.messages) from None


def _spend(call: Call) -> str:
    trigger = call.text("trigger_id") or call.text("interactivity_pointer")
    if not trigger:
        raise ApiError("invalid_arguments", ["missing required field: trigger_id"])
    return call.core.interactivity.spend(trigger)


@method("views.open", tier=4, tokens=("bot",), required=("view",))
def open_view(call: Call) -> Json:
    """Open a modal for the person behind a trigger."""

    def act() -> Json:
        view = check_view(call.args["view"], ("modal",))
        return call.core.views.open(view, _spend(call), call.install)

    return _guarded(act)


@method("views.push", tier=4, tokens=("bot",), required=("view",))
def push_view(call: Call) -> Json:
    """Put a modal on top of the open one."""

    def act() -> Json:
        view = check_view(call.args["view"], ("modal",))
        return call.core.views.push(view, _spend(call), call.install)

    return _guarded(act)


@method("views.update", tier=4, tokens=("bot",), required=("view",))
def update_view(call: Call) -> Json:
    """Replace a view, found by `view_id` or `external_id`."""

    def act() -> Json:
        found = call.core.views.find(call.text("view_id"), call.text("external_id"))
        if found is None:
            raise ViewError("not_found")
        view = check_view(call.args["view"], (found["type"],))
        return call.core.views.update(found["id"], view, call.install, call.text("hash") or None)

    return _guarded(act)


@method("views.publish", tier=4, tokens=("bot",), required=("user_id", "view"))
def publish_view(call: Call) -> Json:
    """Set a person's App Home."""
    user = call.user("user_id")
    if not call.world.app.home_tab:
        raise ApiError("not_enabled")

    def act() -> Json:
        view = check_view(call.args["view"], ("home",))
        return call.core.views.publish(view, user.id, call.install, call.text("hash") or None)

    return _guarded(act)

"""From an action to its effect.

Each effect records what came of it through the ledger: the intent before an effect that must not happen twice, the
result after it. Nothing here, nor in the effects, chooses what to do next.
"""

from __future__ import annotations

from typing import assert_never

from bot import actions as act
from bot.deps import Deps
from bot.effects_history import read_history
from bot.effects_learn import learn
from bot.effects_memory import compact, index
from bot.effects_model import call_model
from bot.effects_redact import redact
from bot.effects_slack import ask, reply, send_notice, update_card, withdraw_copies
from bot.effects_tools import run_tools
from bot.ledger import Ledger


async def perform(action: act.Action, ledger: Ledger, deps: Deps) -> None:
    """Do one action. Raises `Fenced`, `MailboxDown`, `SlackDown`; the caller decides what that means."""
    match action:
        case act.CallModel():
            await call_model(action, ledger, deps)
        case act.RunTools():
            await run_tools(action, ledger, deps)
        case act.AskApproval():
            await ask(action, ledger, deps)
        case act.UpdateCard():
            await update_card(action, ledger, deps)
        case act.Reply():
            await reply(action.run, ledger, deps)
        case act.Finish():
            await withdraw_copies(action.run, ledger, deps)
        case act.SendNotice():
            await send_notice(action, ledger, deps)
        case act.ReadHistory():
            await read_history(action, ledger, deps)
        case act.Compact():
            await compact(ledger, deps)
        case act.Index():
            await index(ledger, deps)
        case act.Learn():
            await learn(ledger, deps)
        case act.Redact():
            await redact(action.redaction, ledger, deps)
        case act.Wait():
            raise ValueError("waiting is the worker's part")
        case _:
            assert_never(action)

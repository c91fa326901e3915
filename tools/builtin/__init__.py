"""The tools every installation has; the modules of `STEWARD_TOOLS` come on top."""

from tools.builtin.ask_person import ask_person
from tools.builtin.calculate import calculate
from tools.builtin.channels import list_channels, search_messages
from tools.builtin.current_time import current_time
from tools.builtin.fetch_url import fetch_url
from tools.builtin.orders import cancel_order, change_shipping_address, get_order_status, list_orders
from tools.builtin.read_more import read_more
from tools.builtin.reminders import cancel_reminder, list_reminders, remind_me
from tools.builtin.slack import post_message, read_thread
from tools.builtin.weather import get_current_weather

GROUPS = {
    "conversation": "Ask the person a question with buttons; read the rest of a long result",
    "everyday": "Calculate, and tell the date and time anywhere",
    "orders": "The person's own orders: look up, list, cancel, change the address",
    "reminders": "Remind the person of something at a time, list and cancel reminders",
    "slack": "Read this thread, search messages, list channels, post a message",
    "web": "Read a web page, and tell the weather of a place",
}
"""One line by group, for when there are so many tools that a group is opened first."""

__all__ = [
    "GROUPS",
    "ask_person",
    "calculate",
    "cancel_order",
    "cancel_reminder",
    "change_shipping_address",
    "current_time",
    "fetch_url",
    "get_current_weather",
    "get_order_status",
    "list_channels",
    "list_orders",
    "list_reminders",
    "post_message",
    "read_more",
    "read_thread",
    "remind_me",
    "search_messages",
]

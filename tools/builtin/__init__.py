"""The tools every installation has; the modules of `STEWARD_TOOLS` come on top."""

from tools.builtin.calculate import calculate
from tools.builtin.current_time import current_time
from tools.builtin.orders import cancel_order, change_shipping_address, get_order_status, list_orders
from tools.builtin.slack import post_message, read_thread

__all__ = ["calculate", "cancel_order", "change_shipping_address", "current_time", "get_order_status", "list_orders", "post_message", "read_thread"]

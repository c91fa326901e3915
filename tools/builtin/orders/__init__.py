"""Orders: the worked example of a group of tools over an upstream, with two reads and two keyed writes.

`calls` holds what the model may ask for, `rules` what the business allows, `store` what is remembered.
"""

from tools.builtin.orders.calls import cancel_order, change_shipping_address, get_order_status, list_orders

__all__ = ["cancel_order", "change_shipping_address", "get_order_status", "list_orders"]

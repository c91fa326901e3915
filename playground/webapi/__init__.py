"""Slack's Web API: one module per family of methods, one registry, one dispatcher.

Importing this package registers every method. `dispatch.WebApi` serves them.
"""

from playground.webapi import agents, auth, chat, conversations, directory, files, reactions, streams, users, views

__all__ = ["agents", "auth", "chat", "conversations", "directory", "files", "reactions", "streams", "users", "views"]

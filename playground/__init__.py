"""A local Slack workspace in one process, for trying and testing a Slack app without Slack.

Start it with `playground.server.Playground`. It serves the Web API, delivers events over signed HTTP or Socket Mode, and shows a
page that looks and behaves like Slack. It knows nothing of the app that connects to it.
"""

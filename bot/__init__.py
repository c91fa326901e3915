"""The agent and its Slack face."""

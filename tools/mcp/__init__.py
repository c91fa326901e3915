"""Tools of MCP servers: found, checked, pinned, offered like our own, and called over a line that mends itself.

Start with `servers.McpServers`; `config.McpServer` says what a server is. Nothing is imported here: reading a configuration must not load
the protocol's SDK.
"""

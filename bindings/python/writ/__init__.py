"""The libraries of Writ: crews that decide by votes (writ.crew), and the check of the credentials of
tool calls (writ.verify)."""

from ._library import Finding, WritError

__all__ = ["Finding", "WritError"]

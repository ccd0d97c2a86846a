"""A line on the terminal that says how far a long piece of work has come."""

import sys
import time

PATIENCE = 2.0  # seconds before the first line
PAUSE = 0.2  # and between two


class Progress:
    """One line of standard error, rewritten in place; silent unless that is a terminal."""

    def __init__(self):
        terminal = sys.stderr is not None and sys.stderr.isatty()
        self._next = time.monotonic() + PATIENCE if terminal else float("inf")
        self._shown = False

    def __call__(self, text):
        now = time.monotonic()
        if now >= self._next:
            self._next, self._shown = now + PAUSE, True
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def clear(self):
        """Leave no trace."""
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._shown = False

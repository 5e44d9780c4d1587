"""A progress bar on stderr for what takes more than a second, on a terminal only."""

from __future__ import annotations

import sys
import threading
from types import TracebackType

PATIENCE = 1.0  # seconds before anything is shown


class ProgressDisplay:
    """``with ProgressDisplay() as progress: work(progress)``, where the work calls ``progress(done, total)``.

    ``total`` is the last total that was told of (0 before)."""

    def __init__(self, enabled: bool | None = None):
        self.enabled = sys.stderr.isatty() if enabled is None else enabled
        self.done = self.total = 0
        self._lock = threading.Lock()
        self._bar = self._task = None
        self._timer = threading.Timer(PATIENCE, self._show)
        self._timer.daemon = True

    def __enter__(self) -> ProgressDisplay:
        if self.enabled:
            self._timer.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._timer.cancel()
        with self._lock:
            self.enabled = False
            if self._bar is not None:
                self._bar.stop()

    def __call__(self, done: int, total: int) -> None:
        with self._lock:
            self.done, self.total = done, total
            if self._bar is not None:
                self._update()

    def _update(self) -> None:
        self._bar.update(
            self._task,
            completed=self.done,
            total=self.total or None,
            description="sampling" if self.total else "preparing",
        )

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
        from rich.text import Text

        class Amount(ProgressColumn):
            """How much of how much, and how fast."""

            def render(self, task) -> Text:
                rate = f", {task.speed:,.0f}/s" if task.speed else ""
                return Text(f"{task.completed:,.0f} of {task.total:,.0f}{rate}" if task.total else "")

        with self._lock:
            if not self.enabled:
                return
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(20),
                Amount(),
                TimeRemainingColumn(),
                TextColumn("left"),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task("preparing", total=None)
            self._update()
            self._bar.start()

"""Files that commands write, whole or not at all."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

import click


class OutputFile:
    """A file that is opened before the computation, so that a place that cannot be written to is found at once, and
    takes its name when it is complete.

    :param endings: what its name may end in.
    :param option: the option that names it, for messages."""

    def __init__(self, path: str, endings: tuple[str, ...], option: str):
        self.path = Path(path)
        hint = f"'{option}'"
        if self.path.suffix.lower() not in endings:
            wanted = " or ".join(filter(None, [", ".join(endings[:-1]), endings[-1]]))
            raise click.BadParameter(f"{path!r} does not end in {wanted}", param_hint=hint)
        if self.path.is_dir():
            raise click.BadParameter(f"{path!r} is a directory", param_hint=hint)
        if self.path.exists() and not os.access(self.path, os.W_OK):
            raise click.BadParameter(f"{path!r} cannot be written: it is read-only", param_hint=hint)
        self._target = Path(os.path.realpath(self.path))
        self._part = self._target.with_name(f".{self._target.name}.{os.getpid()}.part")
        try:
            self.file: BinaryIO = open(self._part, "xb")
        except OSError as error:
            raise click.BadParameter(f"{path!r} cannot be written: {error.strerror}", param_hint=hint) from None

    def __enter__(self):
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.file.close()
        self._part.unlink(missing_ok=True)

    def complete(self) -> None:
        """Give the file its name."""
        self.file.flush()
        os.fsync(self.file.fileno())
        os.replace(self._part, self._target)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file anew in one step, with the permissions it has; through a link, the file that it names.

    :raises NetsorError: if it cannot be written; it is then as it was."""
    from netsor.language.diagnostics import Diagnostic, NetsorError

    target = Path(os.path.realpath(path))
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        if not os.access(target, os.W_OK):
            raise PermissionError(0, "it is read-only")
        with open(part, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(target, part)
        os.replace(part, target)
    except OSError as error:
        raise NetsorError(Diagnostic("N119", f"cannot write {path}: {error.strerror}")) from None
    finally:
        part.unlink(missing_ok=True)

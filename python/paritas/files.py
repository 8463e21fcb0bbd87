"""File output."""

import os
from typing import Union

PathLike = Union[str, "os.PathLike[str]"]


def write_text(text: str, path: PathLike) -> None:
    """Writes a file whole or not at all: beside the target, then renamed. Other than regular files are
    written in place. Raises OSError."""
    import tempfile  # here, because it takes a quarter of the time of `import paritas`

    target = os.fspath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)
        return
    target = os.path.realpath(target)
    handle, beside = tempfile.mkstemp(prefix=".paritas-", dir=os.path.dirname(target))
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(beside, os.stat(target).st_mode & 0o777 if os.path.exists(target) else 0o666 & ~mask)
        os.replace(beside, target)
    except BaseException:
        os.unlink(beside)
        raise

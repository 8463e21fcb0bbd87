"""Published likelihoods."""

import bz2
import gzip
import lzma
import os
import shutil
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Callable, Optional
from urllib.parse import urlsplit

from .. import exceptions

__all__ = ["download"]
__dir__ = __all__.copy

_HOSTS = ("www.hepdata.net", "doi.org")


#: of bytes that an archive unpacks to, of its files and folders, and of bytes that describe one of them
_MOST_BYTES, _MOST_MEMBERS, _MOST_DESCRIBED = 4 << 30, 100_000, 1 << 20

#: how a file of each compression begins
_OPENERS: dict[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\0": lzma.LZMAFile,
    b"\x5d\0\0": lzma.LZMAFile,
}


class _Described:
    """The file below a tarfile while it lists members. tarfile holds names and comments in memory, and reads
    nothing else. Between two members it may read _MOST_DESCRIBED bytes."""

    def __init__(self, content: bytes) -> None:
        opener = next((opener for start, opener in _OPENERS.items() if content.startswith(start)), None)
        self.file: Any = opener(BytesIO(content)) if opener else BytesIO(content)
        self.left: Optional[int] = _MOST_DESCRIBED  #: None: no limit

    def read(self, size: int = -1) -> bytes:
        if self.left is not None:
            if not 0 <= size <= self.left:
                raise exceptions.InvalidArchive(f"a member is described by more than {_MOST_DESCRIBED} bytes")
            self.left -= size
        return bytes(self.file.read(size))

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        return int(self.file.seek(place, whence))

    def tell(self) -> int:
        return int(self.file.tell())


def _check(bytes_: int, members: int) -> None:
    if bytes_ > _MOST_BYTES or members > _MOST_MEMBERS:
        raise exceptions.InvalidArchive(
            f"it has more than {_MOST_BYTES >> 30} GiB or {_MOST_MEMBERS} files; unpack it yourself"
        )


def _is_plain(member: tarfile.TarInfo, folder: Path) -> bool:
    """A file or folder inside of this one."""
    root = os.path.realpath(folder)
    inside = os.path.commonpath([root, os.path.realpath(os.path.join(root, member.name))]) == root
    return inside and (member.isreg() or member.isdir())


def _unpack_tar(archive: tarfile.TarFile, source: _Described, folder: Path) -> None:
    members, total = [], 0
    for member in archive:  # before the bytes of this one are read
        source.left = _MOST_DESCRIBED
        total += member.size
        members.append(member)
        _check(total, len(members))
    source.left = None
    if hasattr(tarfile, "data_filter"):
        archive.extractall(folder, filter="data")
        return
    for member in members:
        if not _is_plain(member, folder):
            raise exceptions.InvalidArchive(f"{member.name!r} is no file or folder inside of the archive")
    archive.extractall(folder)


def _unpack_zip(archive: zipfile.ZipFile, folder: Path) -> None:
    members = archive.infolist()
    _check(sum(one.file_size for one in members), len(members))
    if folder.exists():
        shutil.rmtree(folder)
    archive.extractall(folder)
    inside = list(folder.iterdir())
    if len(inside) == 1 and inside[0].is_dir():
        with tempfile.TemporaryDirectory(dir=folder) as beside:
            for one in list(inside[0].replace(Path(beside, "all")).iterdir()):
                one.replace(folder / one.name)


def _unpack(content: bytes, url: str, folder: Path) -> None:
    try:
        try:
            source = _Described(content)
            with tarfile.open(mode="r:", fileobj=source) as archive:  # type: ignore[call-overload]
                return _unpack_tar(archive, source, folder)
        except tarfile.ReadError:
            pass
        if zipfile.is_zipfile(BytesIO(content)):
            with zipfile.ZipFile(BytesIO(content)) as archive:
                return _unpack_zip(archive, folder)
    except Exception as error:  # damaged archives raise many types
        raise exceptions.InvalidArchive(f"{url} cannot be unpacked: {error}") from error
    raise exceptions.InvalidArchive(f"{url} is neither a tarfile nor a zipfile.")


def _fetched(url: str) -> bytes:
    """By requests if it is installed: programs have set up its proxies and sessions."""
    headers = {"Accept": "application/x-tar, application/zip"}
    try:
        import requests
    except ImportError:
        return _fetched_by_urllib(url, headers)
    with requests.get(url, headers=headers) as response:
        if response.status_code != 200:
            raise exceptions.InvalidArchive(_refusal(url, response.status_code))
        return response.content


def _fetched_by_urllib(url: str, headers: dict[str, str]) -> bytes:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as response:
            return bytes(response.read())
    except urllib.error.HTTPError as error:
        raise exceptions.InvalidArchive(_refusal(url, error.code)) from None


def _refusal(url: str, status: int) -> str:
    return f"{url} gives a response code of {status}."


def download(archive_url: str, output_directory: str, force: bool = False, compress: bool = False) -> None:
    """Downloads into a folder, or with `compress` a file `output_directory`. Hosts other than HEPData need
    `force`."""
    host = urlsplit(archive_url).netloc
    if not force and host not in _HOSTS:
        raise exceptions.InvalidArchiveHost(
            f"{host} is not an approved archive host: {', '.join(_HOSTS)}. Use force=True for other hosts."
        )
    content = _fetched(archive_url)
    if compress:
        Path(output_directory).write_bytes(content)
    else:
        _unpack(content, archive_url, Path(output_directory))

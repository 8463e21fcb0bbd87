"""Published likelihoods."""

import shutil
import tarfile
import urllib.error
import urllib.request
import zipfile
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit

from .. import exceptions

__all__ = ["download"]
__dir__ = __all__.copy

_HOSTS = ("www.hepdata.net", "doi.org")


def _unpack(content: bytes, url: str, folder: Path) -> None:
    try:
        with tarfile.open(mode="r:*", fileobj=BytesIO(content)) as archive:
            if hasattr(tarfile, "data_filter"):
                archive.extractall(folder, filter="data")
            else:
                archive.extractall(folder)
        return
    except tarfile.ReadError:
        pass
    if not zipfile.is_zipfile(BytesIO(content)):
        raise exceptions.InvalidArchive(f"{url} is neither a tarfile nor a zipfile.")
    if folder.exists():
        shutil.rmtree(folder)
    with zipfile.ZipFile(BytesIO(content)) as archive:
        archive.extractall(folder)
    inside = list(folder.iterdir())
    if len(inside) == 1 and inside[0].is_dir():
        moved = inside[0].replace(folder.with_name(folder.name + "__tmp__"))
        folder.rmdir()
        moved.replace(folder)


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

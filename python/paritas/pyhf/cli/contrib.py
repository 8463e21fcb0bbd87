"""Downloads of published likelihoods."""

from pathlib import Path

from . import command

__all__ = ["download"]
__dir__ = __all__.copy


def add_to(commands: command.Commands) -> None:
    parser = commands.add("download", download)
    parser.add_argument("archive_url")
    parser.add_argument("output_directory")
    parser.add_argument("-v", "--verbose", action="store_true", help="list the files")
    parser.add_argument("-f", "--force", action="store_true", help="also from a host that is not approved")
    parser.add_argument("-c", "--compress", action="store_true", help="do not unpack")


def download(*, archive_url: str, output_directory: str, verbose: bool, force: bool, compress: bool) -> None:
    """An archive, unpacked into a folder."""
    from ..contrib import utils

    utils.download(archive_url, output_directory, force, compress)
    if verbose:
        print("\n".join(str(path) for path in Path(output_directory).glob("*")))

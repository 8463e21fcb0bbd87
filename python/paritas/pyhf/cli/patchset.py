"""Patch sets and their patches."""

from __future__ import annotations

from . import command


def add_to(commands: command.Commands) -> None:
    parser = commands.add("extract", extract)
    command.add_document(parser, "patchset")
    parser.add_argument("--name", help="of the patch")
    command.add_output(parser)
    command.add_switch(parser, "--with-metadata", "--without-metadata", False)
    parser = commands.add("apply", apply)
    command.add_document(parser, "background_only", "patchset")
    parser.add_argument("--name", help="of the patch")
    command.add_output(parser)
    command.add_document(commands.add("verify", verify), "background_only", "patchset")
    command.add_document(commands.add("inspect", inspect), "patchset")


def extract(*, patchset: str, name: str | None, output_file: str | None, with_metadata: bool) -> None:
    """One patch."""
    from ..patchset import PatchSet

    whole = PatchSet(command.read(patchset))
    patch = whole[name]
    metadata = {**patch.metadata, **whole.metadata}
    answer = {"metadata": metadata, "patch": patch.patch} if with_metadata else patch.patch
    command.write(answer, output_file)


def apply(*, background_only: str, patchset: str, name: str | None, output_file: str | None) -> None:
    """The workspace after one patch."""
    from ..patchset import PatchSet
    from ..workspace import Workspace

    workspace = Workspace(command.read(background_only))
    command.write(PatchSet(command.read(patchset)).apply(workspace, name), output_file)


def verify(*, background_only: str, patchset: str) -> None:
    """Whether the patch set belongs to the workspace."""
    from ..patchset import PatchSet
    from ..workspace import Workspace

    workspace = Workspace(command.read(background_only))
    PatchSet(command.read(patchset)).verify(workspace)
    print("All good.")


def inspect(*, patchset: str) -> None:
    """The names of its patches."""
    from ..patchset import PatchSet

    patches = PatchSet(command.read(patchset)).patches
    print(f"\n    {len(patches)} patches found in Patchset\n---------------------------------\n")
    for patch in patches:
        print(patch.name)

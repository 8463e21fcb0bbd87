"""Runs a test suite for pyhf on Paritas: `pytest -p paritas.pyhf.pytest_plugin`."""

from __future__ import annotations

from typing import Any, Iterator

import pytest

from . import import_hook
from .tensor import absence


def pytest_addoption(parser: Any) -> None:
    parser.getgroup("paritas").addoption(
        "--absent-backend",
        choices=absence.CHOICES,
        help="what set_backend gives for jax, pytorch and tensorflow",
    )


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: Any) -> Iterator[None]:
    """Before any conftest.py imports pyhf."""
    import_hook.install(early_config.known_args_namespace.absent_backend)
    yield


def pytest_unconfigure() -> None:
    import_hook.uninstall()

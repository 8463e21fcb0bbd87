"""Runs a test suite for pyhf on Paritas: `pytest -p paritas.pyhf.pytest_plugin`."""

from typing import Any, Iterator

import pytest

from . import import_hook
from .choices import ABSENT_BACKEND, MINIMIZERS


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("paritas")
    group.addoption(
        *ABSENT_BACKEND.options(),
        choices=ABSENT_BACKEND.words,
        help="what set_backend gives for jax, pytorch and tensorflow",
    )
    group.addoption(*MINIMIZERS.options(), choices=MINIMIZERS.words, help="what fits")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: Any) -> Iterator[None]:
    """Runs before any conftest.py imports pyhf."""
    given = early_config.known_args_namespace
    import_hook.install(given.absent_backend, given.minimizers)
    yield


def pytest_unconfigure() -> None:
    import_hook.uninstall()

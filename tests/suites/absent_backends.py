"""A pytest plugin: leaves out tests of JAX, PyTorch and TensorFlow, which pyhf's suite asks for at import.

Loaded after paritas.pyhf.pytest_plugin, if that is loaded."""

import pytest

NAMES = ("jax_backend", "pytorch_backend", "tensorflow_backend")


class Absent:
    """Stands for a backend in the parameters of tests."""

    def __init__(self, **_):
        self.name, self.precision = "absent", "64b"


def is_absent(value):
    if isinstance(value, (tuple, list)):
        return any(map(is_absent, value))
    return value is Absent or isinstance(value, Absent)


@pytest.hookimpl(hookwrapper=True)
def pytest_load_initial_conftests(early_config):
    import pyhf

    kind = type(pyhf.tensor)
    found = kind.__getattr__
    kind.__getattr__ = lambda self, name: Absent if name in NAMES else found(self, name)
    yield


def pytest_collection_modifyitems(config, items):
    absent = [
        item
        for item in items
        if hasattr(item, "callspec") and any(map(is_absent, item.callspec.params.values()))
    ]
    config.hook.pytest_deselected(items=absent)
    items[:] = [item for item in items if item not in set(absent)]

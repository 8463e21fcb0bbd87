"""What all Python tests share: the marker `many`, of whose cases a build in a hurry runs a part."""

import os
import zlib

SHARE = int(os.environ.get("PARITAS_TESTS_SHARE", "1"))


def pytest_configure(config):
    config.addinivalue_line("markers", "many: one of PARITAS_TESTS_SHARE cases is run, drawn by their names")


def pytest_collection_modifyitems(config, items):
    def left_out(item):
        many = item.get_closest_marker("many") is not None and hasattr(item, "callspec")
        return many and zlib.crc32(item.name.encode()) % SHARE > 0

    if left := [item for item in items if left_out(item)]:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if not left_out(item)]

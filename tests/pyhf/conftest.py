"""What all comparisons with pyhf are given."""

import json

import pytest


@pytest.fixture
def saved(tmp_path):
    """saved(document) writes a JSON file and returns its path."""
    count = 0

    def save(document):
        nonlocal count
        count += 1
        path = tmp_path / f"{count}.json"
        path.write_text(json.dumps(document))
        return str(path)

    return save

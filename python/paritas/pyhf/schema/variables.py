"""The schemas' folder and cache."""

from pathlib import Path
from typing import Any

schemas = Path(__file__).parent.parent / "schemas"
SCHEMA_CACHE: dict[str, Any] = {}
SCHEMA_BASE = "https://scikit-hep.org/pyhf/schemas/"
SCHEMA_VERSION = "1.0.0"

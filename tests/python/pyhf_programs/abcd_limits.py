"""abcd-pyhf's fits and limits, as JSON on the standard output."""

import json
import sys

from abcd_pyhf import ABCD

plane = ABCD({"A": 8, "B": 12, "C": 30, "D": 45}, {"A": 5.0, "B": 1.0, "C": 0.5, "D": 0.1}, 0.1, 0.05)
observed, expected = plane.upper_limit()
found = {"background": plane.bkg_only_fit()[:, 0].tolist(), "limits": [observed, *expected]}
json.dump(found, sys.stdout, default=float)

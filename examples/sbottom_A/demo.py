"""The same analysis from Python, and as one page of figures and tables: demo.py REPORT.html"""

import sys
from importlib.util import find_spec
from os.path import relpath
from pathlib import Path

import paritas

here = Path(__file__).resolve().parent
signal = here / "patch.sbottom_900_250_60.json"
page = sys.argv[1]

print(f"""3. One of these signal points from Python {sys.version.split()[0]}:

   model = paritas.Model.from_workspace("BkgOnly.json", "{signal.name}")
   model.fit(), model.upper_limit()
""")
model = paritas.Model.from_workspace(here / "BkgOnly.json", signal)
best, limit = model.fit(), model.upper_limit()
value, error = best[model.poi_name]
width = f" +- {error:.2g}" if best.states[model.poi_index] == "free" else ", at its bound"
print(
    f"   {model.poi_name} = {value:.4g}{width} ({best.status}), upper limit {limit.limit_obs:.4g}, "
    f"expected {limit.limit_exp[2]:.4g}"
)
if find_spec("paritas.report"):
    from paritas.__main__ import main

    code = main(["report", str(here / "BkgOnly.json"), "--patch", str(signal), "-o", page])
    workspace = relpath(here / "BkgOnly.json")
    command = f"{relpath(sys.executable)} -m paritas report {workspace} --patch {relpath(signal)} -o {page}"
    print(f"\n4. All of it on one page:   {command}\n\n   {page}")
    sys.exit(code)

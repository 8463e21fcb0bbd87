"""Tables of what tools/measure_gpu.py measured. Each needs only the steps that it shows."""

import glob
import json
import os
import re
from statistics import median

from gpu_kernels import occupancy

BEGIN, END = "<!-- begin: made by tools/measure_gpu.py -->", "<!-- end: made by tools/measure_gpu.py -->"
ASKED = (("toys", "tHu", 1000000, 5.0), ("toys", "tHu", 1000, 0.02))  # seconds at most, in a warm process
QUESTIONS = {
    "toys": "toys",
    "fits": "fits",
    "losscones": "loss cones",
    "nll": "NLL",
    "gradient": "NLL and gradient",
    "hessian": "Hessian",
}


def table(head, rows):
    if not rows:
        return []
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(str(cell) for cell in line) + " |" for line in lines] + [""]


def section(title, *tables):
    lines = [line for one in tables for line in one]
    return [f"### {title}", "", *lines] if lines else []


def digits(value, n=3):
    """n significant digits without an exponent"""
    if value is None:
        return "-"
    if value == 0 or abs(value) >= 10 ** (n - 1):
        return f"{round(value, n - len(str(int(abs(value))))) if value else 0:,.0f}"
    return f"{value:.{n}g}" if abs(value) >= 1e-4 else f"{value:.1e}"


def percent(part):
    return "-" if part is None else f"{100 * part:.2g} %"


def cell(value):
    return "-" if value is None else value


class Results:
    """The steps of one device that belong to the program measured last."""

    def __init__(self, folder):
        paths = sorted(glob.glob(os.path.join(folder, "*.json")), key=os.path.getmtime)
        records = []
        for path in paths:
            with open(path, encoding="utf-8") as file:
                records.append(json.load(file))
        records = [record for record in records if record["key"] == records[-1]["key"]]
        self.records = {(record["part"], record["name"]): record for record in records}

    def part(self, part, status=("done",)):
        """{name: record}"""
        return {
            name: record
            for (of, name), record in self.records.items()
            if of == part and record["status"] in status
        }

    def answers(self, part):
        """answers of bench/device as (question, analysis, answer), analyses by name, f64 first"""
        found = []
        for name, record in self.part(part).items():
            question, *middle, _ = name.split(" ")
            found.append((question, " ".join(middle), record["answer"]))
        order = list(QUESTIONS)
        known = [row for row in found if row[0] in order]
        return sorted(known, key=lambda row: (order.index(row[0]), row[1], -row[2]["precision"]))


# ---- sections ----


def about(results):
    rows = []
    machine = results.part("machine")
    found = [answer for part in ("rates", "shares") for _, _, answer in results.answers(part)]
    if found:
        rows.append(["device", found[0]["description"]])
        rows.append(["CPU beside it", found[0]["cpu"]])
    if "nvidia-smi" in machine:
        rows += [["nvidia-smi", line] for line in machine["nvidia-smi"]["answer"]["lines"]]
    if "commit" in machine:
        rows.append(["commit", f"`{machine['commit']['answer']['commit']}`"])
    return table(["what", "which"], rows)


def parity(results):
    names, found = [], {}
    for name, record in results.part("parity", ("done", "failed")).items():
        what, precision = name.rsplit(" ", 1)
        checks = record.get("answer", {}).get("checks", [])
        compared, different = (sum(check[key] for check in checks) for key in ("compared", "different"))
        if record["status"] == "done":
            found[what, precision] = f"equal, {compared:,} numbers"
        else:
            beyond = f"equal, {compared:,} numbers, and further from f64 than the contract allows"
            differs = f"DIFFERENT, {different:,} of {compared:,}"
            found[what, precision] = (differs if different else beyond) if checks else "FAILED"
        names += [] if what in names else [what]
    rows = [[name, *(found.get((name, p), "-") for p in ("f64", "f32"))] for name in sorted(names)]
    return table(["analysis", "f64", "f32"], rows)


def tests(results):
    found = results.part("tests", ("done", "failed"))
    rows = [
        [name, *(cell(record.get("answer", {}).get(k)) for k in ("passed", "failed", "skipped"))]
        for name, record in sorted(found.items())
    ]
    return table(["tests", "passed", "failed", "skipped"], rows)


def sanitizer(results):
    rows, checks = {}, []
    for name, record in results.part("sanitizer", ("done", "failed")).items():
        check, family = name.split(" ", 1)
        checks += [] if check in checks else [check]
        rows.setdefault(family, {})[check] = "clean" if record["status"] == "done" else "FOUND SOMETHING"
    return table(
        ["kernels", *sorted(checks)],
        [[family, *(rows[family].get(c, "-") for c in sorted(checks))] for family in sorted(rows)],
    )


def seconds_of(size, side):
    return median(size[side]) if size.get(side) else None


def gain(size):
    """how many times as fast as the CPU the device is: the median over turns"""
    pairs = list(zip(size["cpu"], size["device"]))
    return median(cpu / device for cpu, device in pairs) if pairs else None


def targets(results):
    rows = []
    for question, start, jobs, most in ASKED:
        for of, analysis, answer in results.answers("rates"):
            for size in answer["sizes"]:
                seconds = seconds_of(size, "device")
                if of == question and analysis.startswith(start) and size["jobs"] == jobs and seconds:
                    what = f"{jobs:,} {question} of {analysis}, f{answer['precision']}"
                    rows.append([what, f"{most:g} s", f"{digits(seconds)} s"])
    return table(["task, in a warm process", "target", "measured"], rows)


def rates(results, question):
    rows = []
    for of, analysis, answer in results.answers("rates"):
        for size in answer["sizes"] if of == question else []:
            device, cpu, auto = (seconds_of(size, side) for side in ("device", "cpu", "auto"))
            best = min(filter(None, (device, cpu)), default=None)
            rows.append(
                [
                    analysis or QUESTIONS[question],
                    f"f{answer['precision']}",
                    f"{size['jobs']:,}",
                    *(digits(size["jobs"] / seconds if seconds else None) for seconds in (device, cpu)),
                    digits(gain(size)),
                    digits(auto / best if auto and best else None),
                    f"{size['auto_launches']} of {size['launches']}" if "auto_launches" in size else "-",
                ]
            )
    head = (
        f"{QUESTIONS[question]} of|in|jobs|a second, device|CPU|device / CPU|time of `auto` / the better one"
    )
    return table([*head.split("|"), "launches that `auto` gave it"], rows)


def first_from(sizes, wins):
    """the least number of jobs from which on the predicate holds for all that were measured"""
    found = None
    for size in sizes:
        holds = wins(size)
        if holds is not None:
            found = (found or size["jobs"]) if holds else None
    return "never" if found is None else f"{found:,} jobs"


def is_taken(size):
    """did `auto` give most launches to the device? None: not asked"""
    return 2 * size["auto_launches"] > size["launches"] if "auto_launches" in size else None


def crossover(results):
    rows = []
    for question, analysis, answer in results.answers("rates"):
        sizes = answer["sizes"]
        won = [gain(size) for size in sizes]
        if any(won):
            better = first_from(sizes, lambda size: None if gain(size) is None else gain(size) > 1)
            chosen = first_from(sizes, is_taken) if any("auto_launches" in size for size in sizes) else "-"
            rows.append(
                [f"{QUESTIONS[question]} {analysis}".strip(), f"f{answer['precision']}", better, chosen]
            )
    return table(["jobs", "in", "the device is faster from", "`auto` takes it from"], rows)


def shares(results):
    peaks = {
        record["answer"]["precision"]: record["answer"]
        for name, record in results.part("shares").items()
        if name.startswith("peak")
    }
    tops = [
        [f"f{p}", digits(1e-9 * peak["flops_a_second"]), digits(1e-9 * peak["bytes_a_second"])]
        for p, peak in sorted(peaks.items(), reverse=True)
    ]
    rows = []
    for question, analysis, answer in results.answers("shares") + results.answers("rates"):
        sizes = [size for size in answer["sizes"] if size.get("device")]
        if not sizes or "flops" not in answer:
            continue
        rate = sizes[-1]["jobs"] / seconds_of(sizes[-1], "device")
        flops, moved = rate * answer["flops"], rate * answer["bytes"]
        peak = peaks.get(answer["precision"])
        rows.append(
            [
                analysis,
                f"f{answer['precision']}",
                QUESTIONS[question],
                digits(rate),
                digits(1e-9 * flops),
                percent(flops / peak["flops_a_second"] if peak else None),
                percent(moved / peak["bytes_a_second"] if peak else None),
            ]
        )
    return (
        table(["peaks, measured", "Gflop a second", "GB a second"], tops),
        table(
            ["analysis", "in", "part", "a second", "Gflop a second", "of the peak", "of the bandwidth"],
            sorted(rows),
        ),
    )


def kernels(results):
    by_ptxas, rows, unit = {}, {}, {}
    for record in results.part("kernels").values():
        for one in record["answer"]["kernels"]:
            by_ptxas[one["entry"], one["precision"], one["workers"]] = one
    for _, _, answer in results.answers("rates") + results.answers("shares"):
        unit = answer.get("unit", {})
        for one in answer.get("kernels", []):
            rows[one["entry"], answer["precision"], one["workers"]] = one
    lines = []
    limits = [unit.get(name) for name in ("registers", "threads", "teams")]
    for key in sorted({*rows, *by_ptxas}, key=lambda k: (k[0], -k[1], k[2])):
        loaded, offline = rows.get(key, {}), by_ptxas.get(key, {})
        registers = loaded.get("registers") or offline.get("registers")
        teams, part = offline.get("teams"), offline.get("occupancy")
        if registers and all(limits):
            teams, part = occupancy(registers, key[2], limits)
        spills = f"{offline['spill_stores']} / {offline['spill_loads']}" if offline else "-"
        lines.append(
            [
                f"`{key[0]}`",
                f"f{key[1]}",
                key[2],
                cell(registers),
                spills,
                cell(loaded.get("local", offline.get("stack"))),
                cell(loaded.get("shared", offline.get("shared"))),
                cell(teams),
                percent(part),
            ]
        )
    head = "entry|in|workers of a team|registers|bytes spilled: stores / loads|stack, bytes|shared, bytes"
    return table([*head.split("|"), "teams a multiprocessor", "warps of the most"], lines)


def counters(results):
    names = ("warps", "memory", "arithmetic", "l1", "l2")
    rows = [
        [
            analysis,
            f"`{entry}`",
            *(percent(of[name] / 100 if name in of else None) for name in names),
            percent(of["coalesced"] / 32 if "coalesced" in of else None),
        ]
        for analysis, record in sorted(results.part("counters").items())
        for entry, of in sorted(record["answer"].items())
    ]
    head = "toys of|kernel|warps at work|memory|arithmetic|hits in L1|hits in L2|used of what is read"
    return table(head.split("|"), rows)


def of_device(folder):
    """The lines about one device; none: nothing was measured."""
    results = Results(folder)
    title = next((row for row in about(results) if row.startswith("| device |")), "| device | ? |")
    lines = [
        *about(results),
        *section("The same bits as the CPU's", parity(results), tests(results), sanitizer(results)),
        *section("Targets", targets(results)),
        *section("Jobs a second", *(rates(results, q) for q in ("toys", "fits", "losscones"))),
        *section("From how many jobs on", crossover(results)),
        *section("Share of the peak", *shares(results)),
        *section("Kernels", kernels(results)),
        *section("Counters of the device", counters(results)),
    ]
    return [f"## {title.split(' | ')[1].rstrip(' |')}", "", *lines] if lines else []


def of_folder(out):
    """The lines about all devices of a folder of results."""
    folders = [
        folder for folder in sorted(glob.glob(os.path.join(out, "*", ""))) if glob.glob(folder + "*.json")
    ]
    return [line for folder in folders for line in of_device(folder)]


def into_page(path, lines):
    """Replaces what stands between the marks of a page."""
    with open(path, encoding="utf-8") as file:
        page = file.read()
    between = "\n".join(["", "", *lines]) if lines else "\n"
    page = re.sub(
        re.escape(BEGIN) + r".*?" + re.escape(END), lambda _: BEGIN + between + END, page, flags=re.S
    )
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)

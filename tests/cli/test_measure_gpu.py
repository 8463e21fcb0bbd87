"""tools/measure_gpu.py on libraries that stand in for NVIDIA's. It goes on after a failure, begins where an
earlier run ended, and its tables say what was measured."""

import gzip
import json
import os
import shutil
import subprocess
import sys
import time

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOLS = os.path.join(ROOT, "tools")
TWO = os.path.join(ROOT, "examples", "two_bins.json")
BUILD = os.path.dirname(os.path.dirname(os.path.abspath(os.environ["PARITAS_BIN"])))
STAND_INS = os.path.join(BUILD, "tests", "cuda_fakes")
sys.path.insert(0, TOOLS)

import gpu_kernels
import gpu_tables
import measure_gpu

stand_in = pytest.mark.skipif(
    not os.path.exists(os.path.join(STAND_INS, "libcuda.so.1")), reason="the stand-ins are not built"
)
bench = pytest.mark.skipif(
    not os.path.exists(os.path.join(BUILD, "bench", "device")), reason="the benchmarks are not built"
)


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(f"# Page\n\n{gpu_tables.BEGIN}\nold\n{gpu_tables.END}\n\nThe end.\n")
    return path


def measure(page, *arguments, path=""):
    """(exit code, lines) of a run on the stand-in, with tiny sizes"""
    command = [sys.executable, os.path.join(TOOLS, "measure_gpu.py"), TWO, "--build", BUILD]
    command += ["--out", str(page.parent / "out"), "--page", str(page), "--jobs", "2,4", "--seconds", "0.01"]
    environment = dict(
        os.environ,
        LD_LIBRARY_PATH=STAND_INS,
        PARITAS_CACHE="",
        PATH=os.pathsep.join(filter(None, [str(path), os.environ["PATH"]])),
    )
    done = subprocess.run(
        [*command, "--ntoys", "2", "--sweeps", "2", *arguments],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.stderr == "" or done.returncode == 2, done.stderr
    return done.returncode, (done.stdout + done.stderr).splitlines()


def program(folder, name, text):
    path = folder / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


def result(page, name):
    return json.loads((page.parent / "out" / "cuda" / f"{name}.json").read_text())


@stand_in
def test_a_second_run_goes_on_where_the_first_ended(page):
    code, lines = measure(page, "--parts", "machine,parity", "--minutes", "0")
    assert code == 3 and lines[-1].endswith(" late") and not lines[-1].startswith("1")
    assert "old" not in page.read_text()
    code, lines = measure(page, "--parts", "machine,parity")
    assert code == 0 and "0 failed" in lines[-1], lines
    record = result(page, "parity_two_bins_f64")
    assert record["status"] == "done" and record["answer"]["verdict"] == "passed" and record["code"] == 0
    compared = sum(check["compared"] for check in record["answer"]["checks"])
    text = page.read_text()
    assert f"| two_bins | equal, {compared:,} numbers |" in text
    assert text.startswith("# Page\n") and text.endswith("\n\nThe end.\n")
    code, lines = measure(page, "--parts", "machine,parity")
    assert code == 0 and sum("from an earlier run" in line for line in lines) >= 7, lines
    code, again = measure(page, "--parts", "", "--device", "cuda")
    assert code == 0 and page.read_text() == text


@stand_in
@bench
def test_rates_are_measured_and_a_failure_is_reported(page):
    code, lines = measure(page, "--parts", "shares,rates")
    assert code == 1
    failed = [line for line in lines if line.startswith("FAIL")]
    assert len(failed) == 2 and all("peak f" in line and "exit code 1" in line for line in failed), lines
    assert any(
        "the driver refuses kernel peak_fma" in line for line in lines
    )  # the stand-in lacks the benchmark's kernel
    rates = result(page, "rates_fits_two_bins_f64")["answer"]
    assert [size["jobs"] for size in rates["sizes"]] == [2, 4]
    for size in rates["sizes"]:
        assert size["same_bits"] and len(size["cpu"]) == len(size["device"]) >= 1
        assert size["launches"] >= 1
    assert rates["flops"] > 0 and {"hf_fit"} <= {kernel["entry"] for kernel in rates["kernels"]}
    seconds = sorted(rates["sizes"][1]["device"])[len(rates["sizes"][1]["device"]) // 2]
    if len(rates["sizes"][1]["device"]) % 2:
        assert f"| two_bins | f64 | 4 | {gpu_tables.digits(4 / seconds)} |" in page.read_text()
    assert "| `losscone_search` | f64 | 32 |" in page.read_text()


@stand_in
def test_nvidias_tools_are_used_where_they_are(page, tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    program(tools, "nvidia-smi", "echo 'Stand-in, 1.0'")
    program(
        tools, "compute-sanitizer", 'echo "ERROR SUMMARY: 7 errors"; [ "$2" = racecheck ] && exit 9; exit 0'
    )
    program(
        tools,
        "ncu",
        """while [ "$1" != --log-file ]; do shift; done
cat >"$2" <<END
==PROF== noise
"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","hf_fit(const unsigned int *)","sm__warps_active.avg.pct_of_peak_sustained_active","%","20"
"1","hf_fit(const unsigned int *)","sm__warps_active.avg.pct_of_peak_sustained_active","%","30"
END
""",
    )
    code, lines = measure(page, "--parts", "machine,sanitizer,counters", path=tools)
    assert code == 1
    failed = [line for line in lines if line.startswith("FAIL")]
    assert failed and all("racecheck" in line and line.endswith("exit code 9") for line in failed), lines
    text = page.read_text()
    assert "| nvidia-smi | Stand-in, 1.0 |" in text
    assert "| kernels | initcheck | memcheck | racecheck | synccheck |" in text
    assert "| histfactory | clean | clean | FOUND SOMETHING | clean |" in text
    assert "| two_bins | `hf_fit` | 25 % |" in text


@stand_in
def test_a_device_that_cannot_run_and_wrong_words(page):
    code, lines = measure(page, "--device", "cuda:99")
    assert code == 1 and "does not list it" in lines[0]
    code, lines = measure(page, "--device", "metal")
    assert code == 1 and "Metal needs macOS" in lines[0]
    code, lines = measure(page, "--parts", "parity,weather")
    assert code == 2 and "there is no part weather" in lines[-1]


def test_a_program_that_is_missing_is_named(tmp_path):
    command = [sys.executable, os.path.join(TOOLS, "measure_gpu.py"), "--build", tmp_path / "none"]
    done = subprocess.run([*command, "--out", tmp_path / "out"], capture_output=True, text=True)
    assert done.returncode == 2 and f"there is no {tmp_path / 'none' / 'bin' / 'paritas'}" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_step_that_takes_too_long_ends_with_all_that_it_started(tmp_path):
    mark = tmp_path / "mark"
    step = measure_gpu.Step(
        "part", "name", ["sh", "-c", f"echo begun; (sleep 1; touch {mark}) & wait"], seconds=9
    )
    record = measure_gpu.perform(step, 0.3)
    assert (record["status"], record["code"]) == ("late", 124) and "begun" in record["tail"]
    step.seconds = 0.3
    assert measure_gpu.perform(step, 9.0)["status"] == "failed"
    time.sleep(1.2)
    assert not mark.exists()


def test_occupancy_follows_from_registers_and_limits():
    unit = (65536, 2048, 32)
    assert gpu_kernels.occupancy(32, 32, unit) == (
        32,
        0.5,
    )  # teams of a warp: the number of teams is the limit
    assert gpu_kernels.occupancy(168, 32, unit) == (12, 12 / 64)  # 65536 / (168 * 32)
    assert gpu_kernels.occupancy(33, 256, unit) == (6, 48 / 64)  # given out in 256 a warp: 40 registers
    assert gpu_kernels.occupancy(16, 1024, unit) == (2, 1.0)


def test_reports_of_ptxas_are_understood():
    report = """ptxas info    : Function properties for a
    152 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 168 registers, used 1 barriers, 160 bytes cumulative stack size, 64 bytes smem
ptxas info    : Function properties for b
    0 bytes stack frame, 16 bytes spill stores, 20 bytes spill loads
"""
    wanted = {"registers": 168, "stack": 160, "spill_stores": 24, "spill_loads": 32, "shared": 64}
    assert gpu_kernels.understand(report) == wanted


PTX = """.version 7.0
.target sm_75
.address_size 64
.visible .entry tiny(.param .u64 out)
{
.reg .b64 %rd<3>;
.reg .f64 %fd<2>;
ld.param.u64 %rd1, [out];
cvta.to.global.u64 %rd2, %rd1;
mov.f64 %fd1, 0d3FF0000000000000;
st.global.f64 [%rd2], %fd1;
ret;
}
"""


def test_embedded_kernels_are_found_and_compiled(tmp_path):
    path = tmp_path / "program"
    other = gzip.compress(b"other\0")
    path.write_bytes(b"\x7fELF\x1f\x8b\x08\0" + other + gzip.compress(PTX.encode() + b"\0") + b"\1\2")
    assert gpu_kernels.embedded(path) == {("tiny", 64): PTX}
    ptxas = gpu_kernels.find_tool("ptxas")
    if not ptxas:
        pytest.skip("there is no ptxas")
    row = gpu_kernels.compiled(ptxas, "sm_90", ("tiny", 64), PTX)
    assert row["registers"] <= 16 and row["spill_stores"] == row["stack"] == 0
    assert (row["teams"], row["occupancy"]) == (32, 0.5)


def test_a_program_without_kernels_is_skipped(tmp_path):
    path = tmp_path / "program"
    path.write_bytes(b"nothing")
    command = [
        sys.executable,
        os.path.join(TOOLS, "gpu_kernels.py"),
        str(path),
        "--ptxas",
        shutil.which("true"),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 77 and "no PTX" in done.stderr


def test_the_crossover_is_where_the_device_stays_ahead():
    def sizes(*gains):
        return [
            {
                "jobs": 10**k,
                "cpu": [gain, gain],
                "device": [1.0, 1.0],
                "launches": 4,
                "auto_launches": int(gain),
            }
            for k, gain in enumerate(gains, 1)
        ]

    def crossover(of):
        return gpu_tables.first_from(of, lambda size: gpu_tables.gain(size) > 1)

    assert crossover(sizes(2, 0.5, 3, 4)) == "1,000 jobs"
    assert crossover(sizes(2, 3)) == "10 jobs"
    assert crossover(sizes(2, 0.5)) == "never"
    assert [gpu_tables.is_taken(size) for size in sizes(0, 2, 3)] == [False, False, True]
    assert gpu_tables.is_taken({}) is None
    assert gpu_tables.gain({"cpu": [1.0, 8.0, 3.0], "device": [1.0, 2.0, 1.0]}) == 3.0


def test_numbers_have_three_digits():
    shown = {1234567: "1,230,000", 999.6: "1,000", 12.345: "12.3", 0.01234: "0.0123", 3e-7: "3.0e-07", 0: "0"}
    assert {number: gpu_tables.digits(number) for number in shown} == shown


def test_what_was_asked_is_shown_beside_what_was_measured(tmp_path):
    folder = tmp_path / "cuda_0"
    folder.mkdir()
    sizes = [
        {"jobs": 1000, "cpu": [0.4, 0.5, 0.6], "device": [0.3, 0.01, 0.02], "launches": 1},
        {"jobs": 1000000, "cpu": [], "device": [4.0], "launches": 9},
    ]
    answer = {"precision": 64, "sizes": sizes, "description": "A card", "cpu": "a CPU", "device": "cuda:0"}
    record = {"part": "rates", "name": "toys tHu_FCNC f64", "status": "done", "answer": answer, "key": "now"}
    old = dict(record, name="toys other f64", key="before")
    (folder / "old.json").write_text(json.dumps(old))
    os.utime(folder / "old.json", (1, 1))
    (folder / "new.json").write_text(json.dumps(record))
    lines = gpu_tables.of_folder(tmp_path)
    assert lines[0] == "## A card"
    assert "| 1,000 toys of tHu_FCNC, f64 | 0.02 s | 0.02 s |" in lines
    assert "| 1,000,000 toys of tHu_FCNC, f64 | 5 s | 4 s |" in lines
    assert "| tHu_FCNC | f64 | 1,000 | 50,000 | 2,000 | 30 | - | - |" in lines
    assert not any("other" in line for line in lines)  # of another program


def test_other_bits_are_a_failure():
    def status(same):
        answer = json.dumps({"sizes": [{"same_bits": True}, {"same_bits": same}]})
        step = measure_gpu.Step("part", "name", ["echo", answer], good=measure_gpu.has_the_cpus_bits)
        return measure_gpu.perform(step, 9.0)["status"]

    assert (status(True), status(False)) == ("done", "failed")

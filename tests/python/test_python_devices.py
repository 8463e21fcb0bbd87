"""device= and precision= on every function: the CPU's bits, on OpenCL (PoCL's driver), on CUDA where there is
one, and on the stand-in for Metal."""

import os
import shutil
import subprocess
import sys

import fake_metal
import numpy as np
import pytest
from package_support import TWO, model_of

import paritas

#: every function that takes a device, as its numbers
CALLS = {
    "nll": lambda m, **o: [m.twice_nll([0.5, 1.01, 0.98], **o), m.nll([0.5, 1.01, 0.98], **o)],
    "gradient": lambda m, **o: m.gradient([0.5, 1.01, 0.98], **o),
    "hessian": lambda m, **o: m.hessian([0.5, 1.01, 0.98], **o),
    "batch of likelihoods": lambda m, **o: m.twice_nll_batch(
        [[0.5, 1.01, 0.98], [1, 1, 1]], [m.data, m.data + 1], **o
    ),
    "expected": lambda m, **o: m.expected_data([0.5, 1.01, 0.98], **o),
    "by sample": lambda m, **o: [
        row for rows in m.expected_by_sample([0.5, 1.01, 0.98], **o).values() for row in rows.values()
    ],
    "jacobian": lambda m, **o: m.expected_jacobian([0.5, 1.01, 0.98], **o),
    "fit": lambda m, **o: (lambda r: [r.twice_nll, *r.values, *r.errors, *r.covariance.ravel()])(m.fit(**o)),
    "lbfgsb": lambda m, **o: m.fit(minimizer="lbfgsb", **o).values,
    "de": lambda m, **o: m.fit(minimizer="de", population=24, **o).values,
    "starts": lambda m, **o: m.fit(starts=3, **o).values,
    "fits": lambda m, **o: (lambda r: np.hstack([r.values, r.errors]))(
        m.fit_batch([m.data, m.data + 3, m.data + 1.5], errors=True, **o)
    ),
    "minos": lambda m, **o: list(m.minos(data=[60, 70, 277.8, 55.2], **o).values()),
    "hypotest": lambda m, **o: (lambda r: [r.CLs_obs, *r.CLs_exp, r.q, r.q_A, r.mu_hat])(
        m.hypotest(1.0, **o)
    ),
    "limit": lambda m, **o: (lambda r: [r.limit_obs, *r.limit_exp])(m.upper_limit(**o)),
    "significance": lambda m, **o: (lambda r: [r.Z, r.Z_exp, r.p0])(m.significance(**o)),
    "scan": lambda m, **o: m.scan(("mu", [0.0, 0.5, 1.0]), **o).twice_nll,
    "ranking": lambda m, **o: (lambda r: [r.pull, r.impact_up, r.prefit_down])(m.ranking(**o)),
    "predict": lambda m, **o: [channel.error for channel in m.predict(**o).channels],
    "gof": lambda m, **o: (lambda r: [r.statistic, r.p])(m.goodness_of_fit(**o)),
    "asimov": lambda m, **o: m.asimov_data(1.0, **o),
    "toys": lambda m, **o: m.fit_toys(n=12, seed=3, errors=True, **o).values,
    "tests by toys": lambda m, **o: m.hypotest_toys(1.0, 12, 3, **o).toys["q"],
    "significance by toys": lambda m, **o: m.significance_toys(12, 3, **o).test.toys["q"],
    "limit by toys": lambda m, **o: m.upper_limit_toys(40, 3, rtol=0.9, **o).limit_exp,
    "compatibility by toys": lambda m, **o: [m.compatibility_toys(None, 12, 3, **o).p],
    "gof by toys": lambda m, **o: [m.goodness_of_fit_toys(12, 3, **o).p],
}
#: values at given points, which nothing polishes: f32 is f32's
POINTWISE = ("nll", "gradient", "hessian", "batch of likelihoods", "expected", "by sample", "jacobian")


def check(name, device, precision):
    """The device's bits are those of the CPU in the same precision."""
    call, model = CALLS[name], model_of("two_bins")
    ours, theirs = (
        np.asarray(call(model, device=where, precision=precision), dtype=np.float64)
        for where in (device, "cpu")
    )
    assert np.array_equal(ours, theirs, equal_nan=True), (
        f"{name} on {device} in {precision}: {ours} is not {theirs}"
    )


def usable(kind, precision):
    for device in paritas.devices():
        if device.name.startswith(kind) and getattr(device, precision):
            return device.name
    pytest.skip(f"no {kind} device in {precision} here")


@pytest.mark.parametrize("precision", ["f64", "f32"])
@pytest.mark.parametrize("kind", ["opencl", "cuda"])
def test_every_function_has_the_bits_of_the_cpu(kind, precision):
    device = usable(kind, precision)
    for name in CALLS:
        check(name, device, precision)
    assert model_of("two_bins").fit(device=device, precision=precision).device == device


METAL = """
import fake_metal
fake_metal.install()
import paritas, test_python_devices
assert paritas.has_metal() is True
print(*(device.name for device in paritas.devices() if device.f32 and device.name.startswith("metal")))
for name in test_python_devices.CALLS:
    test_python_devices.check(name, "metal", "f32")
import warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    unasked = test_python_devices.model_of("two_bins").fit(device="metal")
assert (unasked.precision, unasked.converged) == ("f32", True)
assert "it runs in f32, and fits of HistFactory models are polished" in str(told[0].message), told
try:
    test_python_devices.model_of("two_bins").fit(device="metal", precision="f64")
except paritas.DeviceUnavailable as error:
    print("no f64:", error)
"""


def test_every_function_has_the_bits_of_the_cpu_on_the_stand_in_for_metal():
    if not fake_metal.LIBRARY.exists() or not shutil.which("nm"):
        pytest.skip("the stand-in was not built, or there is no nm")
    done = subprocess.run(
        [sys.executable, "-c", METAL],
        capture_output=True,
        text=True,
        cwd=TWO.parent,
        timeout=300,
        env={**os.environ, "PYTHONPATH": ":".join(sys.path)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "metal" in done.stdout.splitlines()[0] and done.stdout.splitlines()[1].startswith("no f64:")


@pytest.mark.parametrize("name", CALLS)
def test_f32_is_finite_and_near(name):
    call, model = CALLS[name], model_of("two_bins")
    ours, theirs = (
        np.asarray(call(model, precision=precision), dtype=np.float64) for precision in ("f32", "f64")
    )
    if "toys" in name:  # a toy's fit may end elsewhere within the tolerance; how many there are is the same
        assert ours.shape == theirs.shape
    else:
        assert np.allclose(
            ours,
            theirs,
            rtol=2e-3 if name in POINTWISE else 1e-6,
            atol=2e-3 if name in POINTWISE else 1e-6,
            equal_nan=True,
        )


def test_defaults_hold_for_calls_that_name_nothing():
    model = model_of("two_bins")
    try:
        paritas.set_defaults(precision="f32")
        assert model.fit().precision == "f32"
        assert model.fit(precision="f64").precision == "f64"
    finally:
        paritas.set_defaults(precision="f64")
    assert model.fit().precision == "f64" and model.fit(threads=1).device == "cpu"
    with pytest.raises(paritas.DeviceUnavailable):
        paritas.set_defaults(device="abacus")
    assert model.fit().device == "cpu"


def test_the_cpu_is_the_first_device():
    cpu = paritas.devices()[0]
    assert (cpu.name, cpu.f64, cpu.f32, cpu.usable, cpu.reason_f64) == ("cpu", True, True, True, "")


ASKED = (
    "import paritas; print(paritas.has_cuda(), paritas.has_metal(), paritas.has_opencl(), "
    "len(paritas.devices()) >= 4, paritas.devices()[0].f64)"
)


@pytest.mark.parametrize("broken", ["text", "no functions", "absent"])
def test_questions_about_devices_never_raise(broken, tmp_path):
    """Drivers that are no library, that have none of a driver's functions, or that are not there."""
    for name in ("libcuda.so.1", "libOpenCL.so.1", "libnvrtc.so.12"):
        if broken == "text":
            (tmp_path / name).write_text("no library")
        elif broken == "no functions":
            compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
            if not compiler:
                pytest.skip("no compiler")
            subprocess.run([compiler, "-shared", "-x", "c", "/dev/null", "-o", tmp_path / name], check=True)
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(tmp_path),
        "OCL_ICD_VENDORS": "/nonexistent",
        "PYTHONPATH": ":".join(sys.path),
    }
    done = subprocess.run(
        [sys.executable, "-c", ASKED], capture_output=True, text=True, env=environment, timeout=120
    )
    assert done.stdout.split()[3:] == ["True", "True"], done.stdout + done.stderr
    if broken != "absent":
        assert done.stdout.split()[:3] == ["False", "False", "False"]

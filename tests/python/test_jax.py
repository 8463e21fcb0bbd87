"""Differentiable statistics in JAX: grad, jit, vmap, types, training."""

import numpy as np
import pytest

jax = pytest.importorskip("jax")
pytest.importorskip("paritas")

import jax.numpy as jnp

import paritas.jax
import paritas.jax.session
from differentiable_support import CHOSEN, EVERYTHING, STATISTICS, analysis, counting, numbers_of
from paritas.differentiable import STATUSES
from paritas.jax import soft_histogram

METHODS = {
    "q0": {},
    "Z0": {},
    "expected_significance": {},
    "qmu": {"mu": 2.5},
    "cls": {"mu": 2.5},
    "upper_limit": {},
}


@pytest.fixture(autouse=True)
def wide():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.fixture(scope="module")
def session():
    return paritas.jax.Session(analysis(), **CHOSEN, threads=1)


@pytest.fixture
def rows(session):
    return [jnp.asarray(numbers) for numbers in numbers_of(analysis(), session)]


def function_of(session, name):
    """A statistic as a function of the five row arguments; of cls and limits observed and expected in one
    array."""

    def function(data, signal, background, up, down):
        found = getattr(session, name)(
            **METHODS[name], data=data, signal=signal, background=background, variations=(up, down)
        )
        return (
            jnp.concatenate([found.observed[..., None], found.expected], axis=-1)
            if isinstance(found, tuple)
            else found
        )

    return function


@pytest.mark.parametrize("name", METHODS)
def test_gradients_are_the_engines(session, rows, name):
    statistic, mu = STATISTICS[name]
    answer = session.call(
        statistic,
        None if mu is None else np.array([mu]),
        [np.asarray(row) for row in rows],
        (False,) + (True,) * 5,
    )
    function = function_of(session, name)
    assert np.array_equal(np.atleast_1d(function(*rows)), answer.values[0])
    for way in (
        jax.jacrev(function, argnums=(0, 1, 2, 3, 4)),
        jax.jit(jax.jacrev(function, argnums=(0, 1, 2, 3, 4))),
    ):
        for slope, exact in zip(way(*rows), answer.slopes[1:]):
            assert np.array_equal(np.asarray(slope).reshape(exact[0].shape), exact[0])


def test_likelihood(session):
    point = jnp.asarray(session.model.suggested_init) * 1.02 + 0.01
    value, slope = jax.jit(jax.value_and_grad(session.nll))(point)
    assert value == session.model.nll(np.asarray(point))
    assert np.allclose(slope, 0.5 * session.model.gradient(np.asarray(point)), rtol=1e-13, atol=1e-13)
    assert session.nll() == session.model.nll()


def test_slopes_by_mu(session):
    for name in ("qmu", "cls"):
        answer = session.call(STATISTICS[name][0], np.array([2.5]), [None] * 5, (True,) + (False,) * 5)
        function = (lambda mu: session.qmu(mu)) if name == "qmu" else (lambda mu: session.cls(mu).observed)
        assert jax.grad(function)(2.5) == answer.slopes[0][0, 0, 0]


@pytest.mark.parametrize("name", ["q0", "cls", "upper_limit"])
def test_vmap_is_a_loop(session, rows, name):
    """One call of the engine for all, bit by bit what each is alone; also of gradients, under jit, twice
    over, and where some arguments are common."""
    signals = rows[1] * jnp.linspace(0.5, 2.0, 3)[:, None]
    backgrounds = rows[2] * jnp.linspace(0.95, 1.05, 2)[:, None]
    function = function_of(session, name)

    def of(signal, background):
        return function(rows[0], signal, background, rows[3], rows[4])

    for way in (of, jax.jacrev(of, argnums=1)):
        loop = np.array([[way(signal, background) for background in backgrounds] for signal in signals])
        mapped = jax.vmap(jax.vmap(way, in_axes=(None, 0)), in_axes=(0, None))
        assert np.array_equal(mapped(signals, backgrounds), loop)
        assert np.array_equal(jax.jit(mapped)(signals, backgrounds), loop)
        assert np.array_equal(jax.vmap(way, in_axes=(0, None))(signals, backgrounds[1]), loop[:, 1])


def test_a_vmap_is_one_call(session, rows, monkeypatch):
    calls = []
    call = paritas.jax.Session.call
    monkeypatch.setattr(
        paritas.jax.Session, "call", lambda self, *arguments: calls.append(1) or call(self, *arguments)
    )
    signals = rows[1] * jnp.linspace(0.5, 2.0, 7)[:, None]
    jax.vmap(jax.grad(lambda signal: session.q0(signal=signal)))(signals).block_until_ready()
    assert len(calls) == 1


def test_leading_dimensions_are_a_batch(session, rows):
    signals = rows[1] * jnp.linspace(0.5, 2.0, 3)[:, None, None]
    backgrounds = rows[2] * jnp.linspace(0.95, 1.05, 2)[:, None]
    together = session.cls(2.5, signal=signals, background=backgrounds)
    assert together.observed.shape == (3, 2) and together.expected.shape == (3, 2, 5)
    mapped = jax.vmap(lambda signal: session.cls(2.5, signal=signal, background=backgrounds).expected)(
        signals[:, 0]
    )
    assert np.array_equal(mapped, together.expected)
    slopes = jax.grad(
        lambda signal, background: session.cls(2.5, signal=signal, background=background).expected.sum(),
        argnums=(0, 1),
    )(signals, backgrounds)
    assert slopes[0].shape == signals.shape and slopes[1].shape == backgrounds.shape
    one = jax.grad(lambda signal: session.cls(2.5, signal=signal, background=backgrounds).expected.sum())(
        signals[1, 0]
    )
    assert np.allclose(slopes[0][1, 0], one, rtol=1e-13)


def test_an_argument_in_pieces(session, rows):
    whole = session.Z0(signal=rows[1])
    assert session.Z0(signal={"search": rows[1][1:], ("control", "signal"): rows[1][:1]}) == whole


def test_callbacks_answer_what_foreign_functions_do(session, rows, monkeypatch):
    """The way over jax.pure_callback, which other devices than the CPU take."""
    if not paritas.jax.session.FOREIGN_FUNCTIONS:
        pytest.skip("this jaxlib does not know foreign functions as they are written here")
    signals = rows[1] * jnp.linspace(0.5, 2.0, 3)[:, None]

    def way():
        return jax.vmap(
            jax.value_and_grad(
                lambda signal: session.expected_significance(signal=signal, background=rows[2])
            )
        )(signals)

    direct = way()
    monkeypatch.setattr(paritas.jax.session, "FOREIGN_FUNCTIONS", False)
    for one, other in zip(direct, way()):
        assert np.array_equal(one, other)


def test_a_jaxlib_whose_version_is_not_known_is_not_registered_with(monkeypatch, tmp_path):
    """It might refuse the functions when they are called, which is too late for jax.pure_callback."""
    folder = tmp_path / "xla" / "ffi" / "api"
    folder.mkdir(parents=True)
    monkeypatch.setattr(jax.ffi, "include_dir", lambda: str(tmp_path))
    assert not paritas.jax.session._register()
    (folder / "c_api.h").write_text("#define XLA_FFI_API_MAJOR 1\n#define XLA_FFI_API_MINOR 0\n")
    assert not paritas.jax.session._register()
    (folder / "c_api.h").write_text("#define XLA_FFI_API_MAJOR 0\n#define XLA_FFI_API_MINOR 7\n")
    assert paritas.jax.session._interface() == 7


def test_float32(session, rows):
    wide_value, wide_slope = jax.value_and_grad(lambda signal: session.q0(signal=signal))(rows[1])
    jax.config.update("jax_enable_x64", False)
    value, slope = jax.jit(jax.value_and_grad(lambda signal: session.q0(signal=signal)))(
        jnp.asarray(np.asarray(rows[1]))
    )
    assert value.dtype == slope.dtype == jnp.float32
    assert np.allclose(value, wide_value, rtol=1e-6) and np.allclose(slope, wide_slope, rtol=1e-5, atol=1e-6)


@pytest.fixture(scope="module")
def everything():
    return paritas.jax.Session(analysis(), **EVERYTHING, threads=1)


def everything_of(session, name):
    def function(*rows):
        data, signal, background, up, down, hi, lo, uncertainties = rows
        return getattr(session, name)(
            **METHODS[name],
            data=data,
            signal=signal,
            background=background,
            variations=(up, down),
            factors=(hi, lo),
            uncertainties=uncertainties,
        )

    numbers = numbers_of(analysis(), session)
    rows = tuple(jnp.asarray(one) for one in numbers)
    return function, rows, tuple(0.01 * one * jnp.cos(jnp.arange(one.size) + 1.0) for one in rows)


def along(function, rows, directions, h):
    ends = [function(*[a + s * h * b for a, b in zip(rows, directions)]) for s in (1.0, -1.0)]
    return jax.tree.map(lambda a, b: (a - b) / (2.0 * h), *ends)


@pytest.mark.parametrize("name", ["q0", "Z0", "qmu"])
def test_second_derivatives(everything, name):
    """Forward over reverse against differences of gradients; all orders of modes, jit and vmap against each
    other."""
    function, rows, directions = everything_of(everything, name)
    slopes = jax.grad(function, argnums=tuple(range(8)))
    value, change = jax.jvp(function, rows, directions)
    gradient, changes = jax.jvp(slopes, rows, directions)
    assert value == function(*rows)
    assert change == pytest.approx(sum(float((a * b).sum()) for a, b in zip(gradient, directions)), rel=1e-12)
    coarse, fine = along(slopes, rows, directions, 0.2), along(slopes, rows, directions, 0.1)
    for one, a, b in zip(changes, coarse, fine):
        assert one == pytest.approx(np.asarray((4.0 * b - a) / 3.0), rel=1e-5, abs=1e-6)

    def of_uncertainties(numbers):
        return function(*rows[:7], numbers)

    hessian = jax.hessian(of_uncertainties)(rows[7])
    assert np.abs(hessian).max() > 1e-3 and hessian == pytest.approx(
        np.asarray(hessian.T), rel=1e-12, abs=1e-15
    )
    for other in (
        jax.jacrev(jax.grad(of_uncertainties)),
        jax.jacrev(jax.jacfwd(of_uncertainties)),
        jax.jit(jax.hessian(of_uncertainties)),
    ):
        assert other(rows[7]) == pytest.approx(np.asarray(hessian), rel=1e-12, abs=1e-15)
    batch = jax.vmap(jax.hessian(of_uncertainties))(rows[7] * jnp.array([[1.0], [1.1]]))
    assert np.array_equal(batch[0], hessian) and not np.allclose(batch[1], hessian)


def test_second_derivatives_of_the_likelihood(everything):
    point = jnp.asarray(everything.model.suggested_init) * 0.9 + 0.1
    hessian = jax.hessian(everything.nll)(point)
    plain = paritas.Model.from_workspace(analysis())
    assert hessian == pytest.approx(0.5 * plain.hessian(np.asarray(point)), rel=1e-12, abs=1e-12)


def test_what_has_first_derivatives_only(everything):
    numbers = everything_of(everything, "q0")[1][7]

    def expected(uncertainties):
        return everything.expected_significance(uncertainties=uncertainties)

    value, change = jax.jvp(expected, (numbers,), (0.1 * numbers,))
    assert change == pytest.approx(float((jax.grad(expected)(numbers) * 0.1 * numbers).sum()), rel=1e-12)
    with pytest.raises(NotImplementedError, match="there are second derivatives of nll"):
        jax.hessian(expected)(numbers)
    third = jax.hessian(lambda numbers: everything.q0(uncertainties=numbers))
    with pytest.raises(NotImplementedError, match="no higher ones"):
        jax.grad(lambda numbers: third(numbers).sum())(numbers)


def test_rows_that_fail_do_not_stop_training(session, rows):
    data = jnp.stack([rows[0], jnp.full_like(rows[0], jnp.nan), rows[0]])
    value, codes = jax.jit(lambda signal: session.Z0(data=data, signal=signal, return_status=True))(rows[1])
    assert [STATUSES[code] for code in codes] == ["converged", "non_finite", "converged"]
    assert np.isnan(value).tolist() == [False, True, False]
    assert np.isfinite(
        jax.grad(lambda signal: jnp.nansum(session.Z0(data=data, signal=signal)))(rows[1])
    ).all()
    assert np.isnan(jax.grad(lambda signal: session.Z0(data=data[1], signal=signal))(rows[1])).all()


def test_what_is_wrong_is_named_where_it_is_traced(session, rows):
    with pytest.raises(paritas.InvalidArgument, match="signal: the last dimension is 4"):
        jax.jit(lambda signal: session.q0(signal=signal))(rows[1][1:])
    with pytest.raises(TypeError, match="by name, as in q0.signal=..., background=..."):
        session.q0(np.ones(2))
    with pytest.raises(TypeError, match="mu: the arguments are data, .*; qmu and cls take mu"):
        session.q0(mu=1.0)
    with pytest.raises(TypeError, match="sgnal"):
        session.q0(sgnal=rows[1])


def test_complex_numbers_are_refused(session, rows):
    with pytest.raises(paritas.InvalidArgument, match="not complex"):
        session.q0(signal=rows[1] * (1.0 + 1.0j))


def test_what_the_engine_refuses_is_told(session):
    with pytest.raises(Exception, match="mu"):
        session.qmu(-1.0).block_until_ready()


@pytest.mark.parametrize("kernel", ["gaussian", "logistic"])
def test_soft_histogram(kernel):
    rng = np.random.default_rng(1)
    x, weights = rng.normal(size=200), rng.uniform(0.5, 1.5, 200)
    edges = np.array([-np.inf, -1.0, 0.0, 0.7, np.inf])
    soft = soft_histogram(x, edges, 0.3, weights, kernel)
    assert soft.values.sum() == pytest.approx(weights.sum(), rel=1e-13)
    assert soft.variances.sum() == pytest.approx((weights**2).sum(), rel=1e-13)
    sharp = soft_histogram(x, edges, 1e-7, weights, kernel)
    assert np.allclose(sharp.values, np.histogram(x, edges, weights=weights)[0], atol=1e-9)
    slopes = jax.jit(
        jax.grad(lambda *moved: soft_histogram(*moved, weights, kernel).values[0], argnums=(0, 1, 2))
    )
    assert all(np.isfinite(slope).all() for slope in slopes(x, edges, 0.3))
    with pytest.raises(paritas.InvalidArgument, match="edges"):
        soft_histogram(x, edges[::-1], 0.3)


def test_a_cut_is_learnt():
    """Steps along the gradient of the expected significance, all in one jit, take a cut to where it pays."""
    workspace = counting(60.0, 10.0, 50.0)
    workspace["channels"][0]["samples"][1]["modifiers"].append(
        {"name": "norm", "type": "normsys", "data": {"hi": 1.1, "lo": 0.9}}
    )
    session = paritas.jax.Session(workspace, signal="signal", background="background", threads=1)
    rng = np.random.default_rng(3)
    signal, background = jnp.asarray(rng.normal(1.0, 0.5, 250)), jnp.asarray(rng.normal(size=1000))

    @jax.jit
    @jax.value_and_grad
    def significance(cut):
        edges = jnp.stack([cut, jnp.inf])
        s, b = (
            soft_histogram(signal, edges, 0.1).values * 0.08,
            soft_histogram(background, edges, 0.1).values * 0.2,
        )
        return session.expected_significance(signal=s, background=b, data=s + b)

    cut = jnp.asarray(-1.0)
    first, slope = significance(cut)
    for _ in range(80):
        cut = cut + 0.1 * slope
        reached, slope = significance(cut)
    best = max(float(significance(jnp.asarray(place))[0]) for place in np.linspace(-1.0, 2.5, 36))
    assert reached > 1.5 * first
    assert reached > 0.98 * best

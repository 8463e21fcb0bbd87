"""Differentiable statistics in PyTorch: gradients through autograd, batches, types, training."""

import copy
import pickle
import threading

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("paritas")

import paritas.torch
from differentiable_support import CHOSEN, EVERYTHING, STATISTICS, analysis, counting, numbers_of
from paritas.differentiable import STATUSES
from paritas.torch import SoftHistogram

torch.set_num_threads(1)
METHODS = {
    "q0": {},
    "Z0": {},
    "expected_significance": {},
    "qmu": {"mu": 2.5},
    "cls": {"mu": 2.5},
    "upper_limit": {},
}


@pytest.fixture(scope="module")
def session():
    return paritas.torch.Session(analysis(), **CHOSEN, threads=1)


@pytest.fixture
def rows(session):
    """Tensors of the row arguments that ask for gradients."""
    return [torch.tensor(numbers, requires_grad=True) for numbers in numbers_of(analysis(), session)]


def named(rows):
    return {"data": rows[0], "signal": rows[1], "background": rows[2], "variations": (rows[3], rows[4])}


# ---- gradients ----


@pytest.mark.parametrize("name", [name for name in METHODS if name != "upper_limit"])
def test_gradcheck(session, rows, name):
    """Torch's own check, by differences of 1e-4: coarse, but of the whole way through autograd; limits are
    found to 1e-7 and have another test."""

    def function(*tensors):
        found = getattr(session, name)(**METHODS[name], **named(tensors))
        return found if isinstance(found, torch.Tensor) else tuple(found)

    assert torch.autograd.gradcheck(function, rows, eps=1e-4, atol=1e-6, rtol=1e-5)


def test_gradcheck_of_parameters_and_mu(session):
    point = torch.tensor(np.array(session.model.suggested_init) * 1.02 + 0.01, requires_grad=True)
    assert torch.autograd.gradcheck(session.nll, (point,), eps=1e-5, atol=1e-7)
    mu = torch.tensor([2.0, 2.5, 3.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda mu: session.qmu(mu), (mu,), eps=1e-4, atol=1e-6)
    assert torch.autograd.gradcheck(lambda mu: session.cls(mu, curve=0), (mu,), eps=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", METHODS)
def test_gradients_are_the_engines(session, rows, name):
    """What autograd hands on is what the engine says, output by output."""
    found = getattr(session, name)(**METHODS[name], **named(rows))
    outputs = [found] if isinstance(found, torch.Tensor) else [found.observed, *found.expected]
    statistic, mu = STATISTICS[name]
    answer = session.call(
        statistic,
        None if mu is None else np.array([mu]),
        [row.detach().numpy() for row in rows],
        (False,) + (True,) * 5,
    )
    for k, output in enumerate(outputs):
        assert output.item() == answer.values[0, k]
        for i, slope in enumerate(torch.autograd.grad(output, rows, retain_graph=True)):
            assert np.array_equal(slope.numpy(), answer.slopes[1 + i][0, k])


def test_what_needs_no_gradient_gets_none(session, rows):
    fixed = [row.detach() for row in rows]
    value = session.q0(signal=rows[1], background=fixed[2])
    value.backward()
    assert rows[1].grad is not None and fixed[2].grad is None
    assert not session.q0(signal=fixed[1]).requires_grad


def test_a_session_in_a_module_is_copied_and_pickled(session, rows):
    for made in (copy.deepcopy(session), pickle.loads(pickle.dumps(session))):
        assert torch.equal(made.Z0(**named(rows)), session.Z0(**named(rows))) and made.sizes == session.sizes


@pytest.mark.parametrize("name", ["q0", "Z0"])
def test_second_derivatives(name):
    """torch.func in all orders of modes, and autograd; against differences of gradients."""
    func = torch.func
    everything = paritas.torch.Session(analysis(), **EVERYTHING, threads=1)
    rows = tuple(torch.tensor(numbers) for numbers in numbers_of(analysis(), everything))
    directions = tuple(0.01 * one * torch.cos(torch.arange(one.numel()) + 1.0) for one in rows)

    def function(data, signal, background, up, down, hi, lo, uncertainties):
        return getattr(everything, name)(
            data=data,
            signal=signal,
            background=background,
            variations=(up, down),
            factors=(hi, lo),
            uncertainties=uncertainties,
        )

    slopes = func.grad(function, argnums=tuple(range(8)))
    value, change = func.jvp(function, rows, directions)
    gradient, changes = func.jvp(slopes, rows, directions)
    assert change.item() == pytest.approx(sum((a * b).sum().item() for a, b in zip(gradient, directions)))

    def along(h):
        ends = [slopes(*[a + s * h * b for a, b in zip(rows, directions)]) for s in (1.0, -1.0)]
        return [(a - b) / (2.0 * h) for a, b in zip(*ends)]

    for one, coarse, fine in zip(changes, along(0.2), along(0.1)):
        assert torch.allclose(one, (4.0 * fine - coarse) / 3.0, rtol=1e-5, atol=1e-6)

    def of_uncertainties(numbers):
        return function(*rows[:7], numbers)

    hessian = func.hessian(of_uncertainties)(rows[7])
    for other in (
        func.jacrev(func.jacrev(of_uncertainties))(rows[7]),
        torch.autograd.functional.hessian(of_uncertainties, rows[7]),
        func.vmap(func.hessian(of_uncertainties))(torch.stack([rows[7], 1.1 * rows[7]]))[0],
    ):
        assert torch.allclose(other, hessian, rtol=1e-12, atol=1e-15)


def test_what_has_first_derivatives_only(session, rows):
    (slope,) = torch.autograd.grad(session.expected_significance(signal=rows[1]), rows[1], create_graph=True)
    with pytest.raises(NotImplementedError, match="there are second derivatives of nll"):
        slope.square().sum().backward()
    # zeros, were gradients nothing that the argument has a part in
    with pytest.raises(NotImplementedError, match="there are second derivatives of nll"):
        torch.func.hessian(lambda signal: session.upper_limit(curve=0, signal=signal))(rows[1].detach())
    with pytest.raises(NotImplementedError, match="no higher ones"):
        torch.func.grad(
            lambda signal: torch.func.hessian(lambda signal: session.q0(signal=signal))(signal).sum()
        )(rows[1].detach())


def test_chain_rule_and_curves(session, rows):
    """A curve alone is that of all six; a gradient goes on to what the templates are made of."""
    scale = torch.tensor(1.3, dtype=torch.float64, requires_grad=True)
    all_six = session.upper_limit(signal=scale * rows[1])
    alone = session.upper_limit(curve=0, signal=scale * rows[1])
    assert alone.item() == all_six.expected[2].item()
    assert session.upper_limit(curve="observed", signal=scale * rows[1]).item() == all_six.observed.item()
    (slope,) = torch.autograd.grad(alone, scale)
    # a limit on mu goes as one over the signal, here found to 1e-7
    assert slope.item() == pytest.approx(-alone.item() / 1.3, rel=2e-7)


# ---- shapes, types ----


def test_batches_have_leading_dimensions(session, rows):
    signal = rows[1] * torch.linspace(0.5, 2.0, 3, dtype=torch.float64)[:, None, None]
    background = rows[2] * torch.linspace(0.95, 1.05, 2, dtype=torch.float64)[:, None]
    together = session.cls(torch.tensor(2.5, dtype=torch.float64), signal=signal, background=background)
    assert together.observed.shape == (3, 2) and together.expected.shape == (3, 2, 5)
    together.expected.sum().backward(retain_graph=True)
    whole = [rows[1].grad.clone(), rows[2].grad.clone()]
    rows[1].grad, rows[2].grad = None, None
    for i in range(3):
        for j in range(2):
            alone = session.cls(2.5, signal=signal[i, 0], background=background[j])
            assert torch.equal(alone.expected, together.expected[i, j]) and torch.equal(
                alone.observed, together.observed[i, j]
            )
            alone.expected.sum().backward(retain_graph=True)
    assert torch.allclose(whole[0], rows[1].grad, rtol=1e-12, atol=1e-14) and torch.allclose(
        whole[1], rows[2].grad, rtol=1e-12, atol=1e-14
    )


def test_float32_goes_in_and_comes_out(session, rows):
    signal = rows[1].detach().float().requires_grad_()
    value = session.q0(signal=signal)
    assert value.dtype is torch.float32
    value.backward()
    assert signal.grad.dtype is torch.float32
    wide = signal.detach().double().requires_grad_()
    session.q0(signal=wide).backward()
    assert torch.equal(signal.grad, wide.grad.float())
    assert session.q0(signal=signal, background=rows[2]).dtype is torch.float64
    # numbers that are no tensors do not widen it
    assert session.qmu(2.5, signal=signal, data=rows[0].detach().numpy()).dtype is torch.float32
    assert session.qmu(2.5).dtype is torch.float64


def test_complex_numbers_are_refused(session, rows):
    with pytest.raises(paritas.InvalidArgument, match="not complex"):
        session.q0(signal=torch.complex(rows[1], rows[1]))


def test_an_argument_in_pieces(session, rows):
    control, search = rows[1][:1], rows[1][1:]
    whole = session.Z0(signal=rows[1])
    assert torch.equal(
        session.Z0(signal={("search", "signal"): search, ("control", "signal"): control}), whole
    )
    assert torch.equal(session.Z0(signal={"search": search, "control": control}), whole)
    many = session.Z0(signal={"search": search.expand(4, 3), "control": control})
    assert many.shape == (4,) and torch.equal(many[2], whole)
    with pytest.raises(paritas.InvalidArgument, match="control/signal missing"):
        session.Z0(signal={"search": search})
    with pytest.raises(paritas.InvalidArgument, match="'nowhere' names 0 of"):
        session.Z0(signal={"nowhere": search})


def test_numbers_that_are_no_tensors(session, rows):
    numbers = rows[1].detach().numpy()
    assert (
        session.q0(signal=numbers).item()
        == session.q0(signal=list(numbers)).item()
        == session.q0(signal=rows[1]).item()
    )
    assert session.nll().item() == session.nll(session.model.suggested_init).item()
    pieces = session.q0(
        signal={
            "control": [float(number) for number in numbers[:1]],
            "search": [float(number) for number in numbers[1:]],
        }
    )
    assert pieces.dtype is torch.float64 and pieces.item() == session.q0(signal=numbers).item()


def test_a_session_survives_pickling_and_copying(session, rows):
    again = pickle.loads(pickle.dumps(session))
    assert again.sizes == session.sizes and torch.equal(again.q0(signal=rows[1]), session.q0(signal=rows[1]))
    assert copy.copy(session) is session and copy.deepcopy([session])[0] is session


# ---- statuses ----


def test_rows_that_fail_do_not_stop_training(session, rows):
    data = torch.stack([rows[0], torch.full_like(rows[0], float("nan")), rows[0]])
    value, codes = session.Z0(data=data, signal=rows[1], return_status=True)
    assert [STATUSES[code] for code in codes] == ["converged", "non_finite", "converged"]
    assert session.status.tolist() == ["converged", "non_finite", "converged"]
    assert torch.isnan(value).tolist() == [False, True, False]
    torch.where(codes == 0, value, 0.0).sum().backward()
    assert torch.isfinite(rows[1].grad).all()
    codes.zero_()
    assert session.status[1] == "non_finite"
    rows[1].grad = None
    torch.nansum(session.Z0(data=data.detach(), signal=rows[1])).backward()
    assert torch.isfinite(rows[1].grad).all()
    session.q0()
    assert session.status == "converged"


def test_a_fit_that_does_not_converge():
    """Signal only, and a tested value whose rate is negative: that fit never reaches the domain."""
    workspace = counting(3.0, 1.0, 0.0)
    workspace["channels"][0]["samples"] = workspace["channels"][0]["samples"][:1]
    session = paritas.torch.Session(workspace, signal="signal", bounds={"mu": (-10.0, 10.0)})
    signal = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    value = session.qmu(-5.0, test_stat="q", signal=signal)
    assert torch.isnan(value) and session.status != "converged"
    value.backward()
    assert torch.isnan(signal.grad).all()


def test_sessions_in_threads(session, rows):
    numbers = rows[1].detach()
    alone = []
    for factor in range(1, 9):
        signal = (numbers * (0.3 * factor)).requires_grad_()
        session.expected_significance(signal=signal).backward()
        alone.append(signal.grad)
    found = [None] * 8

    def work(factor):
        signal = (numbers * (0.3 * factor)).requires_grad_()
        session.expected_significance(signal=signal).backward()
        assert session.status == "converged"
        found[factor - 1] = signal.grad

    threads = [threading.Thread(target=work, args=(factor,)) for factor in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(a, b) for a, b in zip(alone, found))


# ---- histograms ----


@pytest.mark.parametrize("kernel", ["gaussian", "logistic"])
def test_soft_histogram(kernel):
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(200, generator=generator, dtype=torch.float64)
    weights = torch.rand(200, generator=generator, dtype=torch.float64) + 0.5
    edges = [-float("inf"), -1.0, 0.0, 0.7, float("inf")]
    soft = SoftHistogram(edges, 0.3, kernel)(x, weights)
    assert soft.values.sum().item() == pytest.approx(weights.sum().item(), rel=1e-13)
    assert soft.variances.sum().item() == pytest.approx((weights**2).sum().item(), rel=1e-13)
    sharp = SoftHistogram(edges, 1e-7, kernel)(x, weights)
    assert np.allclose(sharp.values.numpy(), np.histogram(x, edges, weights=weights)[0], atol=1e-9)
    assert np.allclose(sharp.variances.numpy(), np.histogram(x, edges, weights=weights**2)[0], atol=1e-9)
    counts = SoftHistogram(edges, 0.3, kernel)(x)
    assert torch.equal(counts.values, counts.variances)


@pytest.mark.parametrize("kernel", ["gaussian", "logistic"])
def test_soft_histogram_gradients(kernel):
    x = torch.tensor([-1.2, 0.1, 0.4, 2.0], dtype=torch.float64, requires_grad=True)
    weights = torch.tensor([0.5, 1.5, 1.0, 2.0], dtype=torch.float64, requires_grad=True)
    edges = torch.tensor([-1.0, 0.3, 1.0], dtype=torch.float64, requires_grad=True)
    bandwidth = torch.tensor(0.4, dtype=torch.float64, requires_grad=True)

    def function(x, weights, edges, bandwidth):
        return tuple(SoftHistogram(edges, bandwidth, kernel)(x, weights))

    assert torch.autograd.gradcheck(function, (x, weights, edges, bandwidth))
    outer = torch.tensor([-float("inf"), 0.3, float("inf")], dtype=torch.float64)
    assert torch.autograd.gradcheck(
        lambda x, bandwidth: tuple(SoftHistogram(outer, bandwidth, kernel)(x, weights)), (x, bandwidth)
    )
    assert len(list(SoftHistogram(torch.nn.Parameter(edges.detach()), 0.1).parameters())) == 1


def test_soft_histograms_that_cannot_be():
    for edges, bandwidth, kernel, what in (
        ([0.0, 0.0, 1.0], 0.1, "gaussian", "edges"),
        ([0.0], 0.1, "gaussian", "edges"),
        ([0.0, float("inf"), 1.0], 0.1, "gaussian", "edges"),
        ([0.0, 1.0], 0.0, "gaussian", "bandwidth"),
        ([0.0, 1.0], 0.1, "box", "kernel"),
    ):
        with pytest.raises(paritas.InvalidArgument, match=what):
            SoftHistogram(edges, bandwidth, kernel)


# ---- training ----


def search():
    """A signal and a background count, one bin, 10 % on the background."""
    workspace = counting(60.0, 10.0, 50.0)
    workspace["channels"][0]["samples"][1]["modifiers"].append(
        {"name": "norm", "type": "normsys", "data": {"hi": 1.1, "lo": 0.9}}
    )
    return paritas.torch.Session(workspace, signal="signal", background="background", threads=1)


def events():
    generator = torch.Generator().manual_seed(3)
    signal = torch.randn(250, generator=generator, dtype=torch.float64) * 0.5 + 1.0
    background = torch.randn(1000, generator=generator, dtype=torch.float64)
    return signal, background


def test_a_cut_is_learnt():
    """The edge of a one-bin histogram goes where the expected significance is largest, as trying all cuts
    with hard counts shows."""
    session, (signal, background) = search(), events()
    cut = torch.nn.Parameter(torch.tensor([-1.0], dtype=torch.float64))
    optimizer = torch.optim.Adam([cut], lr=0.05)

    def significance(bandwidth):
        histogram = SoftHistogram(
            torch.cat([cut, torch.tensor([float("inf")], dtype=torch.float64)]), bandwidth
        )
        s, b = histogram(signal).values * 0.08, histogram(background).values * 0.2
        return session.expected_significance(signal=s, background=b, data=s + b)

    first = significance(1e-6).item()
    for _ in range(100):
        optimizer.zero_grad()
        (-significance(0.1)).backward()
        optimizer.step()
    last = significance(1e-6).item()
    cuts = np.linspace(-1.0, 2.5, 36)
    with torch.no_grad():
        tried = []
        for place in cuts:
            cut.copy_(torch.tensor([place]))
            tried.append(significance(1e-6).item())
    assert last > 1.5 * first
    assert last > 0.93 * max(tried)


def test_a_network_learns_to_part_signal_from_background():
    """Events of two observables, a small network, a soft histogram of its output in five bins, q0 of profiled
    fits as the loss: Z0 rises."""
    generator = torch.Generator().manual_seed(5)
    signal = torch.randn(400, 2, generator=generator, dtype=torch.float64) * 0.7 + torch.tensor(
        [1.0, -0.7], dtype=torch.float64
    )
    background = torch.randn(1600, 2, generator=generator, dtype=torch.float64)
    workspace = counting(60.0, 10.0, 50.0)
    for sample, total in zip(workspace["channels"][0]["samples"], (20.0, 200.0)):
        sample["data"] = [total / 5] * 5
    workspace["channels"][0]["samples"][1]["modifiers"].append(
        {"name": "norm", "type": "normsys", "data": {"hi": 1.1, "lo": 0.9}}
    )
    workspace["observations"][0]["data"] = [44.0] * 5
    session = paritas.torch.Session(workspace, signal="signal", background="background", threads=1)
    torch.manual_seed(2)
    network = torch.nn.Sequential(
        torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1), torch.nn.Sigmoid()
    ).double()
    histogram = SoftHistogram([-float("inf"), 0.2, 0.4, 0.6, 0.8, float("inf")], 0.05)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.03)

    def z0():
        s, b = (
            histogram(network(signal)[:, 0]).values * (20.0 / 400),
            histogram(network(background)[:, 0]).values * (200.0 / 1600),
        )
        return session.Z0(signal=s, background=b, data=s + b)

    first = z0().item()
    for _ in range(100):
        optimizer.zero_grad()
        (-z0()).backward()
        optimizer.step()
    assert session.status == "converged"
    assert z0().item() > first + 1.0

"""Statistics of data rows and their derivatives, as the front ends of PyTorch and JAX share them."""

import json
import math
import re
import threading

import numpy as np
import pytest

pytest.importorskip("paritas")

import paritas
from differentiable_support import (
    CHOSEN,
    EVERYTHING,
    STATISTICS,
    analysis,
    counting,
    derivative,
    discovery,
    numbers_of,
    rebuilt,
)
from package_support import SHARED, TREE
from paritas.differentiable import (
    EXPECTED_SIGNIFICANCE,
    NLL,
    Q0,
    ROW_ARGUMENTS,
    STATUSES,
    Z0,
    Session,
    Statistic,
    pulled_back,
)

ALL = (True,) * 6


@pytest.fixture(scope="module")
def session():
    return Session(analysis(), **CHOSEN, threads=1)


@pytest.fixture(scope="module")
def everything():
    return Session(analysis(), **EVERYTHING, threads=1)


def asked(session, name, rows, wanted=ALL, mu=None):
    statistic, at = STATISTICS[name]
    at = at if mu is None else mu
    return session.call(
        statistic, None if at is None else np.array([at]), rows, (wanted[0] and at is not None, *wanted[1:])
    )


# ---- closed forms: one bin ----

N, S, B = 17.0, 4.0, 9.0


def one_bin(statistic, at=None):
    counter = Session(counting(N, S, B), signal="signal", background="background")
    answer = counter.call(
        statistic,
        at,
        [np.array([N]), np.array([S]), np.array([B]), None, None],
        (at is not None, True, True, True, False, False),
    )
    assert answer.codes[0] == 0
    return float(answer.values[0, 0]), [None if slope is None else slope[0, 0] for slope in answer.slopes]


def test_nll():
    mu = 1.3
    rate = mu * S + B
    value, (by_mu, by_n, by_s, by_b, _, _) = one_bin(NLL, np.array([mu]))
    digamma = -0.57721566490153286061 + sum(1.0 / i for i in range(1, int(N) + 1))
    assert value == pytest.approx(rate - N * math.log(rate) + math.lgamma(N + 1.0), rel=1e-14)
    for slope, expected in (
        (by_mu, S * (1.0 - N / rate)),
        (by_n, digamma - math.log(rate)),
        (by_s, mu * (1.0 - N / rate)),
        (by_b, 1.0 - N / rate),
    ):
        assert slope[0] == pytest.approx(expected, rel=1e-12)


def test_q0_and_z0():
    value, (_, by_n, by_s, by_b, _, _) = one_bin(Q0)
    assert value == pytest.approx(discovery(N, B), rel=1e-12)
    assert by_n[0] == pytest.approx(2.0 * math.log(N / B), rel=1e-11)
    assert by_s[0] == pytest.approx(0.0, abs=1e-11)
    assert by_b[0] == pytest.approx(2.0 * (1.0 - N / B), rel=1e-11)
    z, slopes = one_bin(Z0)
    assert z == pytest.approx(math.sqrt(value), rel=1e-14)
    assert slopes[1][0] == pytest.approx(math.log(N / B) / z, rel=1e-11)


def test_expected_significance():
    value, (_, by_n, by_s, by_b, _, _) = one_bin(EXPECTED_SIGNIFICANCE)
    assert value == pytest.approx(math.sqrt(discovery(S + B, B)), rel=1e-12)
    assert by_n[0] == pytest.approx(0.0, abs=1e-11)
    assert by_s[0] == pytest.approx(math.log(1.0 + S / B) / value, rel=1e-11)
    assert by_b[0] == pytest.approx((math.log(1.0 + S / B) - S / B) / value, rel=1e-11)


def test_where_there_is_no_excess_slopes_are_one_sided():
    """At mu_hat = 0 and below it, q0 and Z0 are 0, and so are their slopes; Z0's slope on the other side, 1 /
    sqrt(b), is not."""
    counter = Session(counting(B, S, B), background="background")
    for statistic in (Q0, Z0):
        for n in (B, B - 3.0):
            answer = counter.call(
                statistic,
                None,
                [np.array([n]), None, np.array([B]), None, None],
                (False, True, False, True, False, False),
            )
            assert answer.codes[0] == 0
            assert abs(answer.values[0, 0]) < 1e-6
            assert np.abs(answer.slopes[1]).max() < 1e-6 and np.abs(answer.slopes[3]).max() < 1e-6
    above = counter.call(
        Z0, None, [np.array([B + 1e-3]), None, None, None, None], (False, True, False, False, False, False)
    )
    assert above.slopes[1][0, 0, 0] == pytest.approx(1.0 / math.sqrt(B), rel=1e-3)
    expected = counter.call(
        EXPECTED_SIGNIFICANCE,
        None,
        [np.array([B - 3.0]), None, np.array([B]), None, None],
        (False, False, False, True, False, False),
    )
    assert expected.slopes[3][0, 0, 0] < -1e-2  # the expected significance has a direction also there


# ---- against workspaces that are made anew ----


@pytest.mark.parametrize("name", [name for name in STATISTICS if name != "upper_limit"])
def test_slopes_are_those_of_rebuilt_workspaces(everything, name):
    """One number of each argument at a time: nested central differences of values from workspaces that have
    it in place of their own."""
    session = everything
    rows = numbers_of(analysis(), session)
    slopes = asked(session, name, rows, (True,) * 9).slopes
    for i, (argument, numbers) in enumerate(zip(ROW_ARGUMENTS, rows)):
        k = (3 * i + 1) % len(numbers)

        def value(x):
            moved = [row.copy() for row in rows]
            moved[i][k] = x
            fresh = Session(rebuilt(analysis(), session, moved), threads=1)
            return asked(fresh, name, [None] * 5, (False,) * 6).values[0]

        exact = derivative(value, numbers[k], 0.005 * numbers[k])
        assert slopes[1 + i][0, :, k] == pytest.approx(exact, rel=1e-8, abs=1e-8), argument


@pytest.mark.parametrize("name", ["qmu", "q", "cls", "cls_q"])
def test_slopes_by_mu(session, name):
    mu = STATISTICS[name][1]
    exact = derivative(lambda x: asked(session, name, [None] * 5, (False,) * 6, x).values[0], mu, 0.05)
    assert asked(session, name, [None] * 5).slopes[0][0, :, 0] == pytest.approx(exact, rel=1e-8, abs=1e-8)


def test_slopes_of_limits_are_those_of_the_curves_whose_roots_they_are(session):
    rows = numbers_of(analysis(), session)
    limits = asked(session, "upper_limit", rows)
    for k in range(6):
        curve = session.call(Statistic("cls", "qtilde", 1 << k), limits.values[0, k : k + 1], rows, ALL)
        assert curve.values[0, 0] == pytest.approx(0.05, rel=1e-6)
        for i in range(1, 6):
            assert limits.slopes[i][0, k] == pytest.approx(
                -curve.slopes[i][0, 0] / curve.slopes[0][0, 0, 0], rel=1e-9, abs=1e-12
            )


def test_limits_of_a_model_with_several_minima_have_their_own_slopes_or_none():
    """Both sides of this histosys act the same way, so that the fits at a limit may end in another minimum
    than the search for it did."""

    def sample(name, data, hi, lo, scale, stat):
        more = [{"name": "mu", "type": "normfactor", "data": None}] if name == "signal" else []
        more += [{"name": "stat", "type": "staterror", "data": stat}] if stat else []
        return {
            "name": name,
            "data": data,
            "modifiers": [
                {"name": "shape", "type": "histosys", "data": {"hi_data": hi, "lo_data": lo}},
                {"name": "scale", "type": "normsys", "data": scale},
                *more,
            ],
        }

    scale = {"hi": 1.1, "lo": 0.93}
    workspace = {
        "version": "1.0.0",
        "channels": [
            {
                "name": "only",
                "samples": [
                    sample(
                        "signal",
                        [8.74, 1.43, 9.34, 4.21],
                        [8.48, 1.66, 8.73, 4.79],
                        [9.36, 1.48, 9.9, 3.73],
                        scale,
                        [0.21, 0.12, 0.75, 0.36],
                    ),
                    sample(
                        "background",
                        [94.95, 88.62, 22.75, 80.04],
                        [98.08, 95.91, 26.06, 83.07],
                        [83.8, 75.95, 20.74, 85.8],
                        scale,
                        [2.76, 6.56, 0.91, 5.77],
                    ),
                    sample(
                        "other",
                        [43.11, 37.12, 95.91, 87.38],
                        [40.07, 44.02, 89.08, 87.21],
                        [42.08, 37.62, 88.34, 83.32],
                        scale,
                        [],
                    ),
                ],
            }
        ],
        "observations": [{"name": "only", "data": [169.0, 120.0, 150.0, 189.0]}],
        "measurements": [{"name": "all", "config": {"poi": "mu", "parameters": []}}],
    }
    session = Session(workspace, signal="signal", threads=1)
    signal = np.array([8.74, 1.43, 9.34, 4.21])
    for output in range(6):
        statistic = Statistic("limit", outputs=1 << output)
        answer = session.call(
            statistic, None, [None, signal, None, None, None], [False, False, True, False, False, False]
        )
        if STATUSES[answer.codes[0]] != "converged":
            assert np.isnan(answer.values).all() and np.isnan(answer.slopes[2]).all()
            continue
        for i in range(4):
            step = 1e-3 * (np.arange(4) == i)
            ends = [
                session.call(
                    statistic, None, [None, signal + sign * step, None, None, None], [False] * 6
                ).values[0, 0]
                for sign in (1, -1)
            ]
            assert (
                abs((ends[0] - ends[1]) / 2e-3 - answer.slopes[2][0, 0, i])
                < 1e-3 * abs(answer.slopes[2]).max()
            )


def test_nll_slopes(session):
    rows = numbers_of(analysis(), session)
    point = np.array(session.model.suggested_init)
    point[session.model.index("shape")], point[session.model.index("scale")] = 0.4, -0.3
    answer = session.call(NLL, point, rows, ALL)
    plain = paritas.Model.from_workspace(rebuilt(analysis(), session, rows))
    assert answer.values[0, 0] == plain.nll(point)
    assert answer.slopes[0][0, 0] == pytest.approx(0.5 * plain.gradient(point), rel=1e-13, abs=1e-13)
    for i, numbers in enumerate(rows[1:], 1):
        for k in range(len(numbers)):

            def value(x):
                moved = [row.copy() for row in rows]
                moved[i][k] = x
                return paritas.Model.from_workspace(rebuilt(analysis(), session, moved)).nll(point)

            assert answer.slopes[1 + i][0, 0, k] == pytest.approx(
                derivative(value, numbers[k], 0.05 * numbers[k]), rel=1e-8, abs=1e-8
            )


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("name", STATISTICS)
def test_rows_answer_what_a_rebuilt_workspace_answers(name, shared):
    """Bit by bit, but for fits that take their curvature from different workspaces."""
    session = Session(analysis(), **EVERYTHING, shared=shared, threads=1)
    factors = (1.05, 1.3, 0.97, 0.98, 0.96, 1.02, 0.99, 1.15)
    rows = [numbers * factor for numbers, factor in zip(numbers_of(analysis(), session), factors)]
    fresh = Session(rebuilt(analysis(), session, rows), shared=shared)
    there, here = asked(fresh, name, [None] * 5, (False,) * 6), asked(session, name, rows)
    if shared and STATISTICS[name][0].is_shared:
        assert there.values == pytest.approx(here.values, rel=1e-9 if name == "upper_limit" else 1e-11)
    else:
        assert np.array_equal(there.values, here.values)
    assert there.codes[0] == here.codes[0] == 0


def test_values_are_those_of_the_statistics(session):
    """The likelihood bit by bit, and limits whose fits share no curvature; what is made of differences of
    minima to what the minima are found to, and limits to what a search leaves open."""
    rows = [
        numbers * factor
        for numbers, factor in zip(numbers_of(analysis(), session), (1.05, 1.3, 0.97, 0.98, 0.96))
    ]
    model = paritas.Model.from_workspace(rebuilt(analysis(), session, rows))
    significance, test, limit = model.significance(), model.hypotest(2.5), model.upper_limit()
    value = {name: asked(session, name, rows, (False,) * 6).values[0] for name in STATISTICS}
    assert value["q0"][0] == pytest.approx(significance.q0, abs=1e-9)
    assert value["Z0"][0] == pytest.approx(significance.Z, abs=1e-9)
    assert value["expected_significance"][0] == pytest.approx(significance.Z_exp, abs=1e-9)
    assert value["qmu"][0] == pytest.approx(test.q, abs=1e-9)
    assert value["cls"] == pytest.approx([test.CLs_obs, *test.CLs_exp], abs=1e-9)
    limits = [limit.limit_obs, *limit.limit_exp]
    assert value["upper_limit"] == pytest.approx(limits, rel=1e-9)
    own = Session(analysis(), **EVERYTHING, shared=False, threads=1)
    assert asked(own, "upper_limit", rows, (False,) * 6).values[0].tolist() == limits


# ---- auxiliary data ----


def test_auxiliary_data_follow_templates_or_stand_in_the_data(session):
    rows = numbers_of(analysis(), session)
    model = session.model
    main_and_aux = np.array(model.data[: model.main_count + model.aux_count])
    following = session.call(Q0, None, [None, *rows[1:]], (False, False, True, True, True, True))
    given = session.call(Q0, None, [main_and_aux, *rows[1:]], (False, True, True, True, True, True))
    assert np.array_equal(following.values, given.values)
    aux = given.slopes[1][0, 0, model.main_count :]
    assert np.abs(aux).max() > 1e-3

    def value(x):
        return session.call(
            Q0, None, [np.concatenate([main_and_aux[:-1], [x]]), *rows[1:]], (False,) * 6
        ).values[0, 0]

    exact = derivative(value, main_and_aux[-1], 0.05)
    assert aux[-1] == pytest.approx(exact, rel=1e-8, abs=1e-8)
    fakes = slice(len(rows[2]) - 3, None)  # their shapesys has its auxiliary data from them
    assert not np.allclose(following.slopes[3][0, 0, fakes], given.slopes[3][0, 0, fakes], rtol=1e-6)


# ---- batches ----


@pytest.mark.parametrize("name", STATISTICS)
def test_a_batch_is_its_rows(session, name):
    rng = np.random.default_rng(7)
    data, signal, background, up, down = numbers_of(analysis(), session)
    batch = [
        data,
        signal * rng.uniform(0.5, 2.0, (3, 1, len(signal))),
        background * rng.uniform(0.9, 1.1, (5, len(background))),
        up,
        None,
    ]
    together = Session(analysis(), **CHOSEN, threads=3)
    answer = asked(together, name, batch)
    assert answer.batch == (3, 5)
    for i in range(3):
        for j in range(5):
            alone = asked(session, name, [data, batch[1][i, 0], batch[2][j], up, None])
            assert np.array_equal(answer.values[5 * i + j], alone.values[0])
            for one, of_all in zip(alone.slopes, answer.slopes):
                assert one is None if of_all is None else np.array_equal(one[0], of_all[5 * i + j])


@pytest.mark.parametrize("name", ["q0", "Z0", "qmu"])
def test_rows_share_their_curvature(session, name):
    """Answers within what fits leave open, and the same bits in any batch."""
    apart = Session(analysis(), **CHOSEN, shared=False, threads=1)
    data, signal, background, _, _ = numbers_of(analysis(), session)
    signals = signal * np.linspace(0.8, 1.25, 16)[:, None]
    own, shared = (
        asked(apart, name, [data, signals, background, None, None]),
        asked(session, name, [data, signals, background, None, None]),
    )
    assert not np.array_equal(own.slopes[1], shared.slopes[1])  # it did go the other way
    assert (shared.codes == 0).all()
    assert shared.values == pytest.approx(own.values, rel=1e-9, abs=1e-9)
    for one, other in zip(shared.slopes[1:4], own.slopes[1:4]):
        assert one == pytest.approx(other, rel=1e-5, abs=1e-6)
    assert np.array_equal(
        asked(session, name, [data, signals[5], background, None, None]).values[0], shared.values[5]
    )


def test_pulled_back(session):
    """Weights go to every argument in its shape; what broadcasting doubled is summed."""
    data, signal, background, _, _ = numbers_of(analysis(), session)
    many = signal * np.linspace(0.5, 2.0, 4)[:, None]
    mu = np.array([[2.0], [2.5], [3.0], [3.5]])
    answer = session.call(
        STATISTICS["cls"][0],
        mu,
        [None, many, background, None, None],
        (True, False, True, True, False, False),
    )
    weights = np.arange(24.0).reshape(4, 6)
    assert pulled_back(answer.slopes[0], weights, (4, 1)) == pytest.approx(
        (weights[:, :, None] * answer.slopes[0]).sum(1)
    )
    assert pulled_back(answer.slopes[3], weights, background.shape) == pytest.approx(
        (weights[:, :, None] * answer.slopes[3]).sum((0, 1))
    )


def test_threads_share_a_session(session):
    rows = numbers_of(analysis(), session)
    signals = [rows[1] * factor for factor in np.linspace(0.5, 2.0, 16)]
    alone = [asked(session, "upper_limit", [None, signal, None, None, None]).values for signal in signals]
    found = [None] * len(signals)

    def work(first):
        for i in range(first, len(signals), 4):
            found[i] = asked(session, "upper_limit", [None, signals[i], None, None, None]).values

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(a, b) for a, b in zip(alone, found))


# ---- what fails ----


def test_a_row_that_is_no_data_is_nan_and_says_so(session):
    rows = numbers_of(analysis(), session)
    many = np.tile(rows[0], (3, 1))
    many[1, 0] = np.nan
    for name in STATISTICS:
        answer = asked(session, name, [many, None, None, None, None])
        assert [STATUSES[code] for code in answer.codes] == ["converged", "non_finite", "converged"]
        assert np.isnan(answer.values[1]).all() and np.isfinite(answer.values[[0, 2]]).all()
        assert np.isnan(answer.slopes[1][1]).all()
        weights = np.ones_like(answer.values)
        weights[1] = 0.0
        assert np.isfinite(pulled_back(answer.slopes[1], weights, many.shape)).all()


def test_limits_of_a_batch_are_those_of_its_rows_alone_and_of_own_fits():
    """Rows without a limit, or that are none, stand among them."""
    chosen = {"signal": CHOSEN["signal"], "threads": 1}
    own, session = Session(analysis(), **chosen, shared=False), Session(analysis(), **chosen)
    factors = (0.97, 1.0, 0.0, 1.03, 1.01)
    signals = np.array([numbers_of(analysis(), session)[1] * factor for factor in factors])
    signals[3, 0] = np.nan
    rows = [None, signals, None, None, None]
    together, apart = asked(session, "upper_limit", rows), asked(own, "upper_limit", rows)
    assert together.codes.tolist() == apart.codes.tolist()
    assert np.isnan(together.values[2:4]).all() and np.isnan(apart.values[2:4]).all()
    sound = [0, 1, 4]
    assert together.values[sound] == pytest.approx(apart.values[sound], rel=1e-8)
    assert not np.array_equal(together.values[sound], apart.values[sound])  # it did go the other way
    assert together.slopes[1][sound] == pytest.approx(apart.slopes[1][sound], rel=1e-6, abs=1e-6)
    for i in sound:
        alone = asked(session, "upper_limit", [None, signals[i], None, None, None])
        assert np.array_equal(alone.values[0], together.values[i])
        assert np.array_equal(alone.slopes[1][0], together.slopes[1][i])


@pytest.mark.parametrize("shared", [False, True])
def test_a_row_without_a_rate_that_a_constraint_follows_from_is_nan_alone(shared):
    """Of rows whose statistical errors or tau have nothing left to be relative to, or lie out of range,
    nobody else's numbers take notice."""
    chosen = Session(analysis(), **CHOSEN, shared=shared, threads=1)
    many = np.tile(numbers_of(analysis(), chosen)[2], (5, 1)) * np.linspace(0.95, 1.05, 5)[:, None]
    assert chosen.arguments["background"] == [("control", "top"), ("search", "top"), ("search", "fakes")]
    top, fakes = slice(1, 4), slice(4, 7)
    many[1, top][0] = 0.0
    many[2, fakes][1] = 0.0
    many[3, top][2] = 1e-170
    by_at_and_background = (True, False, False, True, False, False)
    for name in [*STATISTICS, "nll"]:

        def answer_of(background):
            rows = [None, None, background, None, None]
            if name == "nll":
                return chosen.call(NLL, chosen.model.suggested_init, rows, by_at_and_background)
            return asked(chosen, name, rows, by_at_and_background)

        answer, sound = answer_of(many), answer_of(many[[0, 4]])
        assert [STATUSES[code] for code in answer.codes] == [
            "converged",
            "non_finite",
            "non_finite",
            "non_finite",
            "converged",
        ]
        for found, expected in [
            (answer.values, sound.values),
            *((a, b) for a, b in zip(answer.slopes, sound.slopes) if a is not None),
        ]:
            assert np.isnan(found[1:4]).all() and np.array_equal(found[[0, 4]], expected)
        weights = np.ones_like(answer.values)
        weights[1:4] = 0.0
        assert np.isfinite(pulled_back(answer.slopes[3], weights, many.shape)).all()


def test_a_fit_that_does_not_converge_is_nan_and_says_so():
    """Signal only, and a tested value whose rate is negative: that fit never reaches the domain."""
    answer = signal_alone(3.0, -5.0)
    assert STATUSES[answer.codes[0]] == "non_finite"
    assert np.isnan(answer.values).all() and np.isnan(answer.slopes[2]).all()


def test_a_best_fit_at_a_rate_of_0_has_slopes():
    """Signal only, no event: q = 2 mu s."""
    answer = signal_alone(0.0, 1.0)
    assert STATUSES[answer.codes[0]] == "converged"
    for found in (answer.values, answer.slopes[0], answer.slopes[2]):
        assert np.allclose(found, 2.0, rtol=1e-9)


def signal_alone(events, mu):
    """q of a counting experiment without background."""
    workspace = counting(events, 1.0, 0.0)
    workspace["channels"][0]["samples"] = workspace["channels"][0]["samples"][:1]
    session = Session(workspace, signal="signal", bounds={"mu": (-10.0, 10.0)})
    return session.call(
        Statistic("q", "q"),
        np.array([mu]),
        [None, np.array([1.0]), None, None, None],
        (True, False, True, False, False, False),
    )


def test_what_is_wrong_is_named(session):
    with pytest.raises(paritas.NotFound, match="no sample 'higgs'"):
        Session(analysis(), signal="higgs")
    with pytest.raises(paritas.NotFound, match="channel 'nowhere'"):
        Session(analysis(), signal={("nowhere", "signal")})
    with pytest.raises(paritas.NotFound, match="no histosys 'scale'"):
        Session(analysis(), variations="scale")
    with pytest.raises(paritas.NotFound, match="factors: the model has no normsys 'shape'"):
        Session(analysis(), factors="shape")
    with pytest.raises(paritas.NotFound, match="no staterror or shapesys 'shape'"):
        Session(analysis(), uncertainties="shape")
    with pytest.raises(paritas.InvalidArgument, match="factors_up: the last dimension is 3 .one each of"):
        Session(analysis(), **EVERYTHING).call(Q0, None, [None] * 5 + [np.ones(4)], (False,) * 9)
    with pytest.raises(paritas.InvalidArgument, match="control/signal is named twice"):
        Session(analysis(), signal="signal", background="signal")
    with pytest.raises(paritas.InvalidArgument, match="signal: the last dimension is 4"):
        session.call(Q0, None, [None, np.ones(3), None, None, None], ALL)
    with pytest.raises(paritas.InvalidArgument, match="data: the last dimension is 4"):
        session.call(Q0, None, [np.ones(3), None, None, None, None], ALL)
    with pytest.raises(paritas.InvalidArgument, match="made without"):
        Session(analysis()).call(Q0, None, [None, np.ones(4), None, None, None], ALL)
    with pytest.raises(paritas.InvalidArgument, match="parameters: the last dimension"):
        session.call(NLL, np.ones(2), [None] * 5, ALL)
    with pytest.raises(paritas.InvalidArgument, match="curve 3"):
        session.cls(curve=3)
    with pytest.raises(TypeError, match="sgnal"):
        session.q0(sgnal=np.ones(4))


def test_a_model_gives_its_workspace_and_choices():
    model = paritas.Model.from_workspace(analysis(), histosys_code=0)
    from_model, from_workspace = Session(model, **CHOSEN), Session(analysis(), histosys_code=0, **CHOSEN)
    rows = [None, None, None, numbers_of(analysis(), from_model)[3] * 1.1, None]
    assert np.array_equal(asked(from_model, "q0", rows).values, asked(from_workspace, "q0", rows).values)
    assert not np.array_equal(
        asked(from_model, "q0", rows).values, asked(Session(analysis(), **CHOSEN), "q0", rows).values
    )


@pytest.mark.skipif(not (SHARED / "tHu_FCNC.json").exists(), reason="the analyses are not here")
def test_a_large_analysis():
    """184 parameters, its signal in all channels: slopes of q0 and of the expected significance by one bin,
    from workspaces made anew."""
    workspace = json.loads((SHARED / "tHu_FCNC.json").read_text())
    large = Session(workspace, signal=["utH_dec", "utH_prod"])
    rows = numbers_of(workspace, large)
    rows[0] = np.round(rows[0] + 0.2 * rows[1].reshape(2, -1).sum(0))  # an excess
    k = int(np.argmax(rows[1]))
    for statistic in (Q0, EXPECTED_SIGNIFICANCE):
        slope = large.call(
            statistic, None, [*rows[:2], None, None, None], (False, False, True, False, False, False)
        ).slopes[2][0, 0, k]

        def value(x):
            moved = [row.copy() for row in rows]
            moved[1][k] = x
            return (
                Session(rebuilt(workspace, large, moved))
                .call(statistic, None, [None] * 5, (False,) * 6)
                .values[0, 0]
            )

        assert slope == pytest.approx(
            derivative(value, rows[1][k], 0.002 * rows[1][k], 3), rel=1e-8, abs=1e-10
        )


def test_the_examples_of_the_page_run(monkeypatch, capsys):
    pytest.importorskip("torch").set_num_threads(1)
    pytest.importorskip("jax")
    monkeypatch.chdir(TREE)
    scope = {"__name__": "page"}
    for block in re.findall(
        r"^```python\n(.*?)^```", (TREE / "docs" / "python" / "differentiable.md").read_text(), re.S | re.M
    ):
        exec(block, scope)
    assert "converged" in capsys.readouterr().out


def test_no_rows_and_float32_contexts(session):
    """Derivatives are made in float64 on the host whatever the context's precision is."""
    assert session.call(
        Q0, None, [None, np.empty((0, 4)), None, None, None], (False, False, True, False, False, False)
    ).values.shape == (0, 1)
    try:
        narrow = Session(analysis(), **CHOSEN, precision="f32", threads=1)
    except paritas.DeviceUnavailable as reason:
        pytest.skip(str(reason))
    rows = numbers_of(analysis(), session)
    for name in STATISTICS:
        assert np.array_equal(asked(narrow, name, rows).values, asked(session, name, rows).values)

"""Loss cones and plasma of other instruments, from distributions as the readers of SPEDAS hand them over:
ARTEMIS ESA (32 energies, 88 directions) and Kaguya MAP-PACE (two sensors, 32 energies of 4 x 16 or 16 x 64
directions). Electrons of a kappa distribution come down along the field; of those that come up the cone's are
missing, but for 5 %. Counts are Poisson numbers."""

import numpy as np
import pytest

paritas = pytest.importorskip("paritas")

from paritas import kappa, losscone

N = 40
BACKGROUND = 0.05
PLASMA = kappa.plasma(8e6, 4.5, kappa.theta(4.5, 30.0))[0]  # 8 /cm^3, 30 eV
LOBE = kappa.plasma(4e5, 3.5, kappa.theta(3.5, 90.0))[0]
THIN = {"response": 0.0}  # channels so narrow that no one sees their width


def travel(theta, phi):
    theta, phi = np.radians(theta), np.radians(phi)
    return np.stack([np.cos(theta) * np.cos(phi), np.cos(theta) * np.sin(phi), np.sin(theta)], axis=-1)


def flux_of(plasma, energy, *others, width=0.0):
    """1/(cm^2 s sr eV), averaged over channels of this relative full width at half maximum."""
    if width == 0.0:
        return flux_at(plasma, energy, *others)
    sigma = np.arcsinh(0.5 * width) / np.sqrt(2.0 * np.log(2.0))
    steps = np.linspace(-4.2, 4.2, 85)  # an edge of fewer steps is a staircase, which counts show
    weights = np.exp(-0.5 * steps**2)
    shares = weights / weights.sum()
    return sum(
        share * flux_at(plasma, energy * np.exp(sigma * x), *others) for x, share in zip(steps, shares)
    )


def flux_at(plasma, energy, direction, field, sign, potential, U, r):
    """At a spacecraft of this potential (V), by Liouville's theorem."""
    outside = np.maximum(energy - potential, 1e-3)
    isotropic = kappa.flux(outside.ravel(), plasma)[0].reshape(energy.shape) / (4.0 * np.pi)
    cosine = sign * direction @ (field / np.linalg.norm(field))
    edge = np.clip(r * (1.0 + U / outside), 0.0, 1.0)
    inside = (cosine < 0.0) & (1.0 - cosine**2 < edge)
    there = np.where(energy > potential, isotropic * energy / outside, 0.0)
    return there * np.where(inside, BACKGROUND, 1.0)


def themis_directions():
    """Bins of a full distribution: fewer azimuths towards the spin axis, 88 in all."""
    theta, phi, dtheta, dphi = [], [], [], []
    for elevation, bins in zip(np.arange(-78.75, 90.0, 22.5), (4, 8, 16, 16, 16, 16, 8, 4)):
        theta += [elevation] * bins
        phi += list((np.arange(bins) + 0.5) * 360.0 / bins)
        dtheta += [22.5] * bins
        dphi += [360.0 / bins] * bins
    return (np.array(values) for values in (theta, phi, dtheta, dphi))


def themis(random, k, U, r, field, sign, potential, channel=0.0):
    """A structure of get_thm_esa's kind, in counts. The first energy is the sweep's way back: bins 0."""
    theta, phi, dtheta, dphi = themis_directions()
    energy = np.geomspace(28000.0, 6.0, 32)[:, None] * np.ones(88)
    at = {"theta": theta + np.zeros((32, 1)), "phi": phi + 11.25 * np.arange(32)[:, None] / 32.0 + 380.0}
    bins = np.ones((32, 88), dtype=int)
    bins[0] = 0
    gf = dphi / 22.5 * np.ones((32, 1))
    made = {
        "project_name": "THEMIS",
        "units_name": "counts",
        "valid": 1,
        "time": 1.3e9 + 98.0 * k,
        "energy": energy,
        **at,
        "dtheta": dtheta + np.zeros((32, 1)),
        "dphi": dphi + np.zeros((32, 1)),
        "bins": bins,
        "gf": gf,
        "eff": np.full((32, 88), 0.7),
        "geom_factor": 0.0015,
        "integ_t": 0.0029,
        "dt_arr": 4.0 * np.ones((32, 88)),
        "sc_pot": potential,
        "magf": field,
    }
    exposure = 0.0015 * gf * 0.7 * 0.0029 * 4.0
    given = travel(at["theta"], at["phi"]), field, sign, potential, U, r
    flux = flux_of(PLASMA, energy, *given, width=channel)
    made["data"] = random.poisson(flux * exposure * energy).astype(float)
    return made, exposure


def kaguya(random, k, U, r, field, sign, potential, polar, around, channel=0.0):
    """Structures of kgy_esa1_get3d and kgy_esa2_get3d: a hemisphere each, in counts, with holes."""
    made = []
    step, width = 90.0 / polar, 360.0 / around
    energy = np.geomspace(9.0, 15000.0, 32)[:, None, None] * np.ones((polar, around))
    for side in (1.0, -1.0):
        theta = side * (np.arange(polar) + 0.5)[:, None] * step * np.ones(around)
        phi = (np.arange(around) + 0.5) * width * np.ones((polar, 1))
        solid = 2.0 * np.radians(width) * np.cos(np.radians(theta)) * np.sin(0.5 * np.radians(step))
        gfactor = 2e-2 * solid * np.ones((32, 1, 1))
        gfactor[:, :, 0] = 0.0  # where the spacecraft stands in the way
        given = travel(theta, phi) + np.zeros((32, 1, 1, 1)), field, sign, potential, U, r
        flux = flux_of(LOBE, energy, *given, width=channel)
        made.append(
            {
                "project_name": "Kaguya MAP/PACE",
                "units_name": "Counts",
                "valid": 1,
                "time": 1.2e9 + 16.0 * k,
                "energy": energy,
                "theta": theta + np.zeros((32, 1, 1)),
                "phi": phi + np.zeros((32, 1, 1)),
                "dtheta": np.full(energy.shape, step),
                "dphi": np.full(energy.shape, width),
                "bins": (gfactor > 0.0).astype(int),
                "gfactor": gfactor,
                "eff": np.full(energy.shape, 0.6),
                "integ_t": 0.5,
                "sc_pot": np.nan,
                "magf": field,
                "data": random.poisson(flux * gfactor * 0.6 * 0.5 * energy).astype(float),
            }
        )
    return tuple(made)


def drawn(seed):
    random = np.random.default_rng(seed)
    field = random.normal(size=(N, 3)) * 8.0
    sign = np.where(random.random(N) < 0.5, 1.0, -1.0)
    return random, random.uniform(-250.0, -30.0, N), random.uniform(0.5, 0.9, N), field, sign


def check(fit, U, r, within):
    good = fit.good()
    assert good.mean() > 0.9
    off = np.abs(fit["potential"] - U)[good]
    assert np.median(off) < within and np.percentile(off, 90) < 4.0 * within
    assert np.median(np.abs(fit["ratio"] - r)[good]) < 0.01
    held = (fit["confidence_lower"] <= U) & (U <= fit["confidence_upper"])
    assert held[good].mean() > 0.9


def check_plasma(table, plasma):
    found = table[table["plasma_status"] == "fitted"]
    assert len(found) == len(table)
    for name, truth in zip(("density", "kappa", "theta"), plasma):
        assert abs(np.median(found[name]) / truth - 1.0) < 0.05
    temperature = kappa.temperature(plasma[1], plasma[2])
    assert abs(np.median(found["temperature"]) / temperature - 1.0) < 0.03


@pytest.fixture(scope="module")
def artemis():
    random, U, r, field, sign = drawn(1)
    made = [themis(random, k, U[k], r[k], field[k], sign[k], 7.0) for k in range(N)]
    return [one for one, _ in made], made[0][1], U, r, field, sign


def test_artemis_esa(artemis):
    given, _, U, r, _, sign = artemis
    sweeps = losscone.from_distributions(given, polarity=sign, kappa_options=THIN)
    assert sweeps.flux.shape == (N, 32, 88) and np.isnan(sweeps.flux[:, 0]).all()
    fit = losscone.fit(sweeps, response="hard")
    check(fit, U, r, 5.0)
    check_plasma(fit.table, PLASMA)
    assert fit["spacecraft_potential"].tolist() == [7.0] * N and fit["time"][2] == 1.3e9 + 196.0
    assert np.array_equal(fit["polarity"], sign)
    part = losscone.fit(sweeps[3:5], response="hard")
    assert part["potential"].tolist() == fit["potential"][3:5].tolist() and part["spectrum"].tolist() == [
        3,
        4,
    ]


def test_kaguya_pace(artemis):
    random, U, r, field, sign = drawn(2)
    volts = kappa.spacecraft_potential(LOBE, True)["spacecraft_potential"][0]
    given = [kaguya(random, k, U[k], r[k], field[k], sign[k], volts, 4, 16) for k in range(N)]
    sweeps = losscone.from_distributions(given, polarity=sign, sunlit=True, kappa_options=THIN)
    assert sweeps.flux.shape == (N, 32, 128)
    off = sweeps.table()["spacecraft_potential"] - volts
    assert np.abs(off).max() < 1.0
    fit = losscone.fit(sweeps, response="hard")
    check(fit, U, r, 6.0)
    check_plasma(fit.table, LOBE)


@pytest.mark.parametrize("instrument", ["artemis", "kaguya"])
def test_channels_of_a_given_width_are_folded(instrument):
    """Channels 17 % wide, whose fluxes are integrals. The defaults' width is another instrument's. Counts
    are known, so the likelihood of counts fits the folded edge."""
    random, U, r, field, sign = drawn(7)
    if instrument == "artemis":
        given = [themis(random, k, U[k], r[k], field[k], sign[k], 7.0, channel=0.17)[0] for k in range(N)]
    else:
        given = [
            kaguya(random, k, U[k], r[k], field[k], sign[k], 12.9, 4, 16, channel=0.17) for k in range(N)
        ]
    narrow = {"response_width": 0.085}
    sweeps = losscone.from_distributions(
        given, polarity=sign, sunlit=True, kappa_options={"response": 0.17}, **narrow
    )
    fit = losscone.fit(sweeps, **narrow)
    off = fit["potential_folded"] - U
    assert fit.good().all() and (fit["preferred"] == "folded").all()
    assert np.median(np.abs(off)) < 0.5 and abs(np.median(off)) < 0.2
    held = (fit["confidence_lower_folded"] <= U) & (U <= fit["confidence_upper_folded"])
    assert held.mean() > 0.9 and np.median(fit["excess_folded"]) < 1.5
    fluxes = losscone.from_distributions(
        given, polarity=sign, sunlit=True, kappa_options={"response": 0.17}, method="halekas", **narrow
    )
    assert fluxes.measured_counts is None
    by_fluxes = losscone.fit(fluxes, response="folded", confidence="none", **narrow)["potential"] - U
    assert np.median(np.abs(by_fluxes)) > 2.0 * np.median(np.abs(off))
    plasma = PLASMA if instrument == "artemis" else LOBE
    check_plasma(fit.table, plasma)
    wide = losscone.fit(losscone.from_distributions(given, polarity=sign, sunlit=True), response="folded")
    assert np.median(wide["potential"] - U) > 10.0 and np.median(wide["excess"]) > 3.0


def test_more_directions_than_a_fit_takes_are_merged_by_pitch_angle():
    random, U, r, field, sign = drawn(3)
    given = [kaguya(random, k, U[k], r[k], field[k], sign[k], 10.0, 16, 64) for k in range(8)]
    sweeps = losscone.from_distributions(
        given, polarity=sign[:8], spacecraft_potential=10.0, kappa_options=THIN, least_counts=0
    )
    assert sweeps.flux.shape[:2] == (8, 32) and 400 < sweeps.flux.shape[2] <= 512
    fit = losscone.fit(sweeps, response="hard")
    off = np.abs(fit["potential"] - U[:8])
    assert np.median(off) < 3.0


def test_units_and_directions_are_equivalent(artemis):
    given, exposure, _, _, field, sign = artemis
    given = given[:4]
    wanted = losscone.from_distributions(given, polarity=sign[:4], kappa_options=THIN)
    mass = 5.685630103565723e-16  # eV s^2/cm^2
    with np.errstate(divide="ignore"):
        for units, factor in (
            ("eflux", 1.0 / exposure),
            ("flux", 1.0 / (exposure * given[0]["energy"])),
            ("df_cm", mass**2 / (2.0 * exposure * given[0]["energy"] ** 2)),
            ("df", 1e15 * mass**2 / (2.0 * exposure * given[0]["energy"] ** 2)),
        ):
            other = [{**one, "data": one["data"] * factor, "units_name": units} for one in given]
            made = losscone.from_distributions(other, polarity=sign[:4], kappa_options=THIN)
            np.testing.assert_allclose(made.measured, wanted.measured, rtol=1e-12)
    looked = [{**one, "theta": -one["theta"], "phi": one["phi"] + 180.0} for one in given]
    made = losscone.from_distributions(looked, polarity=sign[:4], kappa_options=THIN, look=True)
    there = np.isfinite(wanted.measured)
    np.testing.assert_allclose(made.cosine[there], wanted.cosine[there], atol=1e-12)
    flipped = losscone.from_distributions(given, polarity=-sign[:4], kappa_options=THIN)
    np.testing.assert_allclose(flipped.cosine, -wanted.cosine, atol=1e-12)
    # the field line from above the pole, along the field of +1
    position = -2500.0 * field[:4] / np.linalg.norm(field[:4], axis=1, keepdims=True)
    made = losscone.from_distributions(given, position=position, kappa_options=THIN)
    assert made.table()["polarity"].tolist() == [1.0] * 4
    with pytest.warns(UserWarning, match="no sweep can be fitted"):
        away = losscone.from_distributions(given, position=[9000.0, 9000.0, 0.0], field=[0.0, 0.0, 1.0])
    assert np.isnan(away.cosine).all() and (losscone.fit(away)["status"] != "fitted").all()


def test_cells_that_look_at_the_sun_are_masked(artemis):
    given, _, _, _, _, sign = artemis
    sun = np.array([1.0, 0.2, 0.1])
    made = losscone.from_distributions(given[:2], polarity=sign[:2], sun=sun, kappa_options=THIN)
    looks = -travel(given[0]["theta"], given[0]["phi"]) @ (sun / np.linalg.norm(sun))
    gone = np.isnan(made.measured[0]) & (np.arange(32) > 0)[:, None]
    assert (
        np.array_equal(gone, (looks > np.cos(np.radians(14.0))) & (np.arange(32) > 0)[:, None]) and gone.any()
    )


def test_without_an_exposure_plasma_is_fitted_with_equal_weights(artemis):
    given, exposure, U, r, _, sign = artemis
    names = ("energy", "theta", "phi", "dtheta", "dphi", "bins", "magf", "sc_pot")
    plain = [{name: one[name] for name in names} for one in given]
    for one, source in zip(plain, given):
        one["data"] = source["data"] / (exposure * source["energy"])
    with pytest.warns(UserWarning, match="the flux is 0 in .* distributions an exposure"):
        sweeps = losscone.from_distributions(plain, polarity=sign, kappa_options=THIN)
    assert sweeps.counts is None and "time" not in sweeps.table().dtype.names
    assert (sweeps.table()["plasma_status"] == "fitted").all()


@pytest.mark.parametrize(
    "change, more, words",
    [
        ({"data": np.ones(32)}, {}, r"distributions\[1\]: data have shape \(32,\)"),
        (
            {"theta": np.ones((31, 88))},
            {},
            r"distributions\[1\]: theta has shape \(31, 88\), data have \(32, 88\)",
        ),
        ({"units_name": "crate"}, {}, "units 'crate': there are flux, eflux, df, df_cm, counts"),
        ({}, {"polarity": None}, "polarity, position: one of the two is wanted"),
        ({}, {"polarity": [1.0, 2.0]}, r"polarity: it is \+1 or -1"),
        (
            {},
            {"polarity": None, "position": [100.0, 0.0, 0.0]},
            "inside the Moon: kilometres from its centre",
        ),
        ({}, {"spacecraft_potential": "none"}, "spacecraft_potential 'none': it is auto, volts, or None"),
        ({}, {"field": [1.0, 2.0]}, r"field: shape \(2, 3\) or one of them are wanted"),
        ({"energy": np.full((32, 88), 5.0) * np.arange(1, 89)}, {}, "energies of sweep 1, row 1 differ"),
        ({"magf": [1.0, 2.0]}, {}, r"distributions\[1\]: magf: 3 numbers are wanted, not \[1.0, 2.0\]"),
        ({"sc_pot": np.ones(32)}, {}, r"distributions\[1\]: sc_pot: a number is wanted"),
        ({"time": "2012-01-01"}, {}, r"distributions\[1\]: time: a number is wanted, not '2012-01-01'"),
        ({"theta": np.full((32, 88), 135.0)}, {}, r"distributions\[1\]: theta is 135; elevations"),
        ({}, {"polarity": None, "position": [1.1, 0.0, 0.0]}, "position: 1.1 km .* is inside the Moon"),
        ({}, {"least_counts": np.nan}, "least_counts nan: it is a number from 0 on"),
    ],
)
def test_mistakes_are_named(artemis, change, more, words):
    given = [artemis[0][0], {**artemis[0][1], **change}]
    with pytest.raises(paritas.InvalidArgument, match=words):
        losscone.from_distributions(given, **{"polarity": 1.0, **more})


def test_what_is_missing_is_named(artemis):
    one = dict(artemis[0][0])
    del one["phi"]
    with pytest.raises(
        paritas.InvalidArgument, match=r"distributions\[0\]: has no 'phi'; it has project_name"
    ):
        losscone.from_distributions([one], polarity=1.0)
    bare = [{name: one[name] for name in one if name != "magf"} for one in artemis[0][:2]]
    with pytest.raises(paritas.InvalidArgument, match="distributions: none has 'magf': give field=, nT"):
        losscone.from_distributions(bare, polarity=1.0)
    with pytest.raises(paritas.InvalidArgument, match="distributions: have different shapes"):
        losscone.from_distributions(
            [
                artemis[0][0],
                {
                    **artemis[0][1],
                    "data": np.ones((32, 6)),
                    **{
                        name: artemis[0][1][name][:, :6]
                        for name in (
                            "energy",
                            "theta",
                            "phi",
                            "dtheta",
                            "dphi",
                            "bins",
                            "gf",
                            "eff",
                            "dt_arr",
                        )
                    },
                },
            ],
            polarity=1.0,
        )
    with pytest.raises(paritas.InvalidArgument, match="distributions: there are none"):
        losscone.from_distributions([], polarity=1.0)


def test_what_is_unknown_costs_its_own_sweep(artemis):
    given, _, U, _, _, sign = artemis
    unknown = {"magf": np.full(3, np.nan)}, {"valid": 0}, {"sc_pot": np.nan}
    mixed = [given[0], *({**one, **change} for one, change in zip(given[1:4], unknown))]
    fit = losscone.fit(losscone.from_distributions(mixed, polarity=sign[:4]), response="hard")
    assert fit["status"].tolist() == ["fitted", *["no_cells"] * 3] and abs(fit["potential"][0] - U[0]) < 20.0
    assert fit["plasma_status"].tolist() == ["fitted", *["no_rows"] * 3]


@pytest.mark.parametrize(
    "change, more, words",
    [
        ({"magf": np.full(3, np.nan)}, {}, "the field is unknown"),
        ({}, {"polarity": 0.0}, "no polarity is known"),
        ({}, {"polarity": None, "position": [1.8e6, 0.0, 0.0]}, "no field line meets the Moon"),
        ({"data": np.zeros((32, 88))}, {}, "too few counts"),
    ],
)
def test_a_reason_is_told_if_no_sweep_can_be_fitted(artemis, change, more, words):
    with pytest.warns(UserWarning, match=f"no sweep can be fitted; .*{words}"):
        losscone.from_distributions([{**artemis[0][0], **change}], **{"polarity": 1.0, **more})


def test_one_distribution_is_no_list(artemis):
    with pytest.raises(paritas.InvalidArgument, match="a list of dictionaries is wanted"):
        losscone.from_distributions(artemis[0][0], polarity=1.0)

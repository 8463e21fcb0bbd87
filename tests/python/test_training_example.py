"""The worked example of the pages: a network trained on the likelihood beats one trained on cross-entropy."""

import sys

import pytest

pytest.importorskip("jax")

from package_support import TREE


@pytest.fixture(scope="module")
def example():
    import jax

    before, path = jax.config.jax_enable_x64, str(TREE / "examples" / "training")
    sys.path.insert(0, path)
    try:
        import train_on_likelihood

        yield train_on_likelihood
    finally:
        sys.path.remove(path)
        jax.config.update("jax_enable_x64", before)


def test_training_on_the_likelihood_beats_cross_entropy(example):
    found = example.compare(steps=(60, 40), events=2000)
    assert found["session"].model.parameter_count >= 70
    assert found["Z"]["likelihood"] > 1.03 * found["Z"]["cross-entropy"]

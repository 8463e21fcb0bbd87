"""What nobody holds is freed, and arrays keep what they show."""

import gc
import weakref

import numpy as np
import pytest

paritas = pytest.importorskip("paritas")

WORKSPACE = {
    "version": "1.0.0",
    "channels": [
        {
            "name": "one",
            "samples": [
                {
                    "name": "signal",
                    "data": [1.0, 2.0],
                    "modifiers": [{"type": "normfactor", "name": "mu", "data": None}],
                }
            ],
        }
    ],
    "observations": [{"name": "one", "data": [3.0, 5.0]}],
    "measurements": [{"name": "fit", "config": {"poi": "mu", "parameters": []}}],
}


def test_a_model_is_freed_and_its_arrays_outlive_it():
    model = paritas.Model.from_workspace(WORKSPACE)
    data, held = model.data, weakref.ref(model)
    del model
    gc.collect()
    assert held() is None
    np.testing.assert_array_equal(data, [3.0, 5.0])

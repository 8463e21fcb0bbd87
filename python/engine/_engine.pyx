# cython: language_level=3, boundscheck=False, wraparound=False, embedsignature=True
"""The C library as Python sees it: contexts, workspaces, models, and one thin call a function of paritas.h.

Here alone C is known. Calls take NumPy arrays as they are where they are contiguous and float64, hand out new
ones, and run without the interpreter's lock; what users see (names instead of indices, result classes) is
made of them in the modules beside this one.

  context.pxi     contexts, a pool for each choice of device and precision; errors; progress, Ctrl-C
  documents.pxi   workspaces, patch sets
  model.pxi       models, likelihoods and derivatives, expected data
  fits.pxi        fits, MINOS
  statistics.pxi  tests, limits, scans, rankings, goodness of fit
  toys.pxi        toys of all kinds, and their stores
  gradient.pxi    statistics of many data rows with their derivatives
  xla.pxi         functions that JAX calls
  er.pxi          day files of the Electron Reflectometer, geometry
  losscone.pxi    loss cones: fits, confidence sets, profiles, models
  kappa.pxi       kappa distributions, currents, spacecraft potentials
"""
cimport cython
cimport numpy as cnp
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memset
from cpython.exc cimport PyErr_CheckSignals
from paritas_h cimport *
from er_h cimport *
from losscone_h cimport *
from kappa_h cimport *

import numpy as np

cnp.import_array()

include "context.pxi"
include "documents.pxi"
include "model.pxi"
include "fits.pxi"
include "statistics.pxi"
include "toys.pxi"
include "gradient.pxi"
include "xla.pxi"
include "er.pxi"
include "losscone.pxi"
include "kappa.pxi"

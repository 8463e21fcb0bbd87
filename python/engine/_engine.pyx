# cython: language_level=3, boundscheck=False, wraparound=False, embedsignature=True
"""The C library for Python: contexts, documents, models, and a thin call for each function.

Only this folder knows C; declare_interface.py makes its declarations from the public headers. Contiguous
float64 arrays are not copied. Calls run without the interpreter's lock. Results are structured arrays, which
the modules of paritas turn into classes.

  context.pxi     errors; contexts, pooled by device and precision; progress, Ctrl-C
  calls.pxi       (made from the headers) the library's functions, with an engine in place of a context
  records.pxi     enumerations, records, options; arrays
  documents.pxi   workspaces, patch sets
  model.pxi       models, likelihoods and derivatives, expected data
  fits.pxi        jobs, fits, MINOS
  statistics.pxi  tests, limits, scans, rankings, goodness of fit
  toys.pxi        toys and their stores
  sample.pxi      draws from posteriors, their summaries
  gradient.pxi    statistics of many data rows with derivatives
  xla.pxi         functions that JAX calls
  er.pxi          day files of the Electron Reflectometer, geometry
  losscone.pxi    loss cones: fits, confidence sets, profiles, models
  kappa.pxi       kappa distributions, currents, spacecraft potentials
  days.pxi        days from files to sweeps"""
cimport cython
cimport numpy as cnp
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memset
from cpython.exc cimport PyErr_CheckSignals
from cpython.ref cimport Py_INCREF, PyObject
from interface_h cimport *

from types import SimpleNamespace

import numpy as np

cnp.import_array()

include "context.pxi"
include "calls.pxi"
include "records.pxi"
include "documents.pxi"
include "model.pxi"
include "fits.pxi"
include "statistics.pxi"
include "toys.pxi"
include "sample.pxi"
include "gradient.pxi"
include "xla.pxi"
include "er.pxi"
include "losscone.pxi"
include "kappa.pxi"
include "days.pxi"

/* workspace.h: a workspace with every kind of modifier that is small enough for a simulator of devices. */
#ifndef PARITAS_TESTS_OPENCL_WORKSPACE_H
#define PARITAS_TESTS_OPENCL_WORKSPACE_H

/* Channel A: 11 bins (a panel and a part of one), shapesys and staterror of different samples, two scalars on one sample.
 * Channel B: 5 bins, one staterror over all samples. Channel C: 3 bins with a free shape and a dead bin. */
static const char *const small_workspace =
    "{\"channels\": ["
    "{\"name\": \"A\", \"samples\": ["
    "{\"name\": \"signal\", \"data\": [0.5, 1.0, 2.0, 4.0, 6.0, 7.5, 6.5, 4.0, 2.5, 1.0, 0.5], \"modifiers\": ["
    "{\"name\": \"mu\", \"type\": \"normfactor\", \"data\": null}, {\"name\": \"k\", \"type\": \"normfactor\", \"data\": null}, "
    "{\"name\": \"lumi\", \"type\": \"lumi\", \"data\": null}, "
    "{\"name\": \"scale\", \"type\": \"normsys\", \"data\": {\"hi\": 1.12, \"lo\": 0.93}}]}, "
    "{\"name\": \"top\", \"data\": [30.0, 28.0, 26.0, 25.0, 23.0, 20.0, 18.0, 15.0, 12.0, 9.0, 5.0], \"modifiers\": ["
    "{\"name\": \"k\", \"type\": \"normfactor\", \"data\": null}, "
    "{\"name\": \"scale\", \"type\": \"normsys\", \"data\": {\"hi\": 1.05, \"lo\": 0.96}}, "
    "{\"name\": \"theory\", \"type\": \"normsys\", \"data\": {\"hi\": 1.2, \"lo\": 0.85}}, "
    "{\"name\": \"shape\", \"type\": \"histosys\", \"data\": {"
    "\"hi_data\": [31.0, 29.0, 27.5, 25.5, 23.5, 20.0, 17.5, 14.0, 11.0, 8.0, 4.5], "
    "\"lo_data\": [29.5, 27.0, 25.0, 24.0, 22.0, 20.5, 18.5, 16.0, 12.5, 9.5, 5.5]}}, "
    "{\"name\": \"stat_A\", \"type\": \"staterror\", \"data\": [1.5, 1.4, 1.3, 1.3, 1.2, 1.1, 1.0, 0.9, 0.8, 0.7, 0.5]}]}, "
    "{\"name\": \"fakes\", \"data\": [5.0, 5.5, 6.0, 5.0, 4.0, 3.5, 3.0, 2.0, 1.5, 1.0, 0.8], \"modifiers\": ["
    "{\"name\": \"fake_rate\", \"type\": \"shapesys\", \"data\": [1.0, 1.2, 1.0, 0.9, 0.8, 0.8, 0.7, 0.6, 0.4, 0.3, 0.3]}, "
    "{\"name\": \"shape\", \"type\": \"histosys\", \"data\": {"
    "\"hi_data\": [5.5, 5.8, 6.2, 5.0, 3.9, 3.4, 2.8, 1.9, 1.4, 0.9, 0.7], "
    "\"lo_data\": [4.6, 5.1, 5.8, 4.9, 4.1, 3.6, 3.2, 2.1, 1.6, 1.1, 0.9]}}, "
    "{\"name\": \"stat_A\", \"type\": \"staterror\", \"data\": [0.7, 0.7, 0.8, 0.7, 0.6, 0.6, 0.5, 0.4, 0.3, 0.3, 0.2]}]}]}, "
    "{\"name\": \"B\", \"samples\": ["
    "{\"name\": \"signal\", \"data\": [0.2, 0.4, 0.8, 0.4, 0.1], \"modifiers\": ["
    "{\"name\": \"mu\", \"type\": \"normfactor\", \"data\": null}, {\"name\": \"lumi\", \"type\": \"lumi\", \"data\": null}, "
    "{\"name\": \"stat_B\", \"type\": \"staterror\", \"data\": [0.05, 0.06, 0.1, 0.05, 0.03]}]}, "
    "{\"name\": \"top\", \"data\": [80.0, 70.0, 60.0, 40.0, 20.0], \"modifiers\": ["
    "{\"name\": \"theory\", \"type\": \"normsys\", \"data\": {\"hi\": 1.15, \"lo\": 0.9}}, "
    "{\"name\": \"tail\", \"type\": \"histosys\", \"data\": {\"hi_data\": [81.0, 71.0, 62.0, 43.0, 23.0], \"lo_data\": [79.0, 69.0, 59.0, 38.0, 18.0]}}, "
    "{\"name\": \"stat_B\", \"type\": \"staterror\", \"data\": [3.0, 2.5, 2.5, 2.0, 1.2]}]}]}, "
    "{\"name\": \"C\", \"samples\": ["
    "{\"name\": \"data_driven\", \"data\": [100.0, 90.0, 80.0], \"modifiers\": ["
    "{\"name\": \"free\", \"type\": \"shapefactor\", \"data\": null}, "
    "{\"name\": \"unc\", \"type\": \"shapesys\", \"data\": [5.0, 6.0, 0.0]}, "
    "{\"name\": \"scale\", \"type\": \"normsys\", \"data\": {\"hi\": 1.05, \"lo\": 0.96}}]}]}], "
    "\"observations\": ["
    "{\"name\": \"A\", \"data\": [36, 35, 33, 36, 31, 33, 27, 20, 17, 12, 6]}, "
    "{\"name\": \"B\", \"data\": [84, 66, 65, 38, 24]}, "
    "{\"name\": \"C\", \"data\": [104, 88, 79]}], "
    "\"measurements\": [{\"name\": \"m\", \"config\": {\"poi\": \"mu\", \"parameters\": ["
    "{\"name\": \"lumi\", \"auxdata\": [1.0], \"bounds\": [[0.5, 1.5]], \"inits\": [1.0], \"sigmas\": [0.02]}]}}], "
    "\"version\": \"1.0.0\"}";

#endif

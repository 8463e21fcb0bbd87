/* sweep_layout.h: sweeps as rows of numbers, on the module's grid.
 *
 * All numbers are finite. A cell without data has flux 0 and cosine 0. Sweeps may be smaller than the grid:
 * nobody reads the rest. */
#pragma once

#include "losscone/losscone_rows.h"
#include "losscone/sweep_grid.h"

enum sweep_row {
    PLACE8(SWEEP_ENERGY, SWEEP_ROWS),    /* eV; above 0 */
    PLACE8(SWEEP_POTENTIAL, SWEEP_ROWS), /* of the spacecraft, V */
    /* [n][row]: energy n of a folded row's channel over the row's energy; falling */
    PLACE8(SWEEP_CHANNEL, (LOSSCONE_ENERGIES * SWEEP_ROWS)),
    PLACE8(SWEEP_COSINE, SWEEP_ALL), /* of the pitch angle; above 0: incident */
    PLACE8(SWEEP_FLUX, SWEEP_ALL),   /* normalised; 0: masked */
    SWEEP_SIZE
};

enum model_row { MODEL_POINT = SWEEP_FLUX, MODEL_IN = MODEL_POINT + 8 }; /* a sweep with a point for fluxes */
enum model_answer { PLACE8(MODEL_CELL, SWEEP_ALL), PLACE8(MODEL_EDGE, SWEEP_ROWS), MODEL_OUT };

enum cosines_row {
    PLACE8(COSINES_FIELD, 3 * SWEEP_ROWS),
    PLACE8(COSINES_SIGN, SWEEP_ROWS),
    PLACE8(COSINES_AZIMUTH, SWEEP_ALL), /* degrees */
    COSINES_IN
};

/* Of counts (counted_model.h). A cell with scale 0 is masked. */
enum counted_sweep {
    PLACE8(COUNTED_POTENTIAL, SWEEP_ROWS), /* of the spacecraft, V */
    PLACE8(COUNTED_CENTRE, SWEEP_ROWS),    /* ln E of the channel's centre */
    PLACE8(COUNTED_NARROW, SWEEP_ROWS),    /* 1 / its width in ln E */
    PLACE8(COUNTED_BASE, SWEEP_ROWS),      /* background in normalised flux */
    PLACE8(COUNTED_COSINE, SWEEP_ALL),
    PLACE8(COUNTED_COUNT, SWEEP_ALL),
    PLACE8(COUNTED_SCALE, SWEEP_ALL), /* counts of a normalised flux of 1 */
    PLACE8(COUNTED_TAIL, COUNTED_TAILS),
    COUNTED_IN
};

enum tailed_row {
    CONFIDENCE_IN = SWEEP_SIZE + CONFIDENCE_TAIL,
    BOOTSTRAP_IN = SWEEP_SIZE + BOOTSTRAP_NOISE + SWEEP_ALL
};

/* tolerances.c: the contract's tolerances as a record. */
#include "base/context.h"
#include "minimise/fit_tolerances.h"

static const paritas_tolerances tolerances = {
    .size = sizeof tolerances,
    .nll = POLISHED_NLL,
    .parameter = POLISHED_PARAMETER,
    .error = POLISHED_ERROR,
    .q = POLISHED_Q,
    .cls = POLISHED_CLS,
    .toys = POLISHED_TOYS,
    .raw_nll = RAW_NLL,
    .raw_rates = RAW_RATES,
    .raw_slope = RAW_SLOPE,
    .raw_curvature = RAW_CURVATURE,
};

const paritas_tolerances *paritas_contract_tolerances(void)
{
    return &tolerances;
}

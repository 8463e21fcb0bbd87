/* onoff.h: events counted in a signal region and in a control region, and a signal that is seen with an
 * efficiency. Column 0: how much of the signal a datum sees, column 1: how much of the background. */
enum { SIGNAL, BACKGROUND, EFFICIENCY, PARAMETERS };
#include "custom/custom_model.h"

EXPECTATION
{
    const pack seen = COLUMN(0) * PARAMETER(EFFICIENCY);
    expectation y = expectation_zero();
    y.value = seen * PARAMETER(SIGNAL) + COLUMN(1) * PARAMETER(BACKGROUND);
    y.first[SIGNAL] = seen;
    y.first[BACKGROUND] = COLUMN(1);
    y.first[EFFICIENCY] = COLUMN(0) * PARAMETER(SIGNAL);
    y.second[PAIR(SIGNAL, EFFICIENCY)] = COLUMN(0);
    return y;
}

#include "entry/entry_custom.h"

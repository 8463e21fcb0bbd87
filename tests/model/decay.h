/* decay.h: times of decays, one by one: each datum is a time, its term -ln of the density exp(-t / LIFETIME)
 * / LIFETIME. */
enum { LIFETIME, PARAMETERS };
#include "custom/custom_model.h"

EXPECTATION
{
    const pmask inside = PARAMETER(LIFETIME) > PK(0.0);
    const pack lifetime = PSELECT(inside, PARAMETER(LIFETIME), PK(1.0)), rate = PDIVIDE(PK(1.0), lifetime),
               times = DATUM * rate;
    expectation y = expectation_zero();
    y.value = PSELECT(inside, m_log(lifetime) + times, OUTSIDE);
    y.first[LIFETIME] = rate * (PK(1.0) - times);
    y.second[PAIR(LIFETIME, LIFETIME)] = rate * rate * (PK(2.0) * times - PK(1.0));
    return y;
}

#include "entry/entry_custom.h"

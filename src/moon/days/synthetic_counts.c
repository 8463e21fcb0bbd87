/* synthetic_counts.c: random numbers of synthetic sweeps, and counts drawn with them. */
#include "base/math/counter_random.h"
#include "base/math/host_math.h"
#include "base/math/probability.h"
#include "moon/days/synthetic_sweeps.h"

#include <math.h>

#define CELLS DAY_CELLS
#define MOST_CORRECTION 1.25 /* for dead time; the archive masks more */
#define SEARCHED 60.0        /* below this mean: counts by search from 0 */
#define STREAM UINT64_C(0x9FB21C651E98DF25)

void dice_open(struct dice *dice, uint64_t seed, uint64_t sweep)
{
    dice->state = random_mixed(random_mixed(seed + RANDOM_STEP) ^ (sweep * UINT64_C(0xD1342543DE82EF95) + 1));
}

double dice_uniform(struct dice *dice)
{
    dice->state += RANDOM_STEP;
    return ((double)(random_mixed(dice->state) >> 12) + 0.5) * 0x1p-52;
}

static double dice_poisson(struct dice *dice, double mean)
{
    const double u = dice_uniform(dice);
    if (mean < SEARCHED) {
        double n = 0.0, term = host_exp(-mean), sum = term;
        while (sum < u && term > 0.0) {
            n += 1.0;
            term *= mean / n;
            sum += term;
        }
        return n;
    }
    /* Cornish and Fisher's expansion: right to a hundredth of a count */
    const double z = normal_quantile(u), root = host_sqrt(mean),
                 n = mean + root * z + (z * z - 1.0) / 6.0 - (z * z * z - z) / (72.0 * root);
    return n > 0.0 ? floor(n + 0.5) : 0.0;
}

bool synthetic_saturates(const paritas_synthetic_options *plan, double energy, double flux)
{
    const double rate = flux * plan->geometric_factor * energy + plan->background_rate;
    return plan->counts && 1.0 + rate * plan->dead_time > MOST_CORRECTION;
}

void synthetic_count(const paritas_synthetic_options *plan, size_t k, paritas_er_day *day)
{
    double exposure[PARITAS_SWEEP_CELLS];
    struct dice dice;
    dice_open(&dice, plan->seed ^ STREAM, plan->first + k);
    paritas_er_exposures(plan->theta, exposure);
    for (size_t i = DAY_ROWS * k; i < DAY_ROWS * (k + 1); i++)
        for (size_t j = 0; j < CELLS; j++) {
            const size_t cell = CELLS * i + j;
            const double time = exposure[j] * (plan->accumulation / PARITAS_SWEEP_ACCUMULATION),
                         scale = plan->geometric_factor * day->energy[i],
                         rate = day->flux[cell] * scale + plan->background_rate;
            if (isnan(rate)) {
                dice_uniform(&dice); /* damage moves no other cell's number */
                continue;
            }
            const double counts = dice_poisson(&dice, rate * time / (1.0 + rate * plan->dead_time)),
                         alive = 1.0 - counts * plan->dead_time / time;
            if (alive * MOST_CORRECTION < 1.0) {
                day->cell_reason[cell] = PARITAS_ER_FLUX_ERROR;
                day->flux[cell] = NAN;
            } else
                day->flux[cell] = counts / (alive * time * scale);
        }
}

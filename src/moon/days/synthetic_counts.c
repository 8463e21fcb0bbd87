/* synthetic_counts.c: random numbers of synthetic sweeps, and counts drawn with them. */
#include "base/math/counter_random.h"
#include "base/math/host_math.h"
#include "base/math/probability.h"
#include "moon/days/synthetic_sweeps.h"
#include "moon/er/er.h"
#include "moon/er/er_codes.h"

#include <math.h>

#define CELLS DAY_CELLS
#define MOST_CORRECTION 1.25 /* for dead time; the archive masks more */
#define SEARCHED 60.0        /* below this mean: counts by search from 0 */
#define STREAM UINT64_C(0x9FB21C651E98DF25)
#define SUN_STREAM UINT64_C(0x2545F4914F6CDD1D)
#define SUN_ELEVATIONS 5.0 /* degrees: the spin axis is this near the ecliptic's, at least */
#define SUN_RATE 1000.0    /* counts/s of a cell, and the next: as days of the archive have them */
#define BACKGROUND_RATE 10.0

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

void paritas_synthetic_as_stored(paritas_synthetic_options *options)
{
    GIVEN(, options);
    options->counts = 1;
    options->background_rate = BACKGROUND_RATE;
    options->sun_rate = SUN_RATE;
    options->compression = PARITAS_COMPRESSION_ARCHIVE;
}

bool synthetic_saturates(const paritas_synthetic_options *plan, double energy, double flux)
{
    const double rate = flux * plan->geometric_factor * energy + plan->background_rate;
    return plan->counts && 1.0 + rate * plan->dead_time > MOST_CORRECTION;
}

/* Places the Sun and finds the half widths in azimuth of what it lights. The despun frame has it at 0. */
static void place_sun(const paritas_synthetic_options *plan, size_t k, paritas_er_day *day, double *width)
{
    struct dice dice;
    dice_open(&dice, plan->seed ^ SUN_STREAM, plan->first + k);
    day->sun_azimuth[k] = 0.0;
    day->sun_elevation[k] = SUN_ELEVATIONS * (2.0 * dice_uniform(&dice) - 1.0);
    er_sun_widths(plan->theta, day->sun_elevation[k], host_cos_degrees(PARITAS_SWEEP_SUNLIGHT), width);
}

static double stored(const paritas_synthetic_options *plan, double counts)
{
    return plan->compression == PARITAS_COMPRESSION_ARCHIVE
               ? (double)er_stored(counts < 0x1p53 ? (uint64_t)counts : UINT64_MAX).lower
               : counts;
}

void synthetic_count(const paritas_synthetic_options *plan, size_t k, paritas_er_day *day)
{
    double exposure[PARITAS_SWEEP_CELLS], sun[PARITAS_SWEEP_CELLS];
    struct dice dice;
    if (plan->sun_rate > 0.0) place_sun(plan, k, day, sun);
    dice_open(&dice, plan->seed ^ STREAM, plan->first + k);
    paritas_er_exposures(plan->theta, exposure);
    for (size_t i = DAY_ROWS * k; i < DAY_ROWS * (k + 1); i++)
        for (size_t j = 0; j < CELLS; j++) {
            const size_t cell = CELLS * i + j;
            const double time = exposure[j] * (plan->accumulation / PARITAS_SWEEP_ACCUMULATION),
                         scale = plan->geometric_factor * day->energy[i];
            double rate = day->flux[cell] * scale + plan->background_rate;
            if (plan->sun_rate > 0.0 && er_sun_is_near(day->azimuth[cell], day->sun_azimuth[k], sun[j]))
                rate += plan->sun_rate;
            if (isnan(rate)) {
                dice_uniform(&dice); /* damage moves no other cell's number */
                continue;
            }
            const double drawn = dice_poisson(&dice, rate * time / (1.0 + rate * plan->dead_time)),
                         counts = stored(plan, drawn), /* dead time is corrected for them */
                alive = 1.0 - counts * plan->dead_time / time;
            if (alive * MOST_CORRECTION < 1.0) {
                day->cell_reason[cell] = PARITAS_ER_FLUX_ERROR;
                day->flux[cell] = NAN;
            } else
                day->flux[cell] = counts / (alive * time * scale);
        }
}

/* counted_model.h: counts of cells that look at the cone through channels of finite width.
 *
 * A cell at pitch angle theta > 90 degrees is in the cone for electrons of E' where sin^2(theta) < r (1 + U /
 * E'). The channel takes energies E = E' + V by a Gaussian in ln E: its response times the spectrum inside.
 * With e the energy E' at which the cell crosses the edge, and z = (ln(e + V) - centre) / width,
 *
 *   U < 0: e = -U r / (r - sin^2), in the cone above e:  level = bg + (1 - bg) Phi(z)
 *   U > 0: e = U r / (sin^2 - r), in the cone below e:   level = 1 - (1 - bg) Phi(z)
 *
 * and 1 or bg where there is no such energy. A cell expects scale (level + base) counts; base is the
 * background of the sensor. Counts scatter as a negative binomial: variance mean + mean^2 / k. The misfit is
 * the deviance, 2 ln of the likelihood's ratio to the best of each cell (McCullagh and Nelder, Generalized
 * Linear Models, 1989). */
#pragma once

#include "losscone/losscone_bound.h"

#define COUNTED_FAR 9.0         /* |z|: nothing of the channel is beyond */
#define COUNTED_SURE R(6.0)     /* |z|: beyond, bounds take the channel to be on one side */
#define COUNTED_ROOM 1e-10      /* of r - sin^2 */
#define COUNTED_LEAST_MEAN 1e-6 /* counts */
#define COUNTED_LEAST_PART \
    LIMIT(-0.999999999999999, -0.9999999) /* mean / count - 1: its logarithm is finite */

/* A point's or a box's row. */
typedef struct {
    real spacecraft, centre, narrow; /* V; ln E; 1 / width */
    real inside, k;
} counted_row;

FN counted_row counted_row_of(CONSTANT elem *mr, GLOBAL const elem *sweep, u32 i)
{
    counted_row row;
    row.spacecraft = REAL_OF((sweep + COUNTED_POTENTIAL)[i]);
    row.centre = REAL_OF((sweep + COUNTED_CENTRE)[i]);
    row.narrow = REAL_OF((sweep + COUNTED_NARROW)[i]);
    row.inside = LOADM1(mr, LOSSCONE_BACKGROUND);
    row.k = REAL_OF((sweep + COUNTED_TAIL)[COUNTED_TAIL_K]);
    return row;
}

FN real size_of(real x)
{
    return x < R(0.0) ? -x : x;
}

/* |r - sin^2| on the side where an energy crosses; not positive: there is none. */
FN pack counted_room(real u, pack r, pack sine)
{
    return u < R(0.0) ? r - sine : sine - r;
}

/* Measured energy e + V of the crossing. size: |U|. */
FN pack counted_crossing(counted_row row, pack size, pack r, pack room)
{
    const pack e =
        PFMA(size, PDIVIDE(r, PSELECT(room > PK(COUNTED_ROOM), room, PK(1.0))), PACK_OF(row.spacecraft));
    return PSELECT(e > PK(LOSSCONE_LEAST_ENERGY), e, PK(LOSSCONE_LEAST_ENERGY));
}

FN pack counted_limited(pack z)
{
    const pack most = PSELECT(z < PK(COUNTED_FAR), z, PK(COUNTED_FAR));
    return PSELECT(most > PK(-COUNTED_FAR), most, PK(-COUNTED_FAR));
}

FN pack counted_place(counted_row row, pack room, pack crossing)
{
    const pack z = (m_log(crossing) - PACK_OF(row.centre)) * PACK_OF(row.narrow);
    return PSELECT(room > PK(COUNTED_ROOM), counted_limited(z), PK(COUNTED_FAR));
}

FN pack counted_mean(pack level, pack scale, pack base)
{
    const pack mean = PFMA(level, scale, base);
    return PSELECT(mean > PK(COUNTED_LEAST_MEAN), mean, PK(COUNTED_LEAST_MEAN));
}

/* Cells that lie side by side. */
typedef struct {
    pack sine, count, scale, base, per_count, per_wide;
} counted_cells;

FN counted_cells counted_cells_at(GLOBAL const real *s, u32 at)
{
    counted_cells c;
    c.sine = LOADP(s + COUNTED_SINE, at);
    c.count = LOADP(s + COUNTED_COUNTS, at);
    c.scale = LOADP(s + COUNTED_SCALES, at);
    c.base = LOADP(s + COUNTED_BASES, at);
    c.per_count = LOADP(s + COUNTED_PER_COUNT, at);
    c.per_wide = LOADP(s + COUNTED_PER_WIDE, at);
    return c;
}

FN pack counted_mean_of(counted_cells c, pack level)
{
    return counted_mean(level, c.scale, c.base);
}

FN pack counted_part(pack part)
{
    return PSELECT(part > PACK_OF(COUNTED_LEAST_PART), part, PACK_OF(COUNTED_LEAST_PART));
}

/* Deviances. */
FN pack counted_cost(real k, counted_cells c, pack mean)
{
    const pack excess = mean - c.count,
               near = PSELECT(c.count > PK(0.0),
                              c.count * m_deviance(counted_part(pflush(excess * c.per_count))), mean),
               far = (c.count + PACK_OF(k)) * m_deviance(counted_part(pflush(excess * c.per_wide)));
    return pflush(PK(2.0) * (near - far));
}

/* Their derivatives by the mean. */
FN pack counted_slope(real k, counted_cells c, pack mean)
{
    return pflush(PDIVIDE(PACK_OF(R(2.0) * k) * (mean - c.count), mean * (mean + PACK_OF(k))));
}

/* Density of the normal distribution and the part below z. */
typedef struct {
    pack density, below;
} counted_normal;

FN counted_normal counted_normal_of(pack z)
{
    const pack size = PSELECT(z < PK(0.0), -z, z), gauss = m_gauss(size, PK(0.5)),
               tail = pflush(PK(0.5) * gauss * m_erfcx(PK(M_SQRT_HALF) * size));
    counted_normal n;
    n.density = pflush(PK(0.3989422804014327) * gauss);
    n.below = PSELECT(z < PK(0.0), tail, PK(1.0) - tail);
    return n;
}

/* The level where `below` of the channel lies below the crossing. */
FN pack counted_level(counted_row row, real u, pack below)
{
    const real depth = R(1.0) - row.inside;
    return u < R(0.0) ? PFMA(PACK_OF(depth), below, PACK_OF(row.inside))
                      : PFMA(PACK_OF(-depth), below, PK(1.0));
}

/* Levels at potentials of one sign and ratios of each cell. */
FN pack counted_level_in(counted_row row, real sign, pack size, pack r, pack sine)
{
    const pack room = counted_room(sign, r, sine);
    return counted_level(
        row, sign, counted_normal_of(counted_place(row, room, counted_crossing(row, size, r, room))).below);
}

FN pack counted_level_at(counted_row row, real u, real r, pack sine)
{
    return counted_level_in(row, u, PACK_OF(size_of(u)), PACK_OF(r), sine);
}

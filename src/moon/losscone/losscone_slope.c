/* losscone_slope.c: how the spacecraft's potential moves that of the surface. */
#include "moon/losscone/losscone.h"

/* Edges stand at x_i = r (1 + c_i U), c_i = 1 / (E_i - V). If V moves by dV, c_i moves by c_i^2 dV. The rows
 * with an edge, 0 < x_i < 1, give dU and d ln r by least squares:
 *
 *   (1 + c_i U) d ln r + c_i dU = -c_i^2 U dV
 *
 * A row with c_i = -1 / U has its edge at 0 and dU = dV, the most there is. */
double losscone_slope(const paritas_sweeps *sweeps, size_t k, const paritas_losscone_result *r)
{
    const double most = 1.0, U = r->potential_centre;
    double aa = 0.0, ab = 0.0, bb = 0.0, ay = 0.0, by = 0.0;
    unsigned rows = 0;
    for (size_t i = k * sweeps->rows; i < (k + 1) * sweeps->rows; i++) {
        const double rest = sweeps->energy[i] - sweeps->potential[i];
        if (!(rest > 0.0)) continue;
        const double c = 1.0 / rest, a = 1.0 + c * U, x = r->ratio_centre * a, y = -c * c * U;
        if (!(x > 0.0 && x < 1.0)) continue;
        aa += a * a;
        ab += a * c;
        bb += c * c;
        ay += a * y;
        by += c * y;
        rows++;
    }
    const double size = aa * bb - ab * ab, slope = rows > 1 && size > 0.0 ? (aa * by - ab * ay) / size : most;
    return slope >= 0.0 && slope <= most ? slope : slope < 0.0 ? 0.0 : most;
}

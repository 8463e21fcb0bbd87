/* outside_output.c: the bins for which twice the NLL is infinite or undefined. */
#include "print/outside_output.h"

#include <math.h>

#define SHOWN 10

paritas_status outside_look(struct session *session, double twice_nll, const double *point,
                            struct outside *outside)
{
    *outside = (struct outside){.looked = !isfinite(twice_nll)};
    if (!outside->looked) return PARITAS_OK;
    outside->bins = arena_elements(session, session->n_main, sizeof *outside->bins);
    TRY(allocated(session));
    return paritas_find_outside(session->context, session->model, point, session->job.data, session->n_main,
                                outside->bins, &outside->n);
}

void outside_write(struct writer *w, const struct outside *outside)
{
    if (!outside->looked) return;
    write_array(w, "outside", true);
    for (size_t i = 0; i < outside->n; i++) {
        const paritas_outside_bin *bin = &outside->bins[i];
        write_row(w, "channel:s bin:z rate:n observed:n", bin->channel, bin->bin, bin->rate, bin->observed);
    }
    write_close(w);
}

void outside_print(struct text *out, const struct outside *outside)
{
    char line[512];
    if (!outside->looked) return;
    if (outside->n == 0)
        text_format(out, "Every rate is possible: a constraint makes it infinite or undefined\n");
    for (size_t i = 0; i < outside->n && i < SHOWN; i++) {
        paritas_describe_outside(&outside->bins[i], sizeof line, line);
        text_format(out, "%s\n", line);
    }
    if (outside->n > SHOWN) text_format(out, "and %zu more bins\n", outside->n - SHOWN);
}

/* outside_output.c: the bins for which twice the NLL is infinite or undefined; those at the domain's edge. */
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

paritas_status edge_look(struct session *session, const double *point, struct outside *edge)
{
    *edge = (struct outside){.bins = arena_elements(session, session->n_main, sizeof *edge->bins)};
    TRY(allocated(session));
    return paritas_find_edge(session->context, session->model, point, session->job.data, session->n_main,
                             edge->bins, &edge->n);
}

void edge_write(struct writer *w, const struct outside *edge)
{
    if (edge->n == 0) return;
    write_array(w, "edge", true);
    for (size_t i = 0; i < edge->n; i++)
        write_row(w, "channel:s bin:z", edge->bins[i].channel, edge->bins[i].bin);
    write_close(w);
}

void edge_print(struct text *out, const struct outside *edge)
{
    if (edge->n == 0) return;
    text_format(out, "At the edge of the domain, as a rate is 0:");
    for (size_t i = 0; i < edge->n && i < SHOWN; i++) {
        const paritas_outside_bin *bin = &edge->bins[i];
        text_format(out, i == 0 ? " " : "; ");
        if (bin->channel) text_format(out, "channel %s, ", bin->channel);
        text_format(out, "bin %zu", bin->bin);
    }
    if (edge->n > SHOWN) text_format(out, "; and %zu more bins", edge->n - SHOWN);
    text_format(out, "\n");
}

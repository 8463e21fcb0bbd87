/* sized.c: sizes of public structs. */
#include "base/sized.h"

#include "paritas_kappa.h"
#include "paritas_losscone.h"
#include "paritas_toys.h"

#include <stddef.h>
#include <string.h>

/* Sizes in earlier versions. */
static const struct {
    const char *type;
    size_t size;
} earlier[] = {{"paritas_contour_request", offsetof(paritas_contour_request, parts_room)},
               {"paritas_fit_answers", offsetof(paritas_fit_answers, starts)},
               {"paritas_minos_request", offsetof(paritas_minos_request, minima)},
               {"paritas_minos_request", offsetof(paritas_minos_request, ends)},
               {"paritas_scan_request", offsetof(paritas_scan_request, n_levels)},
               {"paritas_spectrum_request", offsetof(paritas_spectrum_request, grid)},
               {"paritas_spectra", offsetof(paritas_spectra, rows)},
               {"paritas_sweeps", offsetof(paritas_sweeps, rows)},
               {"paritas_sweeps", offsetof(paritas_sweeps, measured)},
               {"paritas_toy_data", offsetof(paritas_toy_data, model)},
               {"paritas_toys_options", offsetof(paritas_toys_options, importance)}};

static bool is_known(const char *type, size_t size, size_t now)
{
    for (size_t i = 0; i < COUNT_OF(earlier); i++)
        if (earlier[i].size == size && strcmp(earlier[i].type, type) == 0) return true;
    return size == now;
}

paritas_status sized_check(paritas_context *context, const char *type, const char *argument, size_t n,
                           const void *given, size_t size)
{
    size_t theirs;
    if (n == 0) return PARITAS_OK;
    if (!given) return paritas_refuse(context, "%s: must not be NULL", argument);
    memcpy(&theirs, given, sizeof theirs);
    if (is_known(type, theirs, size)) return PARITAS_OK;
    return paritas_refuse(
        context,
        "%s: its size is %zu, which no version of %s had: start from its _DEFAULT or PARITAS_INIT(%s)",
        argument, theirs, type, type);
}

paritas_status sized_take(paritas_context *context, const char *type, const char *argument, const void *given,
                          void *own, size_t size)
{
    size_t theirs;
    if (!given) return PARITAS_OK;
    TRY(sized_check(context, type, argument, 1, given, size));
    memcpy(&theirs, given, sizeof theirs);
    memcpy(own, given, theirs);
    memcpy(own, &size, sizeof size);
    return PARITAS_OK;
}

/* day_read.c: the files of a date become one day. */
#include "base/sized.h"
#include "moon/days/days.h"
#include "moon/er/er.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

paritas_status day_refuse(paritas_context *context, const char *path)
{
    return paritas_fail(context, PARITAS_INVALID_INPUT,
                        "%s: no row begins with a time, YYYY-MM-DDThh:mm:ss: this is no day file", path);
}

/* Sweeps that begin on another day, further than a sweep's length from it. */
static uint64_t strays_of(const paritas_er_day *part, const char *date)
{
    char midnight[PARITAS_ER_UTC_SIZE];
    double start;
    uint64_t strays = 0;
    snprintf(midnight, sizeof midnight, "%.10sT00:00:00", date);
    if (!er_read_utc(midnight, midnight + strlen(midnight), &start)) return 0;
    for (size_t k = 0; k < part->n; k++) {
        const double time = part->time[k * DAY_ROWS];
        strays += time < start - ER_SPAN || time >= start + 86400.0 + ER_SPAN;
    }
    return strays;
}

/* Frees `part`, also after a failure. */
static paritas_status join(paritas_context *context, paritas_er_day **whole, paritas_er_day *part,
                           paritas_day_share *share)
{
    struct er_joined joined;
    *share = (paritas_day_share){.size = sizeof *share, .strays = share->strays};
    if (part->digest[0] != '\0') memcpy(share->digest, part->digest + strlen("sha256:"), 64);
    const paritas_status status = er_join(context, whole, part, &joined);
    share->sweeps = joined.sweeps;
    share->repeated = joined.repeated;
    share->other = joined.other;
    share->shift = joined.shift;
    return status;
}

static paritas_status read_files(paritas_context *context, const paritas_day *files,
                                 const paritas_er_options *options, paritas_day_share *shares,
                                 paritas_er_day **day)
{
    for (size_t i = 0; i < files->n; i++) {
        paritas_er_day *part = NULL;
        TRY(paritas_er_read(context, files->files[i].path, options, &part));
        shares[i].strays = strays_of(part, files->date);
        TRY(join(context, day, part, &shares[i]));
    }
    return PARITAS_OK;
}

/* The reason that masks most cells. */
static paritas_er_reason main_reason(const paritas_er_day *day)
{
    static const uint64_t cells[] = {[PARITAS_ER_UNIT_CELL] = 1,
                                     [PARITAS_ER_UNIT_ROW] = PARITAS_SWEEP_CELLS,
                                     [PARITAS_ER_UNIT_SWEEP] = DAY_ROWS * DAY_CELLS};
    paritas_er_reason most = PARITAS_ER_KEPT;
    uint64_t masked = 0;
    for (unsigned i = 1; i < PARITAS_ER_REASON_COUNT; i++) {
        const paritas_er_reason reason = (paritas_er_reason)i;
        const uint64_t here = day->counts[i].count * cells[paritas_er_reason_unit(reason)];
        if (here <= masked) continue;
        masked = here;
        most = reason;
    }
    return most;
}

/* INVALID_INPUT with the cause if no cell of the day has a flux. */
static paritas_status check_fluxes(paritas_context *context, const paritas_day *files,
                                   const paritas_er_day *day)
{
    for (size_t i = 0; i < day->n * DAY_ROWS * DAY_CELLS; i++)
        if (day->flux[i] > 0.0) return PARITAS_OK;
    char more[48] = "";
    const paritas_er_reason reason = main_reason(day);
    const paritas_er_count *count = &day->counts[reason];
    if (files->n > 1) snprintf(more, sizeof more, " and %zu more of this day", files->n - 1);
    return paritas_fail(context, PARITAS_INVALID_INPUT,
                        "%s%s: no cell has a flux; the most frequent reason is %s, in %llu %s%s, first in "
                        "line %llu",
                        files->files[0].path, more, paritas_er_reason_name(reason),
                        (unsigned long long)count->count,
                        paritas_er_unit_name(paritas_er_reason_unit(reason)), count->count == 1 ? "" : "s",
                        (unsigned long long)count->line);
}

paritas_status paritas_day_read(paritas_context *context, const paritas_day *files,
                                const paritas_er_options *options, paritas_day_share *shares,
                                paritas_er_day **day)
{
    REQUIRE(context, files, shares, day);
    *day = NULL;
    TRY(SIZED_CHECK(context, paritas_day_share, "shares", files->n, shares));
    if (files->n == 0) return paritas_refuse(context, "files: there are none");
    if (files->date[0] == '\0') return day_refuse(context, files->files[0].path);
    paritas_status status = read_files(context, files, options, shares, day);
    if (status == PARITAS_OK) status = check_fluxes(context, files, *day);
    if (status == PARITAS_OK) return PARITAS_OK;
    paritas_er_day_free(*day);
    *day = NULL;
    return status;
}

static paritas_status copy(paritas_context *context, const paritas_er_day *from, paritas_er_day **to)
{
    TRY(paritas_er_day_create(context, from->n, to));
    for (size_t k = 0; k < from->n; k++) er_day_put(*to, k, from, k);
    memcpy((*to)->counts, from->counts, sizeof from->counts);
    memcpy((*to)->digest, from->digest, sizeof from->digest);
    (*to)->rows = from->rows;
    (*to)->bytes = from->bytes;
    return PARITAS_OK;
}

paritas_status paritas_day_join(paritas_context *context, size_t n, const paritas_er_day *const *parts,
                                paritas_day_share *shares, paritas_er_day **day)
{
    paritas_status status = PARITAS_OK;
    REQUIRE(context, parts, shares, day);
    *day = NULL;
    TRY(SIZED_CHECK(context, paritas_day_share, "shares", n, shares));
    if (n == 0) return paritas_refuse(context, "parts: there are none");
    REQUIRE_EACH(context, "parts", n, parts);
    for (size_t i = 0; i < n && status == PARITAS_OK; i++) {
        paritas_er_day *part = NULL;
        shares[i].strays = 0;
        status = copy(context, parts[i], &part);
        if (status == PARITAS_OK) status = join(context, day, part, &shares[i]);
    }
    if (status == PARITAS_OK) return PARITAS_OK;
    paritas_er_day_free(*day);
    *day = NULL;
    return status;
}

const char *paritas_day_status(const paritas_er_day *day, size_t k, const paritas_losscone_result *result)
{
    GIVEN(NULL, day, result);
    bool polarity = false;
    for (size_t i = DAY_ROWS * k; i < DAY_ROWS * (k + 1); i++)
        polarity = polarity || day->polarity[i] == 1.0 || day->polarity[i] == -1.0;
    if (paritas_losscone_fitted(result)) return paritas_sweep_status_name(result->status);
    if (day->sweep_reason[k] != PARITAS_ER_KEPT)
        return paritas_er_reason_name((paritas_er_reason)day->sweep_reason[k]);
    if (!polarity) return paritas_er_reason_name(PARITAS_ER_POLARITY);
    return isnan(day->spacecraft_potential[k]) ? "no_spacecraft_potential"
                                               : paritas_sweep_status_name(result->status);
}

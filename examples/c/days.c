/* Writes a synthetic day, then finds the surface potentials in it as `paritas losscone fit` does. */
#include <paritas_days.h>
#include <stdio.h>
#include <stdlib.h>

#define SWEEPS 4

static int write_day(paritas_context *context, const char *path)
{
    paritas_er_day *day = NULL;
    double truth[11][SWEEPS];
    int at = 0;
    paritas_truths truths = PARITAS_INIT(paritas_truths);
    paritas_synthetic_options options = PARITAS_SYNTHETIC_OPTIONS_DEFAULT;
#define POINT(name, column, doc) truths.name = truth[at++];
    PARITAS_TRUTH_LIST(POINT)
    options.time = 884908800.0; /* 1998-01-16 */
    const int failed = paritas_day_synthesize(context, &options, NULL, SWEEPS, &truths, &day) ||
                       paritas_er_write(context, path, day, 0);
    paritas_er_day_free(day);
    return failed;
}

static int fit(paritas_context *context, const paritas_day *files)
{
    paritas_day_options options = PARITAS_DAY_OPTIONS_DEFAULT;
    paritas_day_share share = PARITAS_INIT(paritas_day_share);
    paritas_er_day *day = NULL;
    paritas_day_sweeps *sweeps = NULL;
    paritas_sweeps data;
    options.polarity = -1.0;
    options.potential_source = PARITAS_POTENTIAL_SOURCE_VALUE;
    options.potential = 10.0; /* of the spacecraft, V */
    int failed = paritas_day_read(context, files, NULL, &share, &day) ||
                 paritas_day_prepare(context, &options, NULL, day, &sweeps) ||
                 paritas_day_count(context, &options, day, sweeps);
    paritas_losscone_result *results = failed ? NULL : calloc(day->n, sizeof *results);
    failed = failed || !results;
    if (!failed) {
        results[0].size = sizeof *results;
        paritas_losscone_sets sets = PARITAS_LOSSCONE_SETS_DEFAULT;
        sets.confidence = PARITAS_CONFIDENCE_KIND_NONE;
        paritas_day_sweeps_of(day, sweeps, &data);
        failed = paritas_losscone_mask(context, day->n, NULL, PARITAS_LOSSCONE_METHOD_HALEKAS, sweeps->cosine,
                                       day->flux, sweeps->flux) ||
                 paritas_losscone_answer(context, &data, NULL, &sets, results, NULL);
    }
    for (size_t k = 0; !failed && k < day->n; k++)
        printf("%s %s: U %.0f V\n", day->utc[k], paritas_day_status(day, k, &results[k]),
               results[k].potential_centre);
    free(results);
    paritas_day_sweeps_free(sweeps);
    paritas_er_day_free(day);
    return failed;
}

int main(void)
{
    const char *path = "3D980116.TAB";
    paritas_context *context = NULL;
    paritas_days *days = NULL;
    int failed = paritas_open(NULL, &context) || write_day(context, path) ||
                 paritas_days_find(context, 1, &path, 0, 0, 0, &days);
    if (!failed) printf("%zu day, %s\n", days->n, days->days[0].date);
    failed = failed || fit(context, &days->days[0]);
    if (failed) fprintf(stderr, "%s\n", context ? paritas_error_message(context) : "no context");
    remove(path);
    paritas_days_free(days);
    paritas_close(context);
    return failed ? 1 : 0;
}

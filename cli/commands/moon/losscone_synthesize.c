/* losscone_synthesize.c: writes day files of known truth. */
#include "base/platform.h"
#include "days/day_column_list.h"
#include "days/day_files.h"
#include "days/day_truth.h"
#include "print/table.h"

#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    {"--output-folder", OPTION_TEXT, "DIR", "folder for the day files and truth.csv", .letter = 'o'},
    {"--overwrite", OPTION_FLAG, NULL, "replace existing files; default: refuse them"},
    {"--days", OPTION_COUNT, "N", "number of days", "1"},
    {"--sweeps", OPTION_COUNT, "N", "sweeps a day, at most 1080", "970"},
    {"--start", OPTION_TEXT, "YYYY-MM-DD", "the first day", "1998-01-16"},
    LIBRARY_ROW("--seed", paritas_synthetic_options),
    {"--exact", OPTION_FLAG, NULL,
     "write all digits, so that numbers read back exactly; default: the archive's digits"},
    {"--theta", OPTION_FILE, "FILE", "theta.tab, inclinations of the cells; default: built in"},
    LIBRARY_ROW("--orbit", paritas_synthetic_options),
    LIBRARY_ROW("--background", paritas_losscone_options),
    LIBRARY_ROW("--beam-width", paritas_losscone_options),
    LIBRARY_ROW("--beam-sigma", paritas_losscone_options),
    LIBRARY_ROW("--response-width", paritas_losscone_options),
    {"--response-weights", OPTION_CHOICE, "spectrum|equal",
     "energies of --truth folded: weighted by the spectrum, or five of equal weight", "spectrum"},
    {0},
};

struct synthesis {
    struct session *session;
    struct truth_plan plan; /* its theta is the one below */
    paritas_losscone_options options;
    const char *folder;
    size_t days, sweeps;
    double start;
    double theta[PARITAS_SWEEP_CELLS];
};

static paritas_status open_synthesis(struct session *session, struct synthesis *s)
{
    const paritas_losscone_options options_default = PARITAS_LOSSCONE_OPTIONS_DEFAULT;
    const char *start = option_text(session, "--start");
    char utc[64];
    *s = (struct synthesis){
        .session = session, .options = options_default, .folder = option_text(session, "--output-folder")};
    s->days = option_count(session, "--days");
    s->sweeps = option_count(session, "--sweeps");
    TRY(options_take(session, "paritas_losscone_options", &s->options));
    snprintf(utc, sizeof utc, "%.40sT00:00:00", start);
    if (!s->folder) return usage_failure(session, "losscone synthesize needs -o DIR, where its files go");
    if (strlen(start) != 10 || !paritas_er_time(utc, &s->start))
        return usage_failure(session, "--start takes YYYY-MM-DD, not '%s'", start);
    if (s->sweeps > 1080)
        return usage_failure(session, "--sweeps takes a number up to 1080: a day has no more of them");
    TRY(make_folder(session, s->folder));
    TRY(truth_plan_open(session, &s->plan));
    s->plan.draw.weighted = option_value(session, "--response-weights")->choice == 0;
    s->plan.draw.theta = s->theta;
    return paritas_er_theta(session->context, option_text(session, "--theta"), s->theta);
}

struct truths {
    paritas_truths truth;
    const char **date, **utc;
    int64_t *spectrum;
    double *sun_azimuth, *sun_elevation;
    double *latitude, *longitude; /* of spacecraft and field line */
};

static paritas_status open_truths(struct synthesis *s, struct truths *all)
{
    const size_t n = s->days * s->sweeps;
    all->date = arena_elements(s->session, n, sizeof *all->date);
    all->utc = arena_elements(s->session, n, sizeof *all->utc);
    all->spectrum = arena_elements(s->session, n, sizeof *all->spectrum);
    all->sun_azimuth = arena_numbers(s->session, n);
    all->sun_elevation = arena_numbers(s->session, n);
    all->latitude = arena_numbers(s->session, n);
    all->longitude = arena_numbers(s->session, n);
    return truths_open(s->session, n, &all->truth);
}

static void keep_truth(const struct synthesis *s, size_t at, const paritas_truths *truth, struct truths *all)
{
#define KEEP(name, column, doc) memcpy(all->truth.name + at, truth->name, s->sweeps * sizeof(double));
    PARITAS_TRUTH_LIST(KEEP)
#undef KEEP
}

static paritas_status keep_times(struct synthesis *s, size_t at, const paritas_er_day *day,
                                 struct truths *all)
{
    for (size_t k = 0; k < s->sweeps; k++) {
        char utc[PARITAS_ER_UTC_SIZE];
        paritas_er_utc(day->time[PARITAS_SWEEP_ROWS * k], utc);
        all->utc[at + k] = arena_copied(s->session, utc, strlen(utc));
        all->date[at + k] = arena_copied(s->session, utc, 10);
        all->spectrum[at + k] = day->number[k];
        all->sun_azimuth[at + k] = day->sun_azimuth[k];
        all->sun_elevation[at + k] = day->sun_elevation[k];
        all->latitude[at + k] = day->projection_latitude[k];
        all->longitude[at + k] = day->projection_longitude[k];
    }
    return allocated(s->session);
}

static paritas_status write_truths(struct synthesis *s, const struct truths *all, const char *path)
{
    const paritas_truths *t = &all->truth;
    const size_t n = s->days * s->sweeps;
    const struct named_column columns[] = {{"date", COLUMN_TEXT, all->date},
                                           {"spectrum", COLUMN_I64, all->spectrum},
                                           {"start", COLUMN_TEXT, all->utc},
#define COLUMN(name, column, doc) {column, COLUMN_F64, t->name},
                                           PARITAS_TRUTH_LIST(COLUMN)
#undef COLUMN
    };
    struct column_list list = {.session = s->session};
    const struct named_column sun[] = {{"sun_azimuth", COLUMN_F64, all->sun_azimuth},
                                       {"sun_elevation", COLUMN_F64, all->sun_elevation}};
    COLUMNS_ADD(&list, n, columns);
    const struct named_column place[] = {{"spacecraft_latitude", COLUMN_F64, all->latitude},
                                         {"spacecraft_longitude", COLUMN_F64, all->longitude},
                                         {"projection_latitude", COLUMN_F64, all->latitude},
                                         {"projection_longitude", COLUMN_F64, all->longitude}};
    if (s->plan.draw.sun_rate > 0.0) COLUMNS_ADD(&list, n, sun);
    if (s->plan.draw.orbit) COLUMNS_ADD(&list, n, place);
    TRY(allocated(s->session));
    return csv_write(s->session->context, path, "", list.n, list.columns);
}

static paritas_status day_path(const struct synthesis *s, size_t d, char path[4096])
{
    char utc[PARITAS_ER_UTC_SIZE];
    paritas_er_utc(s->start + 86400.0 * (double)d, utc);
    const int length = snprintf(path, 4096, "%s/3D%.2s%.2s%.2s.TAB", s->folder, utc + 2, utc + 5, utc + 8);
    return length < 4096
               ? PARITAS_OK
               : paritas_fail(s->session->context, PARITAS_UNWRITABLE, "%s: the path is too long", s->folder);
}

/* Before any writing: the files may be the archive's. */
static paritas_status check_files(const struct synthesis *s)
{
    for (size_t d = 0; d <= s->days; d++) {
        char path[4096];
        if (d < s->days)
            TRY(day_path(s, d, path));
        else
            snprintf(path, sizeof path, "%s/truth.csv", s->folder);
        if (platform_exists(path))
            return paritas_fail(s->session->context, PARITAS_UNWRITABLE,
                                "%s: is there already; --overwrite replaces it", path);
    }
    return PARITAS_OK;
}

static paritas_status one_day(struct synthesis *s, size_t d, struct truths *all, char path[4096])
{
    struct session *session = s->session;
    paritas_truths truth;
    paritas_er_day *day = NULL;
    paritas_synthetic_options draw = s->plan.draw;
    TRY(day_path(s, d, path));
    draw.first = d * s->sweeps;
    draw.time = s->start + 86400.0 * (double)d;
    const struct arena outer = arena_begin(session);
    paritas_status status = truths_open(session, s->sweeps, &truth);
    if (status == PARITAS_OK)
        status = paritas_day_synthesize(session->context, &draw, &s->options, s->sweeps, &truth, &day);
    if (status == PARITAS_OK)
        status = paritas_er_write(session->context, path, day, option_flag(session, "--exact"));
    if (status == PARITAS_OK) keep_truth(s, d * s->sweeps, &truth, all);
    arena_end(session, outer);
    if (status == PARITAS_OK) status = keep_times(s, d * s->sweeps, day, all);
    paritas_er_day_free(day);
    progress_estimate(&session->progress, d + 1, s->days);
    return status;
}

static int run(struct session *session)
{
    struct synthesis s;
    struct truths all;
    char path[4096];
    struct writer *w = &session->writer;
    TRY(open_synthesis(session, &s));
    session->context->progress = NULL;
    session->progress.unit = "days";
    if (!option_flag(session, "--overwrite")) TRY(check_files(&s));
    TRY(open_truths(&s, &all));
    if (session->json) {
        write_object(w, NULL, true);
        write_array(w, "files", true);
    }
    for (size_t d = 0; d < s.days; d++) {
        TRY(one_day(&s, d, &all, path));
        if (session->json) write_string(w, NULL, path);
    }
    if (snprintf(path, sizeof path, "%s/truth.csv", s.folder) < (int)sizeof path)
        TRY(write_truths(&s, &all, path));
    if (!session->json) {
        text_format(&session->out, "%zu day%s of %zu sweeps in %s, their truth in truth.csv\n", s.days,
                    s.days == 1 ? "" : "s", s.sweeps, s.folder);
        return PARITAS_OK;
    }
    write_close(w);
    write_members(w, "truth:s sweeps:z", path, s.days * s.sweeps);
    write_object(w, "options", true);
    truth_plan_describe(&s.plan, w);
    write_number(w, "background", s.options.background);
    write_close(w);
    write_close(w);
    return PARITAS_OK;
}

const struct command command_losscone_synthesize = {
    .name = "losscone synthesize",
    .operands = "",
    .summary = "day files of known truth, in the archive's format",
    .description = "Writes day files DIR/3DYYMMDD.TAB and the truth of every sweep, DIR/truth.csv, which is "
                   "also a table for --geometry, --polarity and --spacecraft-potential. "
                   "Sweep k depends on --seed and k alone.",
    .groups = {GROUP_OPTIONS, GROUP_TRUTH, GROUP_ANSWER},
    .run = run,
};

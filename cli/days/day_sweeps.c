/* day_sweeps.c: options of geometry and masks; reads days with them. */
#include "days/day_sweeps.h"
#include "base/platform.h"
#include "days/day_provenance.h"

#include <string.h>

const struct option options_sources[] = {
    {"--theta", OPTION_FILE, "FILE",
     "theta.tab, inclinations of the 88 cells; default: a built-in order of the cells, which may differ from "
     "the archive's"},
    {"--polarity", OPTION_FILE, "+1|-1|FILE",
     "is the Moon along the field (+1) or against it (-1)? For all sweeps, or a table with the column "
     "polarity; default: --geometry, --mag, --spice, else -1"},
    {"--geometry", OPTION_FILE, "FILE",
     "table of polarity, illumination, positions, the Sun's direction and potentials by spectrum or UTC "
     "(CSV)"},
    {"--mag", OPTION_FILE, "FILE|DIR",
     "polarity, illumination and positions from the magnetometer's files, MAYYMMDD.TAB"},
    {"--spice", OPTION_TEXT, "DIR",
     "the same and the Sun's direction from SPICE kernels, where libcspice is installed; needs --attitude"},
    {"--attitude", OPTION_FILE, "FILE", "attitude.tab, the spin axis over time"},
    {"--spacecraft-potential", OPTION_FILE, "auto|V|FILE",
     "found from the plasma's currents, a value in volts, or a table with the column "
     "spacecraft_potential",
     "auto"},
    LIBRARY_ROW("--sunlight", paritas_day_options),
    LIBRARY_ROW("--normalisation", paritas_day_options),
    LIBRARY_ROW("--strict", paritas_er_options),
    {0},
};

const char *const sources_options[SOURCES] = {"--geometry", "--polarity", "--spacecraft-potential", "--mag"};

bool sources_has(const struct sources *sources, int source)
{
    return source == SOURCES_MAG ? sources->n_mags > 0 : sources->tables[source] != NULL;
}

bool sources_find_potentials(const struct sources *sources)
{
    return sources->options.potential_source == PARITAS_POTENTIAL_SOURCE_AUTO;
}

static paritas_status open_table(struct session *session, const char *path, const char *column,
                                 paritas_er_geometry **table)
{
    TRY(paritas_er_geometry_read(session->context, path, table));
    if (!column || paritas_er_geometry_has(*table, column)) return PARITAS_OK;
    return wrong_input(session, "%s: has no column %s", path, column);
}

/* The same for options that also take words or numbers. */
static paritas_status open_named(struct session *session, const char *option, const char *takes,
                                 const char *path, const char *column, paritas_er_geometry **table)
{
    if (!platform_exists(path))
        return usage_failure(session, "%s takes %s or a file; there is no file '%s'", option, takes, path);
    return open_table(session, path, column, table);
}

static paritas_status open_spice(struct session *session, struct sources *sources)
{
    const char *folder = option_text(session, "--spice"), *attitude = option_text(session, "--attitude");
    if (!folder && !attitude) return PARITAS_OK;
    if (!folder) return usage_failure(session, "--attitude needs --spice DIR");
    if (!attitude) return usage_failure(session, "--spice needs --attitude FILE");
    TRY(paritas_er_attitude_read(session->context, attitude, &sources->attitude));
    return paritas_er_spice_open(session->context, NULL, folder, &sources->spice);
}

static paritas_status add_mag(struct session *session, struct sources *sources, const char *path, int date)
{
    paritas_day_file *files = arena_grown(session, sources->mags, sources->n_mags, sizeof *files);
    const char *copy = arena_copied(session, path, strlen(path));
    TRY(allocated(session));
    files[sources->n_mags++] = (paritas_day_file){copy, date};
    sources->mags = files;
    return PARITAS_OK;
}

/* A folder's files are of the dates in their names; a file by itself is of any day. */
static paritas_status open_mags(struct session *session, struct sources *sources)
{
    const char *path = option_text(session, "--mag");
    struct platform_info info;
    paritas_er_files *found = NULL;
    if (!path) return PARITAS_OK;
    if (!platform_info(path, &info) || info.kind != PLATFORM_FOLDER) {
        paritas_er_mag *mag;
        TRY(paritas_er_mag_read(session->context, path, &mag)); /* a wrong file is told at once */
        paritas_er_mag_free(mag);
        return add_mag(session, sources, path, 0);
    }
    TRY(paritas_er_find_mags(session->context, path, &found));
    paritas_status status = PARITAS_OK;
    for (size_t i = 0; i < found->n && status == PARITAS_OK; i++)
        status = add_mag(session, sources, found->path[i], found->date[i]);
    paritas_er_files_free(found);
    if (status == PARITAS_OK && sources->n_mags == 0)
        status = wrong_input(session, "%s: there is no file of the magnetometer (MAYYMMDD.TAB)", path);
    return status;
}

bool sources_mag_is_of(const paritas_day_file *mag, const paritas_day *day)
{
    return mag->date == 0 || mag->date == day->files[0].date;
}

/* Does the magnetometer, SPICE or a column of the geometry table tell it? */
static bool geometry_knows(const struct sources *sources, const char *column)
{
    const paritas_er_geometry *table = sources->tables[SOURCES_GEOMETRY];
    return sources->spice || sources->n_mags > 0 || (table && paritas_er_geometry_has(table, column));
}

static paritas_status open_polarity(struct session *session, struct sources *sources)
{
    const char *text = option_text(session, "--polarity");
    if (!text) {
        sources->options.polarity = geometry_knows(sources, "polarity") ? 0.0 : -1.0;
        return PARITAS_OK;
    }
    if (strcmp(text, "+1") == 0 || strcmp(text, "1") == 0)
        sources->options.polarity = 1.0;
    else if (strcmp(text, "-1") == 0)
        sources->options.polarity = -1.0;
    else
        return open_named(session, "--polarity", "+1, -1", text, "polarity",
                          &sources->tables[SOURCES_POLARITY]);
    return PARITAS_OK;
}

static paritas_status open_potential(struct session *session, struct sources *sources)
{
    const char *text = option_text(session, "--spacecraft-potential");
    paritas_day_options *options = &sources->options;
    if (strcmp(text, "auto") == 0)
        options->potential_source = PARITAS_POTENTIAL_SOURCE_AUTO;
    else if (number_of_text(text, &options->potential))
        options->potential_source = PARITAS_POTENTIAL_SOURCE_VALUE;
    else
        options->potential_source = PARITAS_POTENTIAL_SOURCE_DAY;
    if (options->potential_source != PARITAS_POTENTIAL_SOURCE_DAY) return PARITAS_OK;
    return open_named(session, "--spacecraft-potential", "auto, a number of volts", text,
                      "spacecraft_potential", &sources->tables[SOURCES_POTENTIAL]);
}

paritas_status sources_open(struct session *session, struct sources *sources)
{
    const char *geometry = option_text(session, "--geometry");
    paritas_day_options *options = &sources->options;
    *sources = (struct sources){.options = PARITAS_DAY_OPTIONS_DEFAULT};
    options->theta = sources->theta;
    sources->strict = option_flag(session, "--strict");
    TRY(options_take(session, "paritas_day_options", options));
    TRY(paritas_er_theta(session->context, option_text(session, "--theta"), sources->theta));
    if (geometry) TRY(open_table(session, geometry, NULL, &sources->tables[SOURCES_GEOMETRY]));
    TRY(open_mags(session, sources));
    TRY(open_spice(session, sources));
    TRY(open_polarity(session, sources));
    return open_potential(session, sources);
}

void sources_note(struct session *session, const struct sources *sources)
{
    paritas_context *context = session->context;
    const paritas_er_geometry *geometry = sources->tables[SOURCES_GEOMETRY];
    if (!option_given(session, "--polarity") && !geometry_knows(sources, "polarity"))
        paritas_note(
            context,
            "the polarity of the field is not known and taken as -1 (--polarity, --geometry, --mag)");
    if (!option_given(session, "--spacecraft-potential") && geometry &&
        paritas_er_geometry_has(geometry, "spacecraft_potential"))
        paritas_note(context, "the column spacecraft_potential of --geometry is not used: potentials are "
                              "found from the plasma (--spacecraft-potential FILE)");
    if (sources_find_potentials(sources) && !option_given(session, "--illumination") &&
        !geometry_knows(sources, "spacecraft_in_sun"))
        paritas_note(context, "the illumination of the spacecraft is not known and taken as sunlight "
                              "(--illumination, --geometry, --mag); shade moves U by tens of volts");
}

void sources_close(struct sources *sources)
{
    for (size_t i = 0; i < SOURCES_TABLES; i++) paritas_er_geometry_free(sources->tables[i]);
    paritas_er_attitude_free(sources->attitude);
    paritas_er_spice_close(sources->spice);
}

paritas_status sources_check_days(struct session *session, const struct sources *sources, size_t days)
{
    for (size_t i = 0; i < SOURCES_TABLES; i++) {
        const paritas_er_geometry *table = sources->tables[i];
        if (days < 2 || !table || paritas_er_geometry_has(table, "date") ||
            paritas_er_geometry_has(table, "utc"))
            continue;
        return wrong_input(session,
                           "%s: has neither a column date nor utc, and there are %zu days: which sweeps it "
                           "means is not known",
                           option_text(session, sources_options[i]), days);
    }
    return PARITAS_OK;
}

static paritas_status describe_file(struct session *session, struct writer *writer, const char *key,
                                    const char *path, const char *otherwise)
{
    struct platform_info info;
    char labelled[80] = "sha256:";
    if (!path) {
        write_string(writer, key, otherwise);
        return PARITAS_OK;
    }
    char *hex = labelled + strlen(labelled);
    const bool folder = platform_info(path, &info) && info.kind == PLATFORM_FOLDER;
    TRY(folder ? folder_digest(session, path, hex) : sha256_file(session->context, path, hex));
    write_string(writer, key, labelled);
    return PARITAS_OK;
}

paritas_status sources_describe(struct session *session, const struct sources *sources, struct writer *writer)
{
    static const char *const files[] = {"--theta", "--geometry", "--attitude", "--spice"};
    const paritas_day_options *options = &sources->options;
    for (size_t i = 0; i < COUNT_OF(files); i++)
        TRY(describe_file(session, writer, files[i] + 2, option_text(session, files[i]),
                          i == 0 ? "built-in" : NULL));
    if (sources->n_mags > 0) write_bool(writer, "mag", true); /* the files are inputs of their days */
    const char *polarity = option_text(session, "--polarity"),
               *potential = option_text(session, "--spacecraft-potential");
    if (sources->tables[SOURCES_POLARITY])
        TRY(describe_file(session, writer, "polarity", polarity, NULL));
    else
        write_string(writer, "polarity",
                     options->polarity == 0.0  ? "of the geometry"
                     : options->polarity > 0.0 ? "+1"
                     : polarity                ? "-1"
                                               : "-1, not known and taken so");
    if (options->potential_source == PARITAS_POTENTIAL_SOURCE_DAY)
        TRY(describe_file(session, writer, "spacecraft_potential", potential, NULL));
    else if (options->potential_source == PARITAS_POTENTIAL_SOURCE_VALUE)
        write_number(writer, "spacecraft_potential", options->potential);
    else
        write_string(writer, "spacecraft_potential", "auto");
    write_number(writer, "sunlight", options->sunlight);
    write_string(writer, "normalisation", paritas_normalisation_name(options->normalisation));
    write_bool(writer, "strict", sources->strict);
    return PARITAS_OK;
}

/* Reads the magnetometer's files of a day. mags: room for all of them. */
static paritas_status read_mags(paritas_context *context, const struct sources *sources,
                                const paritas_day *day, paritas_er_mag **mags, size_t *n)
{
    for (size_t i = 0; i < sources->n_mags; i++) {
        if (!sources_mag_is_of(&sources->mags[i], day)) continue;
        TRY(paritas_er_mag_read(context, sources->mags[i].path, &mags[*n]));
        ++*n;
    }
    return PARITAS_OK;
}

static paritas_status prepare(paritas_context *context, const struct sources *sources, size_t n_mags,
                              paritas_er_mag *const *mags, struct sweeps *sweeps)
{
    const paritas_day_sources given = {.size = sizeof given,
                                       .n_mags = n_mags,
                                       .mags = (const paritas_er_mag *const *)mags,
                                       .geometry = sources->tables[SOURCES_GEOMETRY],
                                       .spice = sources->spice,
                                       .attitude = sources->attitude,
                                       .polarities = sources->tables[SOURCES_POLARITY],
                                       .potentials = sources->tables[SOURCES_POTENTIAL]};
    for (size_t i = 0; i < n_mags; i++) sweeps->mag_skipped += mags[i]->skipped;
    return paritas_day_prepare(context, &sources->options, &given, sweeps->day, &sweeps->made);
}

static paritas_status prepare_with_mags(paritas_context *context, const struct sources *sources,
                                        const paritas_day *files, struct sweeps *sweeps)
{
    size_t n = 0;
    paritas_er_mag **mags = paritas_allocate_clear(context, sources->n_mags + 1, sizeof *mags);
    if (!mags) return paritas_fail_memory(context);
    paritas_status status = read_mags(context, sources, files, mags, &n);
    if (status == PARITAS_OK) status = prepare(context, sources, n, mags, sweeps);
    for (size_t i = 0; i < n; i++) paritas_er_mag_free(mags[i]);
    paritas_release(&context->allocator, mags);
    return status;
}

paritas_status sweeps_load(paritas_context *context, const struct sources *sources, const paritas_day *files,
                           struct sweeps *sweeps)
{
    paritas_er_options options = PARITAS_ER_OPTIONS_DEFAULT;
    options.digest = 1;
    options.strict = sources->strict;
    *sweeps = (struct sweeps){.allocator = context->allocator};
    sweeps->shares = paritas_allocate_clear(context, files->n, sizeof *sweeps->shares);
    if (!sweeps->shares) return paritas_fail_memory(context);
    sweeps->shares[0].size = sizeof *sweeps->shares;
    TRY(paritas_day_read(context, files, &options, sweeps->shares, &sweeps->day));
    sweeps->n = sweeps->day->n;
    return prepare_with_mags(context, sources, files, sweeps);
}

void sweeps_free(struct sweeps *sweeps)
{
    paritas_day_sweeps_free(sweeps->made);
    paritas_er_day_free(sweeps->day);
    if (sweeps->shares) paritas_release(&sweeps->allocator, sweeps->shares);
    *sweeps = (struct sweeps){0};
}

size_t sweeps_matched(const struct sweeps *sweeps, int source)
{
    const paritas_day_sweeps *made = sweeps->made;
    const size_t matched[SOURCES] = {[SOURCES_GEOMETRY] = made->of_geometry,
                                     [SOURCES_POLARITY] = made->of_polarities,
                                     [SOURCES_POTENTIAL] = made->of_potentials,
                                     [SOURCES_MAG] = made->of_mags};
    return matched[source];
}

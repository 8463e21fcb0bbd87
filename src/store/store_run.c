/* store_run.c: keys of runs, and the columns of toys. */
#include "store/store_run.h"

#include "base/json/json.h"
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const store_kind_names[2] = {[STORE_TESTS] = "tests", [STORE_FITS] = "fits"};

#define COLUMN(record, type, field, count, word, unit, doc) {word, COLUMN_##type, offsetof(record, field)},
static const struct column test_columns[] = {PARITAS_TOY_FIELDS(COLUMN, paritas_toy)};
static const struct column fit_columns[] = {STORE_FIT_FIELDS(COLUMN, struct store_fit)};

#define COLUMNS_OF_WEIGHTS 2 /* the last of test_columns */

#define ANY (-DBL_MAX)
#define TEST(field, least) {#field, offsetof(paritas_toy, field), least, COLUMN_double, false}
#define FIT(field, least) {#field, offsetof(struct store_fit, field), least, COLUMN_double, false}
#define TEST_DEMANDS TEST(q, 0.0), TEST(mu_hat, ANY), TEST(twice_nll_free, ANY), TEST(twice_nll_fixed, ANY)
static const struct demand test_demands[] = {TEST_DEMANDS, {0}};
static const struct demand weighted_demands[] = {
    TEST_DEMANDS, TEST(weight, 0.0), TEST(weight_other, 0.0), {0}};
static const struct demand fit_demands[] = {
    FIT(twice_nll, ANY),
    FIT(statistic, ANY),
    {"parameters", offsetof(struct store_fit, parameters), ANY, COLUMN_store_vector, false},
    {"errors", offsetof(struct store_fit, errors), 0.0, COLUMN_store_vector, true},
    {0}};

#define TABLE(record, columns, n, n_key, demands) \
    {columns, n, n_key, sizeof(record), offsetof(record, toy), offsetof(record, status), demands}
enum { TABLE_TESTS, TABLE_WEIGHTED_TESTS, TABLE_FITS };
static const struct store_table tables[] = {
    [TABLE_TESTS] =
        TABLE(paritas_toy, test_columns, COUNT_OF(test_columns) - COLUMNS_OF_WEIGHTS, 3, test_demands),
    [TABLE_WEIGHTED_TESTS] = TABLE(paritas_toy, test_columns, COUNT_OF(test_columns), 3, weighted_demands),
    [TABLE_FITS] = TABLE(struct store_fit, fit_columns, COUNT_OF(fit_columns), 1, fit_demands)};

const struct store_table *run_table(const struct store_run *run)
{
    if (run->kind == STORE_FITS) return &tables[TABLE_FITS];
    return &tables[run_entry(run, STORE_IMPORTANCE) ? TABLE_WEIGHTED_TESTS : TABLE_TESTS];
}

/* Toy number of a row of this kind. */
static uint64_t toy_of(enum store_kind kind, const void *row)
{
    return kind == STORE_FITS ? ((const struct store_fit *)row)->toy : ((const paritas_toy *)row)->toy;
}

uint64_t row_toy(const struct store_table *table, const void *row)
{
    return *(const uint64_t *)((const char *)row + table->toy);
}

void row_name(char name[160], enum store_kind kind, const void *row)
{
    const paritas_toy *test = row;
    const unsigned long long toy = toy_of(kind, row);
    if (kind == STORE_FITS)
        snprintf(name, 160, "toy %llu", toy);
    else
        snprintf(name, 160, "toy %llu at mu = %.17g, hypothesis = %.17g", toy, test->mu, test->hypothesis);
}

static bool is_met(const struct demand *demand, double value)
{
    return isnan(value) ? demand->may_be_nan : isfinite(value) && value >= demand->least;
}

bool row_is_possible(const struct store_table *table, const void *row, size_t n_parameters,
                     char reason[ROW_REASON])
{
    const char *bytes = row;
    const struct demand *demand = table->demands;
    double value = 0.0;
    for (int i = 0; i < table->n_key; i++) {
        const struct column *column = &table->columns[i];
        if (column->type != COLUMN_double || isfinite(*(const double *)(bytes + column->offset))) continue;
        snprintf(reason, ROW_REASON, "%s is not a finite number", column->name);
        return false;
    }
    if (*(const paritas_fit_status *)(bytes + table->status) != PARITAS_FIT_CONVERGED) return true;
    for (bool met = true; demand->name; demand++) {
        const bool vector = demand->type == COLUMN_store_vector;
        const double *values = vector ? *(const store_vector *)(bytes + demand->offset)
                                      : (const double *)(bytes + demand->offset);
        for (size_t i = 0; values && met && i < (vector ? n_parameters : 1); i++)
            met = is_met(demand, value = values[i]);
        if (!met) break;
    }
    if (demand->name && isnan(value))
        snprintf(reason, ROW_REASON, "%s is nothing: fits that converged have a number", demand->name);
    else if (demand->name)
        snprintf(reason, ROW_REASON, "%s is %.17g: fits that converged have a finite number%s", demand->name,
                 value, demand->least == 0.0 ? " from 0" : "");
    else
        return true;
    return false;
}

int row_compare(enum store_kind kind, const void *a, const void *b)
{
    const paritas_toy *x = a, *y = b;
    if (kind == STORE_TESTS && x->mu != y->mu) return x->mu < y->mu ? -1 : 1;
    if (kind == STORE_TESTS && x->hypothesis != y->hypothesis) return x->hypothesis < y->hypothesis ? -1 : 1;
    const uint64_t i = toy_of(kind, a), j = toy_of(kind, b);
    return i < j ? -1 : i > j;
}

paritas_status store_say(paritas_context *context, const char *name, paritas_status status,
                         const char *format, ...)
{
    char reason[sizeof context->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return paritas_fail(context, status, "%s: %s", name, reason);
}

paritas_status stores_check(paritas_context *context, size_t n, const char *const *paths)
{
    if (n == 0) return paritas_refuse(context, "n: no stores are given");
    REQUIRE_EACH(context, "paths", n, paths);
    return PARITAS_OK;
}

static bool same_fact(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

paritas_status fact_check(paritas_context *context, const char *name, const char *fact, double there,
                          double now)
{
    return same_fact(there, now) ? PARITAS_OK
                                 : store_say(context, name, PARITAS_INVALID_ARGUMENT,
                                             "%s is %.17g in the store and %.17g now", fact, there, now);
}

paritas_status fact_check_shard(paritas_context *context, const char *name, const char *fact, double there,
                                double value)
{
    return same_fact(there, value)
               ? PARITAS_OK
               : store_say(context, name, PARITAS_INVALID_INPUT, "%s is %.17g, in the stores before it %.17g",
                           fact, value, there);
}

const char *run_entry(const struct store_run *run, const char *name)
{
    for (size_t i = 0; i < run->n_entries; i++)
        if (strcmp(run->entries[i].name, name) == 0) return run->entries[i].value;
    return NULL;
}

static paritas_status keep_text(paritas_context *context, struct arena *arena, const char *text,
                                const char **kept)
{
    *kept = arena_text(arena, text, strlen(text));
    return *kept ? PARITAS_OK : paritas_fail_memory(context);
}

paritas_status run_copy(paritas_context *context, struct arena *arena, const struct store_run *from,
                        const char *without, struct store_run *copy)
{
    paritas_key_entry *entries = arena_array(arena, from->n_entries, sizeof *entries);
    const char **parameters = arena_array(arena, from->n_parameters, sizeof *parameters);
    if (!entries || !parameters) return paritas_fail_memory(context);
    size_t kept = 0;
    for (size_t i = 0; i < from->n_entries; i++) {
        const paritas_key_entry *entry = &from->entries[i];
        if (without && strcmp(entry->name, without) == 0) continue;
        TRY(keep_text(context, arena, entry->name, &entries[kept].name));
        TRY(keep_text(context, arena, entry->value, &entries[kept++].value));
    }
    for (size_t i = 0; i < from->n_parameters; i++)
        TRY(keep_text(context, arena, from->parameters[i], &parameters[i]));
    *copy = (struct store_run){from->kind, kept, entries, from->n_parameters, parameters};
    return PARITAS_OK;
}

const char *const store_shard_entries[] = {STORE_SHARD, STORE_NTOYS, NULL};

static uint64_t toys_of(const struct store_run *run)
{
    const char *toys = run_entry(run, STORE_NTOYS);
    return toys ? strtoull(toys, NULL, 10) : 0;
}

bool run_longer(const struct store_run *run, const struct store_run *other)
{
    return toys_of(run) > toys_of(other);
}

bool run_extends(const struct store_run *run, const struct store_run *stored)
{
    return toys_of(stored) > 0 && run_longer(run, stored) && !run_entry(run, STORE_SHARD) &&
           !run_entry(stored, STORE_SHARD);
}

static bool listed(const char *const *names, const char *name)
{
    for (; names && *names; names++)
        if (strcmp(*names, name) == 0) return true;
    return false;
}

static void say_entry(struct text *text, const char *lead, const char *name, const char *value)
{
    if (value)
        text_format(text, "%s %s = %s", lead, name, value);
    else
        text_format(text, "%s no %s", lead, name);
}

/* Appends "was made with mu = 1, this run has mu = 2". */
static void say_difference(struct text *text, const char *name, const char *ours, const char *whose,
                           const char *theirs)
{
    if (ours && theirs && strcmp(ours, theirs) == 0) return;
    text_format(text, "%s", text->length > 0 ? "; " : "");
    say_entry(text, "was made with", name, ours);
    text_format(text, ", %s", whose);
    say_entry(text, " has", name, theirs);
}

paritas_status run_compare(paritas_context *context, const char *name, const struct store_run *run,
                           const struct store_run *other, const char *const *without, const char *whose,
                           paritas_status failure)
{
    struct text text;
    text_open(&text, &context->allocator);
    say_difference(&text, "kind", store_kind_names[run->kind], whose, store_kind_names[other->kind]);
    for (size_t i = 0; i < run->n_entries + other->n_entries; i++) {
        const bool ours = i < run->n_entries;
        const paritas_key_entry *entry = ours ? &run->entries[i] : &other->entries[i - run->n_entries];
        if (listed(without, entry->name) || (!ours && run_entry(run, entry->name))) continue;
        say_difference(&text, entry->name, run_entry(run, entry->name), whose, run_entry(other, entry->name));
    }
    for (size_t i = 0; (i < run->n_parameters || i < other->n_parameters) && run->kind == other->kind; i++) {
        char number[40];
        snprintf(number, sizeof number, "parameter[%zu]", i);
        say_difference(&text, number, i < run->n_parameters ? run->parameters[i] : NULL, whose,
                       i < other->n_parameters ? other->parameters[i] : NULL);
    }
    paritas_status status = PARITAS_OK;
    if (text.failed)
        status = paritas_fail_memory(context);
    else if (text.length > 0)
        status = paritas_fail(context, failure, "%s: %.*s", name, (int)text.length, text.bytes);
    text_free(&text);
    return status;
}

/* record.c: a machine, a build and the digest of their answers, in one line to compare with others. */
#include "commands/devices/record.h"
#include "commands/devices/parity_contract.h"
#include "commands/moon/sweep_questions.h"
#include "base/digest.h"
#include "base/platform.h"
#include "base/processor.h"

#include <math.h>
#include <string.h>

#define TOYS 200  /* of each hypothesis */
#define SWEEPS 50 /* of each family */
#define SHOWN 16  /* digits of a digest in the line */

#if defined(__clang__)
#define COMPILER \
    "clang " TEXT_OF(__clang_major__) "." TEXT_OF(__clang_minor__) "." TEXT_OF(__clang_patchlevel__)
#else
#define COMPILER "gcc " __VERSION__
#endif
#if defined(__x86_64__)
#define PROCESSOR "x86-64"
#elif defined(__aarch64__)
#define PROCESSOR "arm64"
#elif defined(__wasm__)
#define PROCESSOR "wasm32"
#else
#define PROCESSOR "another processor"
#endif

/* An analysis with every modifier. It is inside the program, so that an installed one needs no file. */
static const char analysis[] =
    "{\"version\": \"1.0.0\","
    " \"channels\": ["
    "  {\"name\": \"signal_region\", \"samples\": ["
    "   {\"name\": \"signal\", \"data\": [3.1, 6.4, 4.7], \"modifiers\": ["
    "    {\"name\": \"mu\", \"type\": \"normfactor\", \"data\": null},"
    "    {\"name\": \"lumi\", \"type\": \"lumi\", \"data\": null},"
    "    {\"name\": \"scale\", \"type\": \"normsys\", \"data\": {\"hi\": 1.07, \"lo\": 0.94}}]},"
    "   {\"name\": \"top\", \"data\": [41.3, 28.9, 11.2], \"modifiers\": ["
    "    {\"name\": \"top_rate\", \"type\": \"normfactor\", \"data\": null},"
    "    {\"name\": \"scale\", \"type\": \"normsys\", \"data\": {\"hi\": 0.91, \"lo\": 1.13}},"
    "    {\"name\": \"shape\", \"type\": \"histosys\","
    "     \"data\": {\"hi_data\": [43.9, 29.2, 10.1], \"lo_data\": [39.5, 28.1, 12.6]}},"
    "    {\"name\": \"simulated\", \"type\": \"staterror\", \"data\": [1.9, 1.4, 0.8]}]},"
    "   {\"name\": \"fakes\", \"data\": [4.0, 2.5, 1.1], \"modifiers\": ["
    "    {\"name\": \"fake_shape\", \"type\": \"shapefactor\", \"data\": null}]},"
    "   {\"name\": \"other\", \"data\": [7.7, 3.4, 1.3], \"modifiers\": ["
    "    {\"name\": \"other_rate\", \"type\": \"shapesys\", \"data\": [2.1, 1.2, 0.6]}]}]},"
    "  {\"name\": \"top_region\", \"samples\": ["
    "   {\"name\": \"top\", \"data\": [212.6, 97.1], \"modifiers\": ["
    "    {\"name\": \"top_rate\", \"type\": \"normfactor\", \"data\": null},"
    "    {\"name\": \"scale\", \"type\": \"normsys\", \"data\": {\"hi\": 0.96, \"lo\": 1.05}}]}]},"
    "  {\"name\": \"fake_region\", \"samples\": ["
    "   {\"name\": \"fakes\", \"data\": [40.0, 25.0, 11.0], \"modifiers\": ["
    "    {\"name\": \"fake_shape\", \"type\": \"shapefactor\", \"data\": null}]}]}],"
    " \"observations\": ["
    "  {\"name\": \"signal_region\", \"data\": [55, 39, 20]},"
    "  {\"name\": \"top_region\", \"data\": [221, 108]},"
    "  {\"name\": \"fake_region\", \"data\": [37, 28, 9]}],"
    " \"measurements\": [{\"name\": \"measurement\", \"config\": {\"poi\": \"mu\", \"parameters\": ["
    "  {\"name\": \"lumi\", \"inits\": [1.0], \"bounds\": [[0.5, 1.5]], \"auxdata\": [1.0],"
    "   \"sigmas\": [0.017]}]}}]}";

struct record {
    struct session *session;
    paritas_context *context; /* of the device that is asked */
    struct sha256 answers;
};

/* Little-endian bits on every machine; NaN has one pattern. */
static void append(struct record *r, size_t n, const double *values)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char bytes[8];
        uint64_t bits = UINT64_C(0x7ff8000000000000);
        if (!isnan(values[i])) memcpy(&bits, &values[i], sizeof bits);
        for (unsigned k = 0; k < sizeof bytes; k++) bytes[k] = (unsigned char)(bits >> 8 * k);
        sha256_append(&r->answers, bytes, sizeof bytes);
    }
}

static paritas_status ask_limit(struct record *r)
{
    const struct session *session = r->session;
    paritas_limit_result limit = PARITAS_INIT(paritas_limit_result);
    const paritas_status status = paritas_limit(r->context, session->model, &session->job, NULL, &limit);
    if (status != PARITAS_OK)
        return paritas_fail(session->context, status, "%s", paritas_error_message(r->context));
    append(r, 1, &limit.limit_obs);
    append(r, 5, limit.limit_exp);
    return PARITAS_OK;
}

/* All that `parity` compares, and limits. */
static paritas_status ask_model(struct record *r)
{
    struct session *session = r->session;
    struct contract_plan plan = {.ntoys = TOYS};
    struct contract_answer answer = {0};
    TRY(load_model(session));
    TRY(refuse_several_pois(session));
    plan.mu = contract_mu(session);
    TRY(contract_plan_points(session, &plan));
    TRY(contract_ask(session, r->context, &plan, CONTRACT_NLL, CONTRACT_ERRORS, &answer));
    contract_plan_scan(session, &plan, &answer);
    TRY(contract_ask(session, r->context, &plan, CONTRACT_SCAN_OF_Q, CONTRACT_TOYS, &answer));
    for (int q = 0; q < CONTRACT_QUANTITIES; q++) append(r, answer.n[q], answer.values[q]);
    return plan.poi ? ask_limit(r) : PARITAS_OK;
}

static paritas_status ask_sweeps(struct record *r, enum sweep_family family)
{
    struct sweep_work work;
    TRY(sweep_work_open(r->session, r->context, family, SWEEPS, 0, &work));
    for (int q = 0; q < SWEEP_QUESTIONS; q++) {
        struct sweep_answer answer;
        if (sweep_questions[q].family != family) continue;
        TRY(sweep_ask(r->session, r->context, &work, (enum sweep_question)q, &answer));
        append(r, answer.n, answer.values);
    }
    return PARITAS_OK;
}

static paritas_status ask_inside(struct record *r)
{
    struct session *session = r->session;
    TRY(paritas_workspace_parse(session->context, analysis, strlen(analysis), "the analysis inside",
                                &session->workspace));
    TRY(ask_model(r));
    for (int family = 0; family < SWEEP_FAMILIES; family++) TRY(ask_sweeps(r, (enum sweep_family)family));
    return PARITAS_OK;
}

/* path: NULL for what is inside the program. */
static paritas_status digest(struct record *r, const char *path, char hex[65])
{
    sha256_open(&r->answers);
    if (path) TRY(load_workspace_of(r->session, path));
    TRY(path ? ask_model(r) : ask_inside(r));
    sha256_close(&r->answers, hex);
    session_clear(r->session);
    return PARITAS_OK;
}

static void write_machine(struct record *r)
{
    struct session *session = r->session;
    const paritas_context *context = r->context;
    const bool on_cpu = strcmp(paritas_device_name(context), "cpu") == 0;
    const char *const kernels = on_cpu ? paritas_isa_name(context) : paritas_device_description(context);
    char processor[PROCESSOR_NAME_ROOM], system[128];
    processor_name(processor);
    platform_system(sizeof system, system);
    if (session->json) {
        write_object(&session->writer, NULL, true);
        write_members(&session->writer, "version:s processor:s system:s compiler:s built_for:s",
                      paritas_version(), processor, system, COMPILER, PROCESSOR);
        write_members(&session->writer, "device:s kernels:s lanes:u threads:u precision:s",
                      paritas_device_name(context), kernels, context->lanes, context->threads,
                      paritas_precision_name(context));
        return;
    }
    text_format(&session->out, "| %s | %s | %s | %s, %s | %s: %s", processor, system, COMPILER,
                paritas_version(), PROCESSOR, paritas_device_name(context), kernels);
    if (context->lanes > 0) text_format(&session->out, ", lanes %u", context->lanes);
    text_format(&session->out, " | %s |", paritas_precision_name(context));
}

static void write_digest(struct session *session, const char *path, const char *hex)
{
    if (!session->json)
        text_format(&session->out, path ? " %s %.*s |" : "%s %.*s |", path ? platform_file_name(path) : "",
                    SHOWN, hex);
    else if (path)
        write_row(&session->writer, "workspace:s digest:s", platform_file_name(path), hex);
    else
        write_string(&session->writer, "digest", hex);
}

static paritas_status answer(struct record *r)
{
    struct session *session = r->session;
    char hex[65];
    write_machine(r);
    TRY(digest(r, NULL, hex));
    write_digest(session, NULL, hex);
    if (session->json) write_array(&session->writer, "workspaces", true);
    for (size_t i = 0; i < session->arguments->n_operands; i++) {
        TRY(digest(r, session->arguments->operands[i], hex));
        write_digest(session, session->arguments->operands[i], hex);
    }
    if (session->json) {
        write_close(&session->writer);
        write_close(&session->writer);
    } else {
        text_format(&session->out, "\n");
    }
    return PARITAS_OK;
}

static paritas_status refuse_options(struct session *session, const struct option *rows, const char *why)
{
    for (; rows->name; rows++)
        if (rows->name[0] != '\0' && option_given(session, rows->name))
            return usage_failure(session, "%s has no place beside --record: %s", rows->name, why);
    return PARITAS_OK;
}

paritas_status record_run(struct session *session)
{
    static const struct option own[] = {{"--mu"}, {"--ntoys"}, {"--seed"}, {"--sweeps"}, {0}};
    const char *const same = "everybody is asked the same", *const alone = "no workspace is given";
    struct record r = {.session = session};
    TRY(refuse_options(session, own, same));
    TRY(refuse_options(session, options_job, same));
    if (session->arguments->n_operands == 0) {
        TRY(refuse_options(session, options_patches, alone));
        TRY(refuse_options(session, options_model, alone));
    }
    paritas_options as = session->options;
    if (strcmp(as.device, "auto") == 0) as.device = "cpu";
    paritas_status status = open_another(session, &as, &r.context);
    if (status == PARITAS_OK) status = answer(&r);
    paritas_close(r.context);
    return status;
}

/* other_programs.c: what users of pyhf, cabinetry, nextstat, combine, TRExFitter and espg-lunar-potential-map
 * type. Each option of theirs has ours beside it.
 *
 * A row holds for each command that has the option on its right. Rows whose right side is a sentence hold for
 * the commands named, or for all. The first row that fits answers. */
#include "other_programs.h"

#include <stdio.h>
#include <string.h>

static const struct other_option {
    const char *theirs;   /* spellings, between bars */
    const char *ours;     /* "--ntoys N", or a sentence */
    const char *commands; /* between bars; NULL: all */
} other_options[] = {
    /* nextstat */
    {"--input|-i", "the file is an operand: paritas COMMAND FILE", NULL},
    {"--gpu", "--device NAME, and `paritas devices` lists them", NULL},
    {"--n-toys|--n_toys|--toys", "--ntoys N", NULL},
    {"--n-toys|--n_toys|--toys", "`paritas toys` draws toys", NULL},
    {"--expected-set|--expected", "the answer always has the expected band", "hypotest|limit|significance"},
    {"--expected-set", "--expected", NULL},
    {"--alpha", "--level ALPHA", NULL},
    {"--scan-start|--scan-stop|--scan-points|--lo|--hi",
     "limits are found as roots, without a scan or bounds; `paritas scan` scans", "limit|interval"},
    {"--interp-defaults",
     "--normsys-code 1 --histosys-code 0 for pyhf's codes, 4 and 4p (ROOT's) are the defaults", NULL},
    {"--max-iter", "--max-iterations N", NULL},
    {"--json-metrics|--bundle", "--json", NULL},
    {"--parity", "results are the same bits on every device; `paritas parity` checks that", NULL},
    {"--fit-regions|--validation-regions", "`paritas prune FILE --channel NAME` leaves channels out", NULL},
    {"--log-level|--verbose|-v|--debug", "notes and progress go to standard error; --quiet ends them", NULL},
    {"--output", "--output-file FILE", NULL},
    {"--output|--output-dir", "--output-folder DIR", NULL},
    /* pyhf */
    {"-p", "--patch FILE", NULL},
    {"--test-poi", "--mu MU", NULL},
    {"--test-poi", "`paritas hypotest` tests a value", NULL},
    {"--calctype", "`paritas hypotest` is asymptotic, `paritas hypotest-toys` by toys",
     "hypotest|hypotest-toys"},
    {"--calctype", "--calc asymptotic|toys", NULL},
    {"--value", "the answer always has the values of all parameters", "fit"},
    {"--backend|--optimizer|--optconf", "no choice is needed: one engine with exact derivatives", NULL},
    {"--plaintext|--track-progress|--hide-progress", "only --json and --quiet change the output", NULL},
    {"--specroot|--dataroot|--resultprefix|--basedir|--mount", "`python -m paritas convert`", NULL},
    /* cabinetry */
    {"--goodness_of_fit|--goodness-of-fit", "`paritas gof FILE`", NULL},
    {"--pulls", "`paritas ranking FILE --json` has pulls; `python -m paritas report` draws them", NULL},
    {"--corrmat|--correlation|--correlations", "--covariance", NULL},
    {"--figfolder|--display|-d", "`python -m paritas report FILE -o report.html` draws figures", NULL},
    {"--max_pars|--max-pars", "--top N", NULL},
    {"--lower_bound|--lower-bound|--rMin", "--start MU", NULL},
    {"--upper_bound|--upper-bound|--rMax", "--stop MU", NULL},
    {"--n_steps|--n-steps", "--points N", NULL},
    {"--poi_name|--poi-name|--redefineSignalPOIs", "--poi NAME", NULL},
    {"--fixed-params", "--fix NAME[=V]", NULL},
    {"--init-pars|--setParameters", "--init NAME=V", NULL},
    /* combine */
    {"--freezeParameters",
     "--fix NAME[=V]; for allConstrainedNuisances `paritas ranking` has the statistical error", NULL},
    {"-t|--expectSignal",
     "--asimov MU --prefit; the expected values in every answer are after a fit to the data; `paritas "
     "generate` draws toys",
     "hypotest|hypotest-toys|limit|significance"},
    {"-t|--expectSignal", "--ntoys N; -t -1 is --expected --at-start", "generate"},
    {"-t|--expectSignal", "--ntoys N", "toys"},
    {"-t|--expectSignal",
     "--asimov MU, with --prefit as -t -1; `paritas generate` draws toys, and --data FILE takes them", NULL},
    {"--doLHscan", "`paritas scan` profiles", NULL},
    {"--robustFit", "--minos NAME|all", NULL},
    {"--cl", "--level ALPHA, which is 1 less the confidence level", NULL},
    {"--cl|--level", "--confidence CL", "contour"},
    {"--alpha", "--confidence CL, which is 1 less alpha", "contour"},
    {"--alpha", "`paritas limit`, `interval` and `contour` take a level", NULL},
    {"-M", "the command is the method: limit, significance, fit, scan, contour, gof, interval", NULL},
    {"--run", "observed and expected limits are in every answer; --asimov 0 --prefit is `--run blind`",
     "limit"},
    {"--run", "the command is the method", NULL},
    {"--dataset|-D|--data|--toysFile",
     "the data are the workspace's observations; --data FILE gives others, --asimov MU expected ones", NULL},
    {"--saveToys", "`paritas generate` answers with the data of its toys", NULL},
    {"--toysFrequentist|--toysNoSystematics|--bypassFrequentistFit",
     "toys are drawn at the fit to the data, with auxiliary data; `generate --at-start` makes no fit, "
     "--fix-aux "
     "keeps auxiliary data",
     NULL},
    {"--fixedSignalStrength", "--fix NAME=V", NULL},
    {"--toysH|-T", "--ntoys N", NULL},
    {"-P", "--par NAME=LO:HI:N", "scan"},
    {"-P", "--par NAME", "contour"},
    {"-P", "--poi NAME", NULL},
    {"--PO", "--map 'PATTERN:NAME[VALUE,LOW,HIGH]' for --PO map=...", NULL},
    {"--setParameterRanges|--rMin|--rMax|--bounds", "--range NAME=LO:HI", NULL},
    {"--algo", "`paritas fit --minos NAME` gives intervals, `paritas scan` profiles", NULL},
    {"--cminDefaultMinimizerStrategy|--cminDefaultMinimizerTolerance|--cminDefaultMinimizerType|"
     "--cminDefaultMinimizerAlgo|--cminDefaultMinimizerPrecision|--cminFallbackAlgo|--cminPreScan|"
     "--cminPreFit|--cminInitialHesse|--cminFinalHesse|--cminPoiOnlyFit|--cminSingleNuisFit|"
     "--cminOldRobustMinimize|--cminApproxPreFitTolerance|--cminApproxPreFitStrategy|--robustHesse|"
     "--setRobustFitStrategy|--setRobustFitTolerance|--setRobustFitAlgo|--setCrossingTolerance|--stepSize|"
     "--maxFailedSteps|--X-rtd|--X-fpeMask|--nllbackend|--forceRecreateNLL|--optimizeSimPdf",
     "no choice is needed: derivatives are exact, and `converged` was checked at the answer", NULL},
    {"--rRelAcc|--rAbsAcc|--clsAcc|--interpAcc",
     "--rtol X, of limits by toys; by formula they are exact to 1e-7", NULL},
    {"--testStat", "--test-stat qtilde|q|q0", NULL},
    {"--LHCmode",
     "`paritas limit --calc toys` is LHC-limits, `paritas significance --calc toys` LHC-significance, "
     "`paritas "
     "interval` LHC-feldman-cousins",
     NULL},
    {"--rule", "CLs is the rule of limits; `paritas hypotest` answers with CLsb, too", NULL},
    {"--significance|--pvalue", "`paritas significance`", NULL},
    {"--singlePoint", "--mu MU", NULL},
    {"--singlePoint|--gridPoints", "`paritas hypotest --mu MU` tests one value", "limit"},
    {"--saveWorkspace", "`paritas convert` writes a card's workspace", NULL},
    {"--saveShapes|--saveNormalizations|--saveWithUncertainties|--saveOverallShapes|--savePredictionsPerToy|"
     "--numToysForShapes",
     "`paritas predict` answers with yields and their errors, before and after the fit", NULL},
    {"--saveFitResult", "--covariance", NULL},
    {"--saveNLL", "the answer of --json has it", NULL},
    {"--saveHybridResult|--saveGrid|--readHybridResults|--grid|--fullGrid",
     "--store FILE, and `paritas merge` pools such files", NULL},
    {"--trackParameters|--trackErrors", "--store FILE, which keeps all of every toy", NULL},
    {"--trackParameters|--trackErrors|--saveSpecifiedNuis|--saveInactivePOI",
     "the answer of `paritas fit` has the values and errors of all parameters", NULL},
    {"--plot|--plots", "`python -m paritas report FILE -o report.html` draws figures", NULL},
    {"--out", "--output-file FILE", NULL},
    {"--name|-n|--keyword-value", "names of files are free: --output-file FILE", NULL},
    {"--noFitAsimov", "--prefit, with --asimov MU", NULL},
    {"--freezeNuisanceGroups|--freezeWithAttributes", "--fix NAME[=V], once for each, or by a pattern", NULL},
    {"--floatOtherPOIs|--floatAllNuisances|--floatParameters",
     "all parameters float but those of --fix NAME[=V] and the model's fixed ones", NULL},
    {"--snapshotName|--overrideSnapshotMass", "--init NAME=V", NULL},
    {"--setParameterRandomInitialValueRanges|--pointsRandProf|--randPointsSeed", "--starts N", NULL},
    {"--autoRange|--autoBoundsPOIs|--autoMaxPOIs|--centeredRange",
     "the upper bound of a tested parameter widens by itself; --range NAME=LO:HI gives others", NULL},
    {"--skipBOnlyFit|--skipSBFit|--skipInitialFit|--justFit|--noErrors|--noMCbonly",
     "each command makes the fits that its answer needs; `paritas fit --fix MU=0` is the fit without signal",
     NULL},
    {"--runMinos|--useMinos", "--minos NAME|all", NULL},
    {"--fastScan", "a scan fits all others at each point; `paritas nll --point FILE` does not fit", NULL},
    {"--fork", "--threads N", NULL},
    {"--tries|--iterations|--maxTries|--toysFactor|--adaptiveToys", "--ntoys N", NULL},
    {"--tries|--iterations|--maxTries", "no tries are needed: limits are found as roots", NULL},
    {"--validateModel|-V", "`paritas inspect FILE` shows what a model has", NULL},
    {"--prior|--noDefaultPrior", "`paritas sample` draws from the posterior", NULL},
    {"--channel-masks", "--mask CHANNEL", NULL},
    {"--doInitialFit|--doFits", "`paritas ranking FILE` makes all fits", NULL},
    /* espg-lunar-potential-map */
    {"--fast", "no such choice is needed: the default is the fast way, with proven minima",
     "losscone fit|kappa fit"},
    {"--fast", "--quick", NULL},
    {"--parallel|--no-parallel|--jobs|-j|--workers", "--threads N; by default all processors work", NULL},
    {"--losscone-fit-method", "--method halekas|lillis", NULL},
    {"--u-spacecraft", "--spacecraft-potential V", NULL},
    {"--emit-u-width-qc|--u-width-identifiable-max-v",
     "--confidence residuals, whose sets say how well U is known", "losscone fit|losscone profile"},
};

static const struct other_command {
    const char *theirs, *ours;
} other_commands[] = {
    {"cls", "hypotest"},
    {"upper-limit|upper_limit|upperlimit|upper-limits", "limit"},
    {"goodness-of-fit|goodness_of_fit|goodness", "gof"},
    {"fit-toys|fit_toys|fittoys", "toys"},
    {"mass-scan|mass_scan", "`paritas limit --patchset FILE`"},
    {"minos", "`paritas fit --minos NAME`"},
    {"profile-scan|profile_scan", "scan"},
    {"rank|impacts", "ranking"},
    {"yields|data-mc", "predict"},
    {"validate|audit|ls|info", "inspect"},
    {"xml2json|json2xml|import|export", "python -m paritas convert"},
    {"combineCards.py", "combine"},
    {"text2workspace.py|text2workspace", "convert"},
    {"combineTool.py|combineTool", "`paritas ranking` for Impacts, and no tool for the others"},
    {"plotImpacts.py|plot1DScan.py|plotGof.py|plotLimits.py", "python -m paritas report"},
    {"PostFitShapesFromWorkspace", "predict"},
    {"report|visualize|viz|plot", "python -m paritas report"},
    {"batch|potential_mapper|potential-mapper", "losscone fit"},
    {"moon|map|maps", "python -m paritas moon"},
    {"synthesize|synthesise|synthetic", "losscone synthesize"},
    /* methods of combine, whose names also follow -M */
    {"AsymptoticLimits", "limit"},
    {"HybridNew", "`paritas limit --calc toys`, or at one value `paritas hypotest-toys`,"},
    {"Significance", "significance"},
    {"FitDiagnostics", "`paritas fit`, its --saveShapes `paritas predict`,"},
    {"MultiDimFit", "`paritas fit`, its --algo grid `paritas scan`, contour2d `paritas contour`,"},
    {"Impacts", "ranking"},
    {"FeldmanCousins", "interval"},
    {"GoodnessOfFit", "gof"},
    {"ChannelCompatibilityCheck", "compatibility"},
    {"GenerateOnly", "generate"},
    /* steps of TRExFitter */
    {"n|h|b", "python -m paritas workspace"},
    {"w|nw|hw", "python -m paritas convert"},
    {"f|wf|nwf|hwf", "fit"},
    {"l", "limit"},
    {"s", "significance"},
    {"d|p|dp", "predict"},
    {"r|i", "ranking"},
};

bool is_one_of(const char *names, const char *word, size_t length)
{
    for (;; names++) {
        const size_t span = strcspn(names, "|");
        if (span == length && memcmp(names, word, length) == 0) return true;
        names += span;
        if (*names == '\0') return false;
    }
}

static const struct option *option_named(const struct command *command, const char *name)
{
    return find_option(command, name, strcspn(name, " ,"), 0);
}

/* Has the command what a row tells to use? */
static bool row_fits(const struct command *command, const struct other_option *row)
{
    const bool is_option = row->ours[0] == '-';
    return (!row->commands || is_one_of(row->commands, command->name, strlen(command->name))) &&
           (!is_option || option_named(command, row->ours));
}

#define NAME_MOST 40 /* longer names have no neighbours */

/* Letters to insert, delete, replace or swap with their neighbours (optimal string alignment). */
static size_t edit_distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t rows[3][NAME_MOST + 1] = {{0}};
    if (n > NAME_MOST || m > NAME_MOST) return NAME_MOST;
    for (size_t i = 0; i <= n; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            if (i == 0) {
                row[j] = j;
                continue;
            }
            const bool same = a[i - 1] == b[j - 1];
            size_t least = above[j - 1] + !same;
            if (above[j] + 1 < least) least = above[j] + 1;
            if (row[j - 1] + 1 < least) least = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && second[j - 2] + 1 < least)
                least = second[j - 2] + 1;
            row[j] = least;
        }
    }
    return rows[n % 3][m];
}

/* Is `name` nearer than `*least`? One letter in three may differ. */
static bool is_nearer(const char *word, size_t length, const char *name, size_t *least)
{
    const size_t distance = edit_distance(word, length, name, strlen(name));
    if (distance >= *least || 3 * distance > length) return false;
    *least = distance;
    return true;
}

/* The command of ours, in back quotes; empty: none. */
static void name_ours(char *text, size_t room, const char *theirs)
{
    text[0] = '\0';
    for (size_t i = 0; i < sizeof other_commands / sizeof *other_commands; i++) {
        const char *ours = other_commands[i].ours;
        if (!is_one_of(other_commands[i].theirs, theirs, strlen(theirs))) continue;
        const bool python = strncmp(ours, "python", 6) == 0;
        if (ours[0] == '`')
            snprintf(text, room, "%s", ours);
        else
            snprintf(text, room, "`%s%s`", python ? "" : "paritas ", ours);
        return;
    }
}

void suggest_method(char *text, size_t room, const char *method)
{
    char ours[120];
    name_ours(ours, sizeof ours, method);
    text[0] = '\0';
    if (ours[0] != '\0') snprintf(text, room, ": -M %s is %s here", method, ours);
}

void suggest_option(char *text, size_t room, const struct command *command, const char *word, size_t length,
                    const char *value)
{
    if (value && length == 2 && memcmp(word, "-M", 2) == 0) {
        suggest_method(text, room, value);
        if (text[0] != '\0') return;
    }
    text[0] = '\0';
    for (size_t i = 0; i < sizeof other_options / sizeof *other_options; i++) {
        const struct other_option *row = &other_options[i];
        if (!is_one_of(row->theirs, word, length) || !row_fits(command, row)) continue;
        snprintf(text, room, "%s%s", row->ours[0] == '-' ? "; paritas says " : ": ", row->ours);
        return;
    }
    size_t least = NAME_MOST;
    EACH_OPTION(command, group, option)
    {
        if (length > 3 && is_nearer(word + 2, length - 2, option->name + 2, &least))
            snprintf(text, room, "; did you mean %s?", option->name);
    }
}

void suggest_command(char *text, size_t room, const struct command *const *commands, const char *name)
{
    const size_t length = strlen(name);
    text[0] = '\0';
    char ours[120];
    name_ours(ours, sizeof ours, name);
    if (ours[0] != '\0') {
        snprintf(text, room, "; it is %s here", ours);
        return;
    }
    size_t least = NAME_MOST;
    for (size_t i = 0; commands[i]; i++)
        if (is_nearer(name, length, commands[i]->name, &least))
            snprintf(text, room, "; did you mean `paritas %s`?", commands[i]->name);
}

/* view_model.js: overview of the model, and data and model before and after the fit. */

/**
 * @typedef {object} Context   what a view works with
 * @property {Study} study
 * @property {(args: string[]) => Promise<Answer>} run   a command on the study's files
 * @property {ModelAnswer} model   the answer of `paritas inspect`; views other than its own come after it
 * @property {FitAnswer|null} fit   the answer of `paritas fit`, null before it
 * @property {PredictAnswer|null} predicted   the answer of `paritas predict`, null before it
 * @property {Engine|null} live   has the model of the sliders open
 * @property {Workers} workers
 * @property {(files: Array<[string, Uint8Array]>) => void} give   shows other files, as if the user gave them
 *
 * @typedef {object} View
 * @property {string} id   also in links: #view=ID
 * @property {string} title
 * @property {string} about
 * @property {boolean} [wide]
 * @property {(card: Card, context: Context) => Promise<void>} show   runs the commands and draws
 * @property {string} [command]   whose options are offered
 * @property {string[][]} [shown]   those in front, each with the words that it starts with
 * @property {(card: Card, context: Context, answer: any) => void} [draw]   what stands above the tables
 * @property {(card: Card, context: Context, again: () => void) => void} [controls]   once for a study
 */

/**
 * The document of an answer; throws the program's message where there is none.
 * @param {Answer} answer
 */
function documentOf(answer) {
    if (answer.text.trim() === "")
        throw new Error(answer.error || `paritas ended with exit code ${answer.status}`);
    const document = JSON.parse(answer.text);
    return document.answers?.[0] ?? document;
}

/**
 * Runs a command, shows its remarks and its command line, and returns its document.
 * @param {Card} card
 * @param {Context} context
 * @param {string[]} args
 * @param {string} name
 */
async function answerOf(card, context, args, name) {
    const answer = await context.run(args);
    const document = documentOf(answer);
    card.clear();
    card.note(answer.error);
    if (document.toy !== undefined)
        card.note(`Toy ${document.toy} is shown; the download has all that were asked for.`);
    if (answer.status === 1 && !answer.error) card.note("A fit did not converge (exit code 1).");
    card.command(answer, name);
    return document;
}

/**
 * The name of a file for downloads: workspace, patch, command.
 * @param {Context} context
 * @param {string} what
 */
function fileName(context, what) {
    const parts = [context.study.workspace?.replace(/\.json$/i, ""), context.study.patchName, what];
    return parts.filter(Boolean).join("_").replace(/[\\/]/g, "_");
}

/** @type {View} */
const overviewView = {
    id: "overview",
    title: "Model",
    about: "Channels, samples and parameters of the workspace.",
    async show(card, context) {
        /* the one option of all results that this command has */
        const shared = context.study.shared.filter((one) => one[0] === "--mask");
        /** @type {ModelAnswer} */
        const model = context.model = await answerOf(
            card, context, modelCommand({...context.study, shared}, "inspect"),
            `${fileName(context, "inspect")}.json`
        );
        const bins = model.model_channels.reduce((sum, one) => sum + one.bins, 0);
        const samples = new Set(model.model_channels.flatMap((one) => one.samples));
        card.headline([
            count(model.model_channels.length, "channel"), count(samples.size, "sample"), count(bins, "bin"),
            count(model.model_parameters.length, "parameter")
        ].join(", "));
        card.body.append(html(
            "p", {},
            model.poi ? `Parameter of interest: ${model.poi}.`
                      : "The model has no parameter of interest: choose one above."
        ));
        const unused = Object.entries(model.unused).filter(([, names]) => names.length);
        for (const [what, names] of unused) card.note(`unused ${what}: ${names.join(", ")}`);
        card.table(
            "Channels", ["channel", "bins", "samples"],
            model.model_channels.map((one) => [one.name, one.bins, one.samples.join(", ")]), true
        );
        card.table(
            "Parameters", ["parameter", "modifier", "constraint", "start", "bounds", "held"],
            model.model_parameters.map(
                (one) =>
                    [one.name, own(model.modifiers, one.name.replace(/\[\d+\]$/, "")) ?? "",
                     one.constraint ?? "none", one.init, `${show(one.bounds[0])} to ${show(one.bounds[1])}`,
                     one.fixed ? "yes" : "no"]
            )
        );
        card.table(
            "Measurements", ["measurement", "parameter of interest", "parameters set"],
            model.measurements.map((one) => [one[0], one[1], (one[2] ?? []).map(String).join(", ")])
        );
    },
};

/** More bins than this beside each other show nothing. */
const MOST_BINS = 120;

/**
 * What figures of yields may show: all channels beside each other, where they are few, or one.
 * @param {ModelAnswer} model
 */
function channelChoices(model) {
    const names = model.model_channels.map((one) => one.name);
    const bins = model.model_channels.reduce((sum, one) => sum + one.bins, 0);
    return names.length > 1 && bins <= MOST_BINS ? ["all channels", ...names] : names;
}

/** @type {View} */
const yieldsView = {
    id: "yields",
    title: "Data and model",
    about:
        "Before and after the fit. Samples are stacked, the hatched band is the model's error, the bars of " +
        "the data cover 68 % (Garwood).",
    wide: true,
    async show(card, context) {
        /** @type {PredictAnswer} */
        const answer = context.predicted = await answerOf(
            card, context, modelCommand(context.study, "predict"), `${fileName(context, "predict")}.json`
        );
        const choices = channelChoices(context.model);
        const colours = sampleColours(sampleNames(answer));
        const select = choice(choices, null, () => draw());
        const pair = html("div", {class: "pair"});
        const draw = () => {
            card.redraws = [];
            const halves = [html("div"), html("div")];
            pair.replaceChildren(...halves);
            for (const after of [false, true]) {
                const wanted = select.value;
                const parts = answer.channels.filter((one) => ["all channels", one.name].includes(wanted));
                const all = parts.map((one) => channelBins(one, after));
                const title = after ? "after the fit" : "before the fit";
                const bins = all.length > 1 ? joinBins(all) : all[0];
                const stage = after ? "postfit" : "prefit";
                const name = fileName(context, `${wanted.replace(/ /g, "_")}_${stage}`);
                const place = halves[Number(after)];
                card.figure(name, (width) => yieldsFigure(width, bins, colours, {title}), place);
            }
        };
        card.body.append(html("div", {class: "controls"}, labelled("Channel", select)), pair);
        draw();
        card.table(
            "Yields", ["channel", "data", "before the fit", "error", "after the fit", "error"],
            answer.channels.map(
                (one) =>
                    [one.name, one.total.data, one.total.prefit, one.total.prefit_error, one.total.postfit,
                     one.total.error]
            )
        );
    },
};

/**
 * Names of all samples, the largest last: on top of the stack are the small ones, as the signal.
 * @param {PredictAnswer} predicted
 */
function sampleNames(predicted) {
    /** @type {Map<string, number>} */
    const sums = new Map();
    for (const channel of predicted.channels)
        for (const sample of channel.samples) {
            const sum = sample.prefit.reduce((a, b) => a + b, 0);
            sums.set(sample.name, (sums.get(sample.name) ?? 0) + sum);
        }
    return [...sums].sort((a, b) => b[1] - a[1]).map((one) => one[0]);
}

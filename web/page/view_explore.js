/* view_explore.js: a slider for each parameter; the yields follow at once. */

/**
 * Yields of a point as bins of the figures.
 * @param {PredictAnswer} predicted  for names, sizes and data
 * @param {ModelAnswer} model
 * @param {Float64Array} yields
 */
function binsAt(predicted, model, yields) {
    let at = 0;
    return model.model_channels.map((channel, c) => {
        const samples = channel.samples.map((name) => {
            const values = Array.from(yields.subarray(at, at + channel.bins));
            at += channel.bins;
            return { name, values };
        });
        const total = new Array(channel.bins).fill(0);
        for (const one of samples) one.values.forEach((value, k) => { total[k] += value; });
        const data = predicted.channels[c].data;
        const order = sampleNames(predicted);
        samples.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
        return { title: channel.name, edges: [""], sizes: [channel.bins], samples, total, error: null, data };
    });
}

/**
 * The range of a slider: the bounds, or where these are far away, five errors around the best fit.
 * @param {ModelParameter} parameter
 * @param {FittedParameter} fitted
 */
function sliderRange(parameter, fitted) {
    const [low, high] = parameter.bounds;
    const width = fitted.error ? 5 * fitted.error : (high - low) / 2;
    return [
        Math.max(low, Math.min(fitted.value - width, parameter.init)),
        Math.min(high, Math.max(fitted.value + width, parameter.init))
    ];
}

/** How many sliders are shown at a time. */
const SLIDERS = 9;

/** The sliders of an open model, and the figure that follows them. */
class Explorer {
    /**
     * @param {Card} card
     * @param {Context} context
     * @param {FitAnswer} fit
     * @param {PredictAnswer} predicted
     */
    constructor(card, context, fit, predicted) {
        this.card = card;
        this.context = context;
        this.fit = fit;
        this.predicted = predicted;
        this.parameters = context.model.model_parameters;
        this.values = Float64Array.from(fit.parameters, (one) => one.value);
        this.colours = sampleColours(sampleNames(predicted));
        this.sliders = html("div", {class: "sliders"});
        this.drawing = html("div");
        this.filter =
            html("input", {type: "search", placeholder: "part of a name", oninput: () => this.list()});
        this.channel = choice(channelChoices(context.model), null, () => this.redraw?.());
        /** @type {Bins[]} */
        this.parts = [];
        /** @type {(() => void)|null} */
        this.redraw = null;
        this.busy = false;
        this.again = false;
    }

    /** Builds controls, sliders and the figure. */
    async show() {
        const best = html("button", {type: "button"}, "Best fit");
        const start = html("button", {type: "button"}, "Start values");
        best.addEventListener("click", () => this.set((k) => this.fit.parameters[k].value));
        start.addEventListener("click", () => this.set((k) => this.parameters[k].init));
        this.card.body.append(
            html(
                "div", {class: "controls"}, labelled("Channel", this.channel),
                labelled("Find parameter", this.filter), best, start
            ),
            html("div", {class: "explore"}, this.sliders, this.drawing)
        );
        this.list();
        await this.refresh();
    }

    /** Shown first: the parameter of interest, then those whose errors move it most. */
    order() {
        const names = this.parameters.map((one) => one.name);
        const poi = this.fit.poi === null ? -1 : names.indexOf(this.fit.poi);
        /** @param {number} k */
        const impact = (k) => {
            if (k === poi) return Infinity;
            const error = this.fit.parameters[k].error;
            return poi < 0 || !error ? 0 : Math.abs(this.fit.covariance[poi][k] / error);
        };
        return [...names.keys()].sort((a, b) => impact(b) - impact(a));
    }

    /** Shows the sliders whose names match. */
    list() {
        const wanted = this.filter.value.toLowerCase();
        const matching = this.order().filter((k) => this.parameters[k].name.toLowerCase().includes(wanted));
        const rows = matching.slice(0, SLIDERS).map((k) => this.slider(k));
        const all = count(this.parameters.length, "parameter");
        this.card.say(`${rows.length} of ${all}, those first that move ${this.fit.poi ?? "the fit"} most.`);
        this.sliders.replaceChildren(...rows);
    }

    /**
     * The slider of a parameter.
     * @param {number} k
     */
    slider(k) {
        const parameter = this.parameters[k];
        const [low, high] = sliderRange(parameter, this.fit.parameters[k]);
        const output = html("span", {class: "value"}, show(this.values[k]));
        const step = (high - low) / 400 || "any";
        const input = html("input", {type: "range", min: low, max: high, step, disabled: parameter.fixed});
        input.value = String(this.values[k]);
        input.addEventListener("input", () => {
            this.values[k] = Number(input.value);
            output.textContent = show(this.values[k]);
            this.refresh();
        });
        const name = html("span", {title: parameter.name}, shortName(parameter.name, 40));
        return html("label", {}, name, output, input);
    }

    /**
     * Moves all parameters.
     * @param {(k: number) => number} of
     */
    set(of) {
        for (let k = 0; k < this.values.length; k++) this.values[k] = of(k);
        this.list();
        this.refresh();
    }

    /** What the figure shows. */
    bins() {
        const one = this.parts.find((part) => part.title === this.channel.value);
        return one ?? joinBins(this.parts);
    }

    /** Draws the yields at the sliders. While an answer is under way, only the newest point waits. */
    async refresh() {
        this.again = true;
        if (this.busy) return;
        this.busy = true;
        while (this.again) {
            this.again = false;
            const answer = await this.context.live?.expected(this.values).catch(() => null);
            if (answer?.status !== 0) break;
            this.parts = binsAt(this.predicted, this.context.model, answer.expected);
            if (this.redraw)
                this.redraw();
            else {
                const title = "at the sliders";
                this.redraw = this.card.figure(
                    fileName(this.context, "moved"),
                    (width) => yieldsFigure(width, this.bins(), this.colours, {title}), this.drawing
                );
            }
        }
        this.busy = false;
    }
}

/** @type {View} */
const exploreView = {
    id: "explore",
    title: "Move parameters",
    about: "Move a parameter and see the expected yields at once.",
    wide: true,
    async show(card, context) {
        const {study} = context;
        /** @type {FitAnswer} */
        const fit = context.fit ??= documentOf(await context.run(modelCommand(study, "fit", "--covariance")));
        /** @type {PredictAnswer} */
        const predicted = context.predicted ??= documentOf(await context.run(modelCommand(study, "predict")));
        context.live ??= context.workers.engine();
        const {workspace, measurement, patchset, patchName, patchFiles} = study;
        const model = {workspace, measurement, patchset, patchName, patchFiles};
        const files = filesOf(study, [workspace ?? "", ...modelArguments(study)]);
        const opened = await context.live.open(model, Object.fromEntries(files));
        if (opened.status !== 0) throw new Error(opened.error);
        card.clear();
        await new Explorer(card, context, fit, predicted).show();
    },
};

/* view_results.js: limit, fit, scan, ranking. */

/** @type {View} */
const limitView = {
    id: "limit",
    title: "Upper limit",
    about:
        "CLs over the parameter of interest (asymptotic formulae), with the expected bands of 1 and 2 sigma.",
    controls(card, context, again) {
        card.number(
                "CLs at the limit", 0.05, {name: "level", min: 0.001, max: 0.9}
        ).addEventListener("change", again);
        card.select("Test statistic", ["qtilde", "q"]).addEventListener("change", again);
    },
    async show(card, context) {
        const [level, statistic] = [...card.controls.querySelectorAll("input, select")].map(
            (one) => /** @type {HTMLInputElement} */ (one).value
        );
        const options = [];
        if (Number(level) !== 0.05) options.push("--level", level);
        if (statistic !== "qtilde") options.push("--test-stat", statistic);
        /** @type {LimitAnswer} */
        const answer = await answerOf(
            card, context, modelCommand(context.study, "limit", ...options),
            `${fileName(context, "limit")}.json`
        );
        const [, low, median, high] = answer.limit_exp;
        const confidence = `${show(100 * (1 - Number(level)), 4)} % CL`;
        card.headline(
            `${answer.poi} < `, html("strong", {}, show(answer.limit_obs)), ` observed at ${confidence}, `,
            `< ${show(median)} expected (${show(low)} to ${show(high)} within 1σ)`
        );
        if (answer.bound_widened)
            card.note(`The upper bound of ${answer.poi} was widened to ${show(answer.upper_bound)}.`);
        if (answer.reason_obs !== "found") card.note(`observed limit: ${answer.reason_obs}`);
        if (answer.scan.length)
            card.figure(fileName(context, "limit"), (width) => limitFigure(width, answer));
        card.table("Limits", ["", answer.poi], [
            ["observed", answer.limit_obs],
            ...["−2σ", "−1σ", "median", "+1σ", "+2σ"].map(
                (name, k) => [`expected, ${name}`, answer.limit_exp[k]]
            )
        ]);
        card.table(
            "Values tested", [answer.poi, "CLs", "CLs+b", "CLb", "q", "q of Asimov data", "status"],
            answer.scan.map(
                (one) => [show(one.mu, 6), one.CLs_obs, one.CLsb, one.CLb, one.q, one.q_A, one.status]
            )
        );
    },
};

/**
 * Pulls of parameters with a Gaussian constraint at 0 of width 1; the other ones over their starts.
 * @param {FitAnswer} fit
 * @param {ModelAnswer} model
 */
function marksOf(fit, model) {
    /** @type {Mark[]} */
    const pulls = [];
    /** @type {Mark[]} */
    const factors = [];
    fit.parameters.forEach((one, k) => {
        const { init, constraint } = model.model_parameters[k];
        if (one.state === "fixed") return;
        const {name, value, error} = one;
        const scaled = error === null ? null : error / init;
        if (constraint === "constrained_by_normal" && init === 0) pulls.push({name, value, error});
        else if (init !== 0) factors.push({name, value: value / init, error: scaled});
    });
    return {pulls, factors};
}

/** @type {View} */
const fitView = {
    id: "fit",
    title: "Best fit",
    about: "Pulls with the constraints of the fit, factors, and correlations.",
    wide: true,
    controls(card, context, again) {
        card.number("Parameters shown", 25, {min: 1, max: 500, step: 1}).addEventListener("change", again);
    },
    async show(card, context) {
        const most = Math.max(1, Number(card.controls.querySelector("input")?.value) || 25);
        /** @type {FitAnswer} */
        const fit = context.fit = await answerOf(
            card, context, modelCommand(context.study, "fit", "--covariance"),
            `${fileName(context, "fit")}.json`
        );
        const poi = fit.parameters.find((one) => one.name === fit.poi);
        if (poi)
            card.headline(
                `${fit.poi} = `, html("strong", {}, show(poi.value)),
                poi.error === null ? ` (${poi.state.replace(/_/g, " ")})` : ` ± ${show(poi.error, 3)}`
            );
        card.body.append(html(
            "p", {},
            `${fit.status}, −2 ln L = ${show(fit.twice_nll, 8)}, EDM ${show(fit.edm, 2)}, ${
                count(fit.iterations, "iteration")}.`
        ));
        const {pulls, factors} = marksOf(fit, context.model);
        pulls.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
        factors.sort((a, b) => Math.abs(b.value - 1) - Math.abs(a.value - 1));
        const {names, matrix} = largestCorrelations(fit, Math.min(most, 40));
        /** @type {Array<[string, number, (width: number) => SVGSVGElement]>} */
        const figures = [
            ["pulls", pulls.length, (width) => pullsFigure(width, pulls.slice(0, most))],
            ["factors", factors.length, (width) => factorsFigure(width, factors.slice(0, most))],
            ["correlations", names.length - 1, (width) => correlationsFigure(width, names, matrix)],
        ];
        const shown = figures.filter((one) => one[1] > 0);
        const places = shown.map(() => html("div"));
        card.body.append(html("div", {class: "trio"}, ...places));
        shown.forEach(([name, , draw], k) => card.figure(fileName(context, name), draw, places[k]));
        card.table(
            `All ${count(fit.parameters.length, "parameter")}`, ["parameter", "value", "error", "state"],
            fit.parameters.map((one) => [one.name, one.value, one.error, one.state.replace(/_/g, " ")])
        );
    },
};

/** @type {View} */
const scanView = {
    id: "scan",
    title: "Profile likelihood",
    about: "The parameter is fixed at each value, all others are fitted again.",
    controls(card, context, again) {
        const names = context.model.model_parameters.filter((one) => !one.fixed).map((one) => one.name);
        const chosen = context.model.poi ?? "";
        const select = card.select("Parameter", [chosen, ...names.filter((one) => one !== chosen)]);
        const from = card.number("From", "", {placeholder: "best − 3 errors"});
        const to = card.number("To", "", {placeholder: "best + 3 errors"});
        select.addEventListener("change", () => {
            from.value = to.value = "";
            again();
        });
        for (const one of [from, to, card.number("Values", 21, {min: 3, max: 501, step: 1})])
            one.addEventListener("change", again);
    },
    async show(card, context) {
        const [name, from, to, points] = [...card.controls.querySelectorAll("input, select")].map(
            (one) => /** @type {HTMLInputElement} */ (one).value
        );
        if (!name) {
            card.say("Choose a parameter.");
            return;
        }
        /** @type {FitAnswer} */
        const fit = context.fit ??=
            documentOf(await context.run(modelCommand(context.study, "fit", "--covariance")));
        const k = fit.parameters.findIndex((one) => one.name === name);
        const fitted = fit.parameters[k];
        const options = [];
        if (name === context.model.poi) {
            if (from) options.push("--start", from);
            if (to) options.push("--stop", to);
            if (points !== "21") options.push("--points", points);
        } else {
            const {bounds} = context.model.model_parameters[k];
            const width = fitted.error ?? 0.1 * (bounds[1] - bounds[0]);
            const low = from || Number(Math.max(bounds[0], fitted.value - 3 * width).toPrecision(4));
            const high = to || Number(Math.min(bounds[1], fitted.value + 3 * width).toPrecision(4));
            options.push("--par", `${name}=${low}:${high}:${points}`);
        }
        /** @type {ScanAnswer} */
        const answer = await answerOf(
            card, context, modelCommand(context.study, "scan", ...options),
            `${fileName(context, "scan")}.json`
        );
        card.headline(
            `${name}: best value ${show(answer.best[0])}`, fitted.error ? ` ± ${show(fitted.error, 3)}` : ""
        );
        card.figure(
            fileName(context, `scan_${name}`), (width) => scanFigure(width, answer, fitted.error ?? null)
        );
        card.table(
            "Values", [name, "−2 Δ ln L", "−2 ln L", "status"],
            answer.points.map((one) => [show(one.values[0], 6), one.q, show(one.twice_nll, 10), one.status])
        );
    },
};

/** @type {View} */
const rankingView = {
    id: "ranking",
    title: "Ranking",
    about: "How far the parameter of interest moves when another one is fixed at its best value plus and " +
        "minus its error.",
    controls(card, context, again) {
        card.number("Largest", 15, {min: 1, max: 500, step: 1}).addEventListener("change", again);
    },
    async show(card, context) {
        const top = card.controls.querySelector("input")?.value || "15";
        /** @type {RankingAnswer} */
        const answer = await answerOf(
            card, context, modelCommand(context.study, "ranking", "--top", top),
            `${fileName(context, "ranking")}.json`
        );
        if (answer.entries.every((one) => !one.impact_up && !one.impact_down))
            card.note(`No other parameter moves ${answer.poi}: it stays at a bound, or needs no other.`);
        card.figure(fileName(context, "ranking"), (width) => rankingFigure(width, answer));
        card.table(
            "Impacts", ["parameter", "pull", "constraint", "+1σ", "−1σ", "+1σ before", "−1σ before"],
            answer.entries.map(
                (one) =>
                    [one.name, one.pull, one.constraint, one.impact_up, one.impact_down, one.prefit_up,
                     one.prefit_down]
            )
        );
    },
};

/** @type {View} */
const testsView = {
    id: "tests",
    title: "Significance and goodness of fit",
    about: "Discovery from q0, and the fit against the saturated model.",
    async show(card, context) {
        const {study} = context;
        const fit =
            await answerOf(card, context, modelCommand(study, "gof"), `${fileName(context, "gof")}.json`);
        card.headline("Goodness of fit: p = ", html("strong", {}, show(fit.p, 3)));
        card.body.append(
            html("p", {}, `Statistic ${show(fit.statistic)} for ${count(fit.ndof, "degree")} of freedom.`)
        );
        const answer = await context.run(modelCommand(study, "significance"));
        card.note(answer.text ? answer.error : "");
        const found = documentOf(answer);
        card.command(answer, `${fileName(context, "significance")}.json`);
        card.headline(
            "Significance: Z = ", html("strong", {}, show(found.Z, 3)), `, p0 = ${show(found.p0, 3)}`
        );
        card.body.append(html(
            "p", {},
            `Expected for ${found.poi} = 1: Z = ${show(found.Z_exp, 3)}. Best fit: ${found.poi} = ${
                show(found.mu_hat)}.`
        ));
    },
};

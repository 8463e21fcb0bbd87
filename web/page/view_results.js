/* view_results.js: limit, fit, scan, ranking. */

/** @type {View} */
const limitView = {
    id: "limit",
    title: "Upper limit",
    about:
        "CLs over the parameter of interest (asymptotic formulae), with the expected bands of 1 and 2 sigma.",
    command: "limit",
    shown: [["--level"], ["--test-stat"]],
    async show(card, context) {
        /** @type {LimitAnswer} */
        const answer = await answerOf(
            card, context, modelCommand(context.study, "limit", ...card.words()),
            `${fileName(context, "limit")}.json`
        );
        const [, low, median, high] = answer.limit_exp;
        const confidence = `${show(100 * (1 - answer.level), 4)} % CL`;
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
    about: "The parameter is fixed at each value, all others are fitted again. Intervals have all parts " +
        "between crossings of their level.",
    command: "scan",
    shown: [["--start"], ["--stop"], ["--points"]],
    controls(card, context, again) {
        const names = context.model.model_parameters.filter((one) => !one.fixed).map((one) => one.name);
        const chosen = context.model.poi ?? "";
        const select = choice([chosen, ...names.filter((one) => one !== chosen)], chosen, () => {
            for (const [{name}, field] of card.form?.fields ?? [])
                if (name === "--start" || name === "--stop") field.value = "";
            again();
        });
        select.name = "parameter";
        card.controls.prepend(labelled("Parameter", select));
    },
    async show(card, context) {
        const select = card.controls.querySelector("select[name=parameter]");
        const name = /** @type {HTMLSelectElement} */ (select).value;
        if (!name) {
            card.say("Choose a parameter.");
            return;
        }
        /** @type {FitAnswer} */
        const fit = context.fit ??=
            documentOf(await context.run(modelCommand(context.study, "fit", "--covariance")));
        const fitted = fit.parameters.find((one) => one.name === name);
        const options = name === context.model.poi ? [] : ["--par", name];
        /** @type {ScanAnswer} */
        const answer = await answerOf(
            card, context, modelCommand(context.study, "scan", ...options, ...card.words()),
            `${fileName(context, "scan")}.json`
        );
        card.headline(
            `${name}: best value ${show(answer.best[0])}`, fitted?.error ? ` ± ${show(fitted.error, 3)}` : ""
        );
        card.figure(
            fileName(context, `scan_${name}`), (width) => scanFigure(width, answer, fitted?.error ?? null)
        );
        card.table(
            "Values", [name, "−2 Δ ln L", "−2 ln L", "status"],
            answer.points.map((one) => [show(one.values[0], 6), one.q, show(one.twice_nll, 10), one.status])
        );
        if (answer.crossings.length)
            card.table(
                "Crossings: edges of the intervals", ["confidence", "−2 Δ ln L", name, "edge"],
                answer.crossings.map((one) => {
                    const edge = one.rises ? "upper" : "lower";
                    return [show(one.confidence, 4), show(one.q, 5), show(one.value, 7), edge];
                })
            );
    },
};

/** @type {View} */
const rankingView = {
    id: "ranking",
    title: "Ranking",
    about: "How far the parameter of interest moves when another one is fixed at its best value plus and " +
        "minus its error. Global: when its auxiliary datum moves by its standard deviation.",
    command: "ranking",
    shown: [["--top", "15"], ["--impacts"]],
    async show(card, context) {
        /** @type {RankingAnswer} */
        const answer = await answerOf(
            card, context, modelCommand(context.study, "ranking", ...card.words()),
            `${fileName(context, "ranking")}.json`
        );
        if (answer.entries.every((one) => !one.impact_up && !one.impact_down && !one.impact))
            card.note(`No other parameter moves ${answer.poi}: it stays at a bound, or needs no other.`);
        card.figure(fileName(context, "ranking"), (width) => rankingFigure(width, answer));
        if (answer.impacts === "global") {
            showTables(card, answer);
            return;
        }
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
    about: "Discovery from q0, the fit against the saturated model, and whether channels agree.",
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
        if (context.model.model_channels.length < 2) return;
        const agreement = await context.run(modelCommand(study, "compatibility"));
        const channels = documentOf(agreement);
        card.note(agreement.error);
        card.command(agreement, `${fileName(context, "compatibility")}.json`);
        card.headline(`Channels agree on ${channels.poi}: p = `, html("strong", {}, show(channels.p, 3)));
        card.body.append(html(
            "p", {}, `Statistic ${show(channels.statistic)} for ${count(channels.ndof, "degree")} of freedom.`
        ));
    },
};

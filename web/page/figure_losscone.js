/* figure_losscone.js: surface potentials of a day, and the misfit of one sweep over the potential. */

/** @typedef {{spectrum: number, potential: number, lower: number, upper: number, good: boolean}} Sweep */

/**
 * @param {number} width
 * @param {Sweep[]} sweeps
 * @param {string} date
 * @param {number|null} chosen  a spectrum number
 */
function potentialsFigure(width, sweeps, date, chosen) {
    const height = 320;
    const figure = canvas(width, height, `surface potential of ${count(sweeps.length, "sweep")}, ${date}`);
    const numbers = sweeps.map((one) => one.spectrum);
    const low = Math.min(...sweeps.map((one) => one.lower)),
          high = Math.max(0, ...sweeps.map((one) => one.upper));
    const frame = panel(
        figure, {left: 62, top: 10, width: width - 74, height: height - 56},
        {low: Math.min(...numbers) - 0.5, high: Math.max(...numbers) + 0.5, label: `spectrum of ${date}`},
        {low: low - 0.06 * (high - low), high: high + 0.06 * (high - low), label: "U [V]"}
    );
    for (const one of sweeps) {
        const at = frame.x.at(one.spectrum);
        const colour = one.good ? "var(--accent)" : "var(--faint)";
        if (one.spectrum === chosen)
            frame.plot.append(
                line(at, frame.y.from, at, frame.y.to, {stroke: "var(--band2)", "stroke-width": 5})
            );
        frame.plot.append(line(at, frame.y.at(one.lower), at, frame.y.at(one.upper), {stroke: colour}));
        frame.plot.append(
            svg("circle", {
                cx: at,
                cy: frame.y.at(one.potential),
                r: 3,
                fill: one.good ? colour : "var(--paper)",
                stroke: colour
            },
                svg("title", {}, `spectrum ${one.spectrum}: U = ${show(one.potential)} V`))
        );
    }
    frame.close();
    return figure.root;
}

/**
 * @param {number} width
 * @param {ProfileAnswer} answer   of `paritas losscone profile --json`
 */
function profileFigure(width, answer) {
    const height = 320;
    const figure = canvas(width, height, `misfit of spectrum ${answer.spectrum} over the surface potential`);
    const models = answer.models.filter((one) => one.profile.length);
    const points = models.flatMap((one) => one.profile);
    const misfits = points.map((one) => one.misfit);
    const [low, high] = [Math.min(...misfits), Math.max(...misfits)];
    const potentials = points.map((one) => one.potential);
    const frame = panel(
        figure, {left: 62, top: 10, width: width - 74, height: height - 56},
        {low: Math.min(...potentials), high: Math.max(...potentials), label: "U [V]"},
        {low: low - 0.05 * (high - low), high: high + 0.08 * (high - low), label: "misfit"}
    );
    const looks = [{stroke: "var(--accent)"}, {stroke: "var(--alarm)", "stroke-dasharray": "7 3"}];
    models.forEach((model, k) => {
        for (const [from, to] of model.confidence?.intervals ?? []) {
            const place = { x: frame.x.at(from), y: frame.y.to, height: frame.y.from - frame.y.to };
            const inner = Math.max(1, frame.x.at(to) - place.x);
            frame.plot.append(svg("rect", {...place, width: inner, fill: looks[k].stroke, opacity: 0.2}));
        }
        /** @type {Array<[number, number]>} */
        const curve = model.profile.map((one) => [frame.x.at(one.potential), frame.y.at(one.misfit)]);
        frame.plot.append(path(curve, looks[k]));
        const best = { cx: frame.x.at(model.potential), cy: frame.y.at(model.misfit), r: 3.5 };
        frame.plot.append(svg("circle", { ...best, fill: looks[k].stroke }));
    });
    frame.close();
    legend(
        frame.over, 76, 24,
        models.map((one, k) => ({text: `${one.response} edge: U = ${show(one.potential)} V`, line: looks[k]}))
    );
    return figure.root;
}

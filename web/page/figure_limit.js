/* figure_limit.js: CLs over the parameter of interest, observed and expected, with bands (Brazil). */

/**
 * @param {number} width
 * @param {LimitAnswer} answer   the document of `paritas limit --json`
 */
function limitFigure(width, answer) {
    const height = Math.round(Math.min(400, Math.max(280, width * 0.66)));
    const points = answer.scan.filter((one) => one.CLs_exp.every(Number.isFinite));
    points.sort((a, b) => a.mu - b.mu);
    const figure = canvas(width, height, `CLs over ${answer.poi ?? "mu"}, observed and expected`);
    const values = points.map((one) => one.mu);
    const top = Math.min(
        1, 1.25 * Math.max(4 * answer.level, ...points.map((one) => Math.max(one.CLs_obs, one.CLs_exp[4])))
    );
    const frame = panel(
        figure, {left: 52, top: 10, width: width - 64, height: height - 56},
        {low: Math.min(...values), high: Math.max(...values), label: answer.poi ?? "μ"},
        {low: 0, high: top, label: "CLs"}
    );
    /**
     * @param {(one: any) => number} of
     * @returns {Array<[number, number]>}
     */
    const curve = (of) => points.map((one) => [frame.x.at(one.mu), frame.y.at(of(one))]);
    const expected = [0, 1, 2, 3, 4].map((k) => curve((one) => one.CLs_exp[k]));
    frame.plot.append(
        area(expected[4], expected[0], "var(--band2)"),
        area(expected[3], expected[1], "var(--band1)"),
        path(expected[2], {stroke: "var(--band-ink)", "stroke-dasharray": "6 4"}),
        path(curve((one) => one.CLs_obs), {stroke: "var(--band-ink)", "stroke-width": 2}),
        line(
            frame.x.from, frame.y.at(answer.level), frame.x.to, frame.y.at(answer.level),
            {stroke: "var(--alarm)", "stroke-width": 1.4}
        ),
    );
    for (const [x, y] of curve((one) => one.CLs_obs))
        frame.plot.append(svg("circle", {cx: x, cy: y, r: 2.6, fill: "var(--band-ink)"}));
    if (Number.isFinite(answer.limit_obs)) {
        const at = frame.x.at(answer.limit_obs);
        frame.plot.append(line(
            at, frame.y.at(answer.level), at, frame.y.from,
            {stroke: "var(--alarm)", "stroke-dasharray": "2 3"}
        ));
    }
    frame.close();
    const box = {x: frame.x.to - 176, y: 18};
    frame.over.append(svg("rect", {...box, width: 168, height: 88, fill: "var(--paper)", opacity: 0.85}));
    legend(frame.over, box.x + 8, box.y + 12, [
        {text: "observed", line: {"stroke-width": 2}, point: true},
        {text: "expected", line: {"stroke-dasharray": "6 4"}},
        {text: "expected ± 1σ", fill: "var(--band1)"},
        {text: "expected ± 2σ", fill: "var(--band2)"},
        {text: `CLs = ${show(answer.level)}`, line: {stroke: "var(--alarm)"}},
    ]);
    return figure.root;
}

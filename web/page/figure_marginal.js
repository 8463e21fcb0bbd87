/* figure_marginal.js: draws of one parameter from the posterior. */

/**
 * @param {number} width
 * @param {number[]} draws
 * @param {{name: string, median: number, lower: number, upper: number}} summary   of `paritas sample --json`
 * @param {number} level   part of the draws between lower and upper
 */
function marginalFigure(width, draws, summary, level) {
    const height = Math.round(Math.min(400, Math.max(280, width * 0.62)));
    const {name, median, lower, upper} = summary;
    const figure = canvas(width, height, `${name} of ${count(draws.length, "draw")}`);
    const low = draws.reduce((a, b) => Math.min(a, b));
    const high = draws.reduce((a, b) => Math.max(a, b));
    const parts = toyParts(draws, high, low);
    const frame = panel(
        figure, {left: 56, top: 10, width: width - 68, height: height - 56}, {low, high, label: name},
        {low: 0, high: 1.25 * Math.max(...parts), label: "part of the draws"}
    );
    const [from, to] = [lower, upper].map((one) => frame.x.at(one));
    const place = {x: from, y: frame.y.to, width: to - from, height: frame.y.from - frame.y.to};
    frame.plot.append(svg("rect", {...place, fill: "var(--band1)", opacity: 0.45}));
    drawSteps(frame, parts, {stroke: "var(--down)"});
    const at = frame.x.at(median);
    frame.plot.append(line(at, frame.y.from, at, frame.y.to, {"stroke-width": 2}));
    frame.close();
    legend(frame.over, frame.x.to - 150, 24, [
        {text: `${show(100 * level)} % of the draws`, fill: "var(--band1)"},
        {text: "median", line: {"stroke-width": 2}},
    ]);
    return figure.root;
}

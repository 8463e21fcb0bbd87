/* figure_plane.js: the plane of a patch set: which signal points are excluded, and the exclusion contours. */

const OBSERVED = {
    stroke: "var(--alarm)",
    "stroke-width": 2.4,
    "stroke-linecap": "round"
};
const EXPECTED = {
    stroke: "var(--accent)",
    "stroke-width": 2,
    "stroke-dasharray": "7 4"
};

/**
 * @typedef {object} Signal   a patch with its answer, where there is one
 * @property {string} name
 * @property {number} x
 * @property {number} y
 * @property {number|null} observed   CLs
 * @property {number[]|null} expected   CLs at -2, -1, 0, 1, 2 sigma
 */

/**
 * The ends of an axis around values, with a margin.
 * @param {number[]} values
 */
function rangeAround(values) {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const margin = 0.08 * (high - low || Math.abs(high) || 1);
    return {low: low - margin, high: high + margin};
}

/**
 * Signal points that have an answer, one a place.
 * @param {Signal[]} signals
 */
function answeredSignals(signals) {
    /** @type {Map<string, Signal>} */
    const places = new Map();
    for (const one of signals.filter((signal) => signal.observed !== null && signal.expected !== null)) {
        places.set(`${one.x} ${one.y}`, one);
    }
    return [...places.values()];
}

/**
 * Lines of CLs = level: observed, expected, and expected at -1 and +1 sigma.
 * @param {Panel} frame
 * @param {Signal[]} signals
 * @param {number} level
 */
function drawContours(frame, signals, level) {
    const {x, y} = frame;
    /** @type {Array<[number, number]>} */
    const points =
        signals.map((one) => [(one.x - x.low) / (x.high - x.low), (one.y - y.low) / (y.high - y.low)]);
    const triangles = triangulate(points);
    /**
     * @param {(one: Signal) => number} of
     * @param {Record<string, any>} look
     */
    const draw = (of, look) => {
        const heights = signals.map((one) => Math.log(Math.max(of(one), 1e-12)));
        for (const ends of contourPieces(points, triangles, heights, Math.log(level))) {
            const left = ends.map((end) => x.at(x.low + end[0] * (x.high - x.low)));
            const top = ends.map((end) => y.at(y.low + end[1] * (y.high - y.low)));
            frame.plot.append(line(left[0], top[0], left[1], top[1], look));
        }
    };
    const band = {...EXPECTED, "stroke-width": 1, "stroke-dasharray": "2 3"};
    for (const k of [1, 3]) draw((one) => one.expected?.[k] ?? 1, band);
    draw((one) => one.expected?.[2] ?? 1, EXPECTED);
    draw((one) => one.observed ?? 1, OBSERVED);
}

/**
 * A point for each signal: filled where it is excluded, grey before its answer.
 * @param {Panel} frame
 * @param {Signal[]} signals
 * @param {number} level
 */
function drawSignals(frame, signals, level) {
    for (const one of signals) {
        const excluded = one.observed !== null && one.observed < level;
        const [cx, cy] = [frame.x.at(one.x), frame.y.at(one.y)];
        const stroke = one.observed === null ? "var(--faint)" : "var(--ink)";
        const look = {cx, cy, r: 4.5, fill: excluded ? "var(--alarm)" : "var(--paper)", stroke};
        frame.plot.append(svg("circle", look, svg("title", {}, `${one.name}: CLs ${show(one.observed)}`)));
        if (one.observed === null || signals.length > 60) continue;
        const near = cx > frame.x.to - 60;
        const font = {"font-size": 10, "text-anchor": near ? "end" : "start"};
        frame.plot.append(label(cx + (near ? -8 : 8), cy + 4, show(one.observed, 2), font));
    }
}

/**
 * @param {number} width
 * @param {Signal[]} signals
 * @param {{x: string, y: string, level: number}} about
 */
function planeFigure(width, signals, about) {
    const height = Math.round(Math.min(480, Math.max(320, width * 0.72)));
    const figure = canvas(width, height, `signal points over ${about.x} and ${about.y}`);
    const frame = panel(
        figure, {left: 60, top: 34, width: width - 72, height: height - 80},
        {...rangeAround(signals.map((one) => one.x)), label: about.x},
        {...rangeAround(signals.map((one) => one.y)), label: about.y}
    );
    const answered = answeredSignals(signals);
    if (answered.length >= 3) drawContours(frame, answered, about.level);
    drawSignals(frame, signals, about.level);
    frame.close();
    legend(frame.over, 60, 10, [{text: "observed", line: OBSERVED}]);
    const second = {text: `expected, ±1σ, CLs = ${show(about.level)}`, line: EXPECTED};
    legend(frame.over, Math.min(width / 2, 170), 10, [second]);
    return figure.root;
}

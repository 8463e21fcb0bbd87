/* figure_plane.js: the plane of a patch set: which signal points are excluded, and the exclusion contours. */

/**
 * @typedef {object} Signal   a patch with its answer, where there is one
 * @property {string} name
 * @property {number} x
 * @property {number} y
 * @property {number|null} observed   CLs
 * @property {number[]|null} expected   CLs at -2, -1, 0, 1, 2 sigma
 */

/**
 * @param {number} width
 * @param {Signal[]} signals
 * @param {{x: string, y: string, level: number}} about
 */
function planeFigure(width, signals, about) {
    const height = Math.round(Math.min(480, Math.max(320, width * 0.72)));
    const figure = canvas(width, height, `signal points over ${about.x} and ${about.y}`);
    /** @param {number[]} values */
    const range = (values) => {
        const [low, high] = [Math.min(...values), Math.max(...values)];
        const margin = 0.08 * (high - low || Math.abs(high) || 1);
        return { low: low - margin, high: high + margin };
    };
    const [across, up] = [range(signals.map((one) => one.x)), range(signals.map((one) => one.y))];
    const frame = panel(
        figure, {left: 60, top: 34, width: width - 72, height: height - 80}, {...across, label: about.x},
        {...up, label: about.y}
    );
    const done = signals.filter(
        (one) => one.observed !== null && one.expected !== null &&
            new Set(signals.filter((two) => two.x === one.x && two.y === one.y)).size === 1
    );
    /** @type {Array<[number, number]>} */
    const points = done.map(
        (one) => [(one.x - across.low) / (across.high - across.low), (one.y - up.low) / (up.high - up.low)]
    );
    if (points.length >= 3) {
        const triangles = triangulate(points);
        /**
         * @param {(one: Signal) => number} of
         * @param {Record<string, any>} look
         */
        const draw = (of, look) => {
            const heights = done.map((one) => Math.log(Math.max(of(one), 1e-12)));
            const pieces = contourPieces(points, triangles, heights, Math.log(about.level));
            const d = pieces.map((ends) => ends.map(([x, y], k) => {
                const left = frame.x.at(across.low + x * (across.high - across.low));
                const top = frame.y.at(up.low + y * (up.high - up.low));
                return `${k ? "L" : "M"}${left} ${top}`;
            }).join("")).join("");
            if (d) frame.plot.append(svg("path", { d, fill: "none", "stroke-linecap": "round", ...look }));
        };
        for (const k of [1, 3])
            draw((one) => one.expected?.[k] ?? 1, {stroke: "var(--accent)", "stroke-dasharray": "2 3"});
        draw(
            (one) => one.expected?.[2] ?? 1,
            {stroke: "var(--accent)", "stroke-width": 2, "stroke-dasharray": "7 4"}
        );
        draw((one) => one.observed ?? 1, {stroke: "var(--alarm)", "stroke-width": 2.4});
    }
    for (const one of signals) {
        const excluded = one.observed !== null && one.observed < about.level;
        const place = {cx: frame.x.at(one.x), cy: frame.y.at(one.y), r: 4.5};
        const look = {
            fill: excluded ? "var(--alarm)" : "var(--paper)",
            stroke: one.observed === null ? "var(--faint)" : "var(--ink)"
        };
        frame.plot.append(
            svg("circle", {...place, ...look}, svg("title", {}, `${one.name}: CLs ${show(one.observed)}`))
        );
        if (one.observed !== null && signals.length <= 60) {
            const near = place.cx > frame.x.to - 60;
            frame.plot.append(label(
                place.cx + (near ? -8 : 8), place.cy + 4, show(one.observed, 2),
                {"font-size": 10, "text-anchor": near ? "end" : "start"}
            ));
        }
    }
    frame.close();
    const half = width / 2;
    legend(frame.over, 60, 10, [{text: "observed", line: {stroke: "var(--alarm)", "stroke-width": 2.4}}]);
    legend(frame.over, Math.min(half, 170), 10, [{
               text: `expected, ±1σ, CLs = ${show(about.level)}`,
               line: {stroke: "var(--accent)", "stroke-dasharray": "7 4"}
           }]);
    return figure.root;
}

/* figure_scan.js: the profile likelihood of one parameter, beside the parabola of its error. */

/**
 * What is below each level, from one crossing to the next; the ends of the scan count as edges.
 * @param {Panel} frame
 * @param {ScanAnswer} answer
 */
function drawParts(frame, answer) {
    for (const q of new Set(answer.crossings.map((one) => one.q))) {
        const own = answer.crossings.filter((one) => one.q === q).sort((a, b) => a.value - b.value);
        let left = own[0].rises ? frame.x.low : NaN;
        for (const one of [...own, {value: frame.x.high, rises: !own[own.length - 1].rises}]) {
            if (!one.rises) left = one.value;
            if (!one.rises || Number.isNaN(left)) continue;
            const [from, to, top, base] =
                [frame.x.at(left), frame.x.at(one.value), frame.y.at(q), frame.y.at(0)];
            const box = {x: from, y: top, width: to - from, height: base - top};
            frame.plot.append(svg("rect", {...box, fill: "var(--accent)", "fill-opacity": 0.12}));
            left = NaN;
        }
        for (const one of own) {
            const mark = {cx: frame.x.at(one.value), cy: frame.y.at(q), r: 4, fill: "var(--accent)"};
            frame.plot.append(svg("circle", mark, svg("title", {}, show(one.value, 6))));
        }
    }
}

/**
 * @param {number} width
 * @param {ScanAnswer} answer   the document of `paritas scan --json`
 * @param {number|null} error   of the parameter, from the fit's second derivatives
 */
function scanFigure(width, answer, error) {
    const height = Math.round(Math.min(380, Math.max(260, width * 0.6)));
    const points = answer.points.filter((one) => Number.isFinite(one.q));
    const [name, best] = [answer.parameters[0], answer.best[0]];
    const values = points.map((one) => one.values[0]);
    const figure = canvas(width, height, `profile likelihood of ${name}`);
    const top = Math.max(4.6, Math.min(12, 1.05 * Math.max(...points.map((one) => one.q))));
    const frame = panel(
        figure, {left: 52, top: 10, width: width - 64, height: height - 56},
        {low: Math.min(...values), high: Math.max(...values), label: name},
        {low: 0, high: top, label: "−2 Δ ln L"}
    );
    for (const [level, text] of /** @type {Array<[number, string]>} */ ([[1, "68.3 %"], [4, "95.4 %"]])) {
        const at = frame.y.at(level);
        frame.plot.append(
            line(frame.x.from, at, frame.x.to, at, {stroke: "var(--faint)", "stroke-dasharray": "2 3"})
        );
        frame.plot.append(label(frame.x.from + 8, at - 4, text, {fill: "var(--faint)"}));
    }
    if (error) {
        /** @type {Array<[number, number]>} */
        const parabola = [];
        for (let k = 0; k <= 120; k++) {
            const value = frame.x.low + ((frame.x.high - frame.x.low) * k) / 120;
            parabola.push([frame.x.at(value), frame.y.at(((value - best) / error) ** 2)]);
        }
        frame.plot.append(path(parabola, {stroke: "var(--accent)", "stroke-dasharray": "6 4"}));
    }
    frame.plot.append(
        path(points.map((one) => [frame.x.at(one.values[0]), frame.y.at(one.q)]), {"stroke-width": 2})
    );
    for (const one of points) {
        const mark = {cx: frame.x.at(one.values[0]), cy: frame.y.at(one.q), r: 2.6};
        frame.plot.append(
            svg("circle", {...mark, fill: one.status === "converged" ? "var(--ink)" : "var(--alarm)"})
        );
    }
    drawParts(frame, answer);
    frame.close();
    const entries = [{text: "profile", line: {"stroke-width": 2}, point: true}];
    if (error)
        entries.push(/** @type {any} */ (
            {text: "parabola of the error", line: {stroke: "var(--accent)", "stroke-dasharray": "6 4"}}
        ));
    legend(frame.over, (frame.x.from + frame.x.to) / 2 - 70, 24, entries);
    return figure.root;
}

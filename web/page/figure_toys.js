/* figure_toys.js: distributions of the test statistic over toys. */

const TOY_BINS = 40;

/**
 * Parts of the values in bins from `low` to `far`.
 * @param {number[]} values
 * @param {number} far
 */
function toyParts(values, far, low = 0) {
    const parts = new Array(TOY_BINS).fill(0);
    for (const q of values.filter((one) => one <= far)) {
        parts[Math.min(TOY_BINS - 1, Math.floor(((q - low) / (far - low)) * TOY_BINS))] += 1 / values.length;
    }
    return parts;
}

/**
 * A histogram as a line of steps; empty bins lie below the frame.
 * @param {Panel} frame
 * @param {number[]} parts
 * @param {Record<string, any>} look
 */
function drawSteps(frame, parts, look) {
    /** @type {Array<[number, number]>} */
    const places = [[frame.x.from, frame.y.from]];
    parts.forEach((part, k) => {
        const y = part > 0 ? frame.y.at(part) : frame.y.from + 4;
        const {low, high} = frame.x;
        const ends = [k, k + 1].map((one) => frame.x.at(low + (one * (high - low)) / TOY_BINS));
        places.push([ends[0], y], [ends[1], y]);
    });
    frame.plot.append(path(places, {"stroke-linejoin": "miter", ...look}));
}

/**
 * The band of the background's toys, over the whole height.
 * @param {Panel} frame
 * @param {number[]} cuts
 */
function drawBand(frame, cuts) {
    if (cuts.some((value) => value === undefined)) return;
    const height = frame.y.from - frame.y.to;
    for (const [low, high, fill] of [[0, 4, "var(--band2)"], [1, 3, "var(--band1)"]]) {
        const [from, to] = [low, high].map((k) => frame.x.at(cuts[Number(k)]));
        const place = {x: from, y: frame.y.to, width: to - from, height};
        frame.plot.append(svg("rect", {...place, fill, opacity: 0.45}));
    }
}

/**
 * @param {number} width
 * @param {number[]} signal   q of toys drawn at the tested value
 * @param {number[]} background   q of toys drawn without signal
 * @param {{observed: number|null, mu: string, statistic: string, cuts: number[]}} about
 *     cuts: q at 2.3, 15.9, 50, 84.1, 97.7 % of the background's toys, the band
 */
function toysFigure(width, signal, background, about) {
    const height = Math.round(Math.min(400, Math.max(280, width * 0.62)));
    const figure = canvas(width, height, `${about.statistic} of ${signal.length + background.length} toys`);
    const all = [...signal, ...background].sort((a, b) => a - b);
    const far = Math.max(all[Math.floor(0.998 * (all.length - 1))] ?? 1, 1.05 * (about.observed ?? 0), 1);
    const [tested, without] = [toyParts(signal, far), toyParts(background, far)];
    const least = 0.5 / Math.max(signal.length, background.length, 1);
    const high = 4 * Math.max(...tested, ...without, 2 * least);
    const frame = panel(
        figure, {left: 56, top: 10, width: width - 68, height: height - 56},
        {low: 0, high: far, label: about.statistic}, {low: least, high, label: "part of the toys", log: true}
    );
    const looks = [{stroke: "var(--up)", "stroke-dasharray": "7 3"}, {stroke: "var(--down)"}];
    drawBand(frame, about.cuts);
    drawSteps(frame, without, looks[1]);
    drawSteps(frame, tested, looks[0]);
    if (about.observed !== null) {
        const at = frame.x.at(about.observed);
        frame.plot.append(line(at, frame.y.from, at, frame.y.to, {"stroke-width": 2}));
    }
    frame.close();
    legend(frame.over, frame.x.to - 190, 24, [
        {text: `toys with μ = ${about.mu}`, line: looks[0]},
        {text: "toys without signal", line: looks[1]},
        {text: "observed", line: {"stroke-width": 2}},
        {text: "68 % without signal", fill: "var(--band1)"},
        {text: "95 % without signal", fill: "var(--band2)"},
    ]);
    return figure.root;
}

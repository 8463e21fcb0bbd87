/* figure_pulls.js: pulls of constrained parameters, and factors beside 1, each with its error. */

/** What the axis of pulls says. */
const PULL = "(θ̂ − θ₀) / Δθ";

/** Names longer than this are cut in figures; the tables have them whole. */
const NAME_LENGTH = 34;

/** @param {string} name */
function shortName(name, most = NAME_LENGTH) {
    return name.length <= most ? name : `${name.slice(0, most - 10)}…${name.slice(-9)}`;
}

/**
 * The room that names need at the left, in pixels.
 * @param {string[]} names
 * @param {number} width
 */
function nameRoom(names, width) {
    const most = width < 460 ? 20 : NAME_LENGTH;
    return {most, room: 14 + 6.9 * Math.max(6, ...names.map((name) => Math.min(name.length, most)))};
}

/**
 * @typedef {object} Mark
 * @property {string} name
 * @property {number} value
 * @property {number|null} error   null: at a bound
 */

/**
 * @param {number} width
 * @param {Mark[]} marks
 * @param {{label: string, low: number, high: number, centre: number, bands: boolean}} axis
 */
function marksFigure(width, marks, axis) {
    const row = 17;
    const {most, room} = nameRoom(marks.map((one) => one.name), width);
    const height = marks.length * row + 60;
    const figure = canvas(width, height, `${axis.label}: ${count(marks.length, "parameter")}`);
    const frame = panel(
        figure, {left: room, top: 8, width: width - room - 14, height: marks.length * row + 8},
        {low: axis.low, high: axis.high, label: axis.label, ticks: 6}, {low: 0, high: 1, bare: true}
    );
    const [top, bottom] = [frame.y.to, frame.y.from];
    if (axis.bands) {
        for (const [size, fill] of /** @type {Array<[number, string]>} */ (
                 [[2, "var(--band2)"], [1, "var(--band1)"]]
             )) {
            const [from, to] = [frame.x.at(-size), frame.x.at(size)];
            frame.plot.append(svg("rect", {x: from, y: top, width: to - from, height: bottom - top, fill}));
        }
    }
    const ink = axis.bands ? "var(--band-ink)" : "var(--ink)";
    const zero = frame.x.at(axis.centre);
    frame.plot.append(line(zero, top, zero, bottom, {stroke: ink, "stroke-dasharray": "2 3"}));
    marks.forEach((one, k) => {
        const y = top + 4 + row * (k + 0.5);
        if (one.error !== null) {
            const [from, to] = [-one.error, one.error].map((way) => frame.x.at(one.value + way));
            frame.plot.append(line(from, y, to, y, { stroke: ink, "stroke-width": 1.4 }));
        }
        frame.plot.append(svg("circle", { cx: frame.x.at(one.value), cy: y, r: 3, fill: ink }));
        const font = {"text-anchor": "end", "font-size": 11};
        frame.over.append(label(room - 8, y + 4, shortName(one.name, most), font));
    });
    frame.close();
    return figure.root;
}

/**
 * Pulls: value less its central value, over the width of its constraint.
 * @param {number} width
 * @param {Mark[]} marks
 */
function pullsFigure(width, marks) {
    const far = Math.max(2.5, ...marks.map((one) => Math.abs(one.value) + (one.error ?? 0)));
    const end = far > 3 ? Math.ceil(far) : 3;
    return marksFigure(width, marks, {label: PULL, low: -end, high: end, centre: 0, bands: true});
}

/**
 * Factors and gammas, over their starts.
 * @param {number} width
 * @param {Mark[]} marks
 */
function factorsFigure(width, marks) {
    const low = Math.min(0.8, ...marks.map((one) => one.value - (one.error ?? 0.1)));
    const high = Math.max(1.2, ...marks.map((one) => one.value + (one.error ?? 0)));
    return marksFigure(
        width, marks,
        {label: "value / start", low: Math.max(low, -3), high: Math.min(high, 6), centre: 1, bands: false}
    );
}

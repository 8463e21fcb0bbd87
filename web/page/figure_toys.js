/* figure_toys.js: distributions of the test statistic over toys. */

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
    const bins = 40;
    /** @param {number[]} values */
    const counts = (values) => {
        const into = new Array(bins).fill(0);
        for (const q of values.filter((one) => one <= far)) {
            into[Math.min(bins - 1, Math.floor((q / far) * bins))] += 1 / values.length;
        }
        return into;
    };
    const [with_, without] = [counts(signal), counts(background)];
    const least = 0.5 / Math.max(signal.length, background.length, 1);
    const frame = panel(
        figure, {left: 56, top: 10, width: width - 68, height: height - 56},
        {low: 0, high: far, label: about.statistic}, {
            low: least,
            high: 4 * Math.max(...with_, ...without, 2 * least),
            label: "part of the toys",
            log: true
        }
    );
    const [two, one] = [[about.cuts[0], about.cuts[4]], [about.cuts[1], about.cuts[3]]];
    for (const [cut, fill] of /** @type {Array<[number[], string]>} */ (
             [[two, "var(--band2)"], [one, "var(--band1)"]]
         )) {
        if (cut.some((value) => value === undefined)) continue;
        const [from, to] = [frame.x.at(cut[0]), frame.x.at(cut[1])];
        frame.plot.append(svg(
            "rect",
            {x: from, y: frame.y.to, width: to - from, height: frame.y.from - frame.y.to, fill, opacity: 0.45}
        ));
    }
    /**
     * @param {number[]} parts
     * @param {string} stroke
     * @param {string|null} dashes
     */
    const steps = (parts, stroke, dashes) => {
        /** @type {Array<[number, number]>} */
        const places = [[frame.x.from, frame.y.from]];
        parts.forEach((part, k) => {
            const y = part > 0 ? frame.y.at(part) : frame.y.from + 4;
            places.push([frame.x.at((k * far) / bins), y], [frame.x.at(((k + 1) * far) / bins), y]);
        });
        frame.plot.append(path(places, { stroke, "stroke-dasharray": dashes, "stroke-linejoin": "miter" }));
    };
    steps(without, "var(--down)", null);
    steps(with_, "var(--up)", "7 3");
    if (about.observed !== null) {
        const at = frame.x.at(about.observed);
        frame.plot.append(line(at, frame.y.from, at, frame.y.to, {"stroke-width": 2}));
    }
    frame.close();
    legend(frame.over, frame.x.to - 190, 24, [
        {text: `toys with μ = ${about.mu}`, line: {stroke: "var(--up)", "stroke-dasharray": "7 3"}},
        {text: "toys without signal", line: {stroke: "var(--down)"}},
        {text: "observed", line: {"stroke-width": 2}},
        {text: "68 % without signal", fill: "var(--band1)"},
        {text: "95 % without signal", fill: "var(--band2)"},
    ]);
    return figure.root;
}

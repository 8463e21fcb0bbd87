/* figure_yields.js: data and model: samples stacked, the model's error hatched, data as points, ratio. */

const SAMPLE_COLOURS = 12; /* --sample0 ... of style.css */

/**
 * @typedef {object} Bins   one or more channels beside each other
 * @property {string} title
 * @property {string[]} edges   a name above each group of bins; "" for one channel
 * @property {number[]} sizes   bins of each group
 * @property {Array<{name: string, values: number[]}>} samples   from the bottom of the stack
 * @property {number[]} total
 * @property {number[]|null} error
 * @property {number[]} data
 */

/**
 * The interval of 68.27 % of a Poisson mean for n events (Garwood, by the formula of Wilson and Hilferty).
 * @param {number} n
 */
function poissonInterval(n) {
    /**
     * @param {number} k
     * @param {number} z
     */
    const cube = (k, z) => k * (1 - 1 / (9 * k) + z / (3 * Math.sqrt(k))) ** 3;
    return [n > 0 ? cube(n, -1) : 0, cube(n + 1, 1)];
}

/**
 * The colour of each sample's name, the same in all figures of a workspace.
 * @param {string[]} names
 */
function sampleColours(names) {
    return new Map(names.map((name, k) => [name, `var(--sample${k % SAMPLE_COLOURS})`]));
}

/**
 * @param {PredictedChannel} channel  of `paritas predict`
 * @param {boolean} after  the fit
 * @returns {Bins}
 */
function channelBins(channel, after) {
    return {
        title: channel.name,
        edges: [""],
        sizes: [channel.data.length],
        samples: channel.samples.map((one) => ({name: one.name, values: after ? one.postfit : one.prefit})),
        total: after ? channel.postfit : channel.prefit,
        error: after ? channel.error : channel.prefit_error,
        data: channel.data,
    };
}

/**
 * All channels as one row of bins.
 * @param {Bins[]} parts
 * @returns {Bins}
 */
function joinBins(parts) {
    const names = [...new Set(parts.flatMap((one) => one.samples.map((sample) => sample.name)))];
    const samples = names.map(
        (name) => ({
            name,
            values: parts.flatMap(
                (one) => one.samples.find((sample) => sample.name === name)?.values ?? one.data.map(() => 0)
            ),
        })
    );
    return {
        title: "all channels",
        edges: parts.map((one) => one.title),
        sizes: parts.map((one) => one.data.length),
        samples,
        total: parts.flatMap((one) => one.total),
        error: parts.every((one) => one.error) ? parts.flatMap((one) => one.error ?? []) : null,
        data: parts.flatMap((one) => one.data),
    };
}

/**
 * @param {SVGGElement} into
 * @param {string} id
 */
function hatching(into, id) {
    const lines =
        svg("path",
            {d: "M-1 1L1 -1M0 6L6 0M5 7L7 5", stroke: "var(--ink)", "stroke-width": 0.8, opacity: 0.75});
    into.append(svg("pattern", {id, width: 6, height: 6, patternUnits: "userSpaceOnUse"}, lines));
}

/**
 * The upper panel: stack, hatched error, data.
 * @param {Panel} frame
 * @param {Bins} bins
 * @param {Map<string, string>} colours
 * @param {string} hatch
 */
function drawStack(frame, bins, colours, hatch) {
    const n = bins.data.length;
    const sums = new Array(n).fill(0);
    for (const sample of bins.samples) {
        for (let k = 0; k < n; k++) {
            const [from, to] = [sums[k], sums[k] + sample.values[k]];
            sums[k] = to;
            const [upper, lower] = [
                frame.y.at(Math.max(from, to)),
                frame.y.at(Math.max(Math.min(from, to), frame.y.log ? 0 : -Infinity))
            ];
            const [left, right] = [frame.x.at(k), frame.x.at(k + 1)];
            frame.plot.append(
                svg("rect", {
                    x: left,
                    y: upper,
                    width: right - left,
                    height: Math.max(0, lower - upper),
                    fill: colours.get(sample.name)
                },
                    svg("title", {}, `${sample.name}: ${show(sample.values[k])}`))
            );
        }
    }
    /** @type {Array<[number, number]>} */
    const outline = [];
    for (let k = 0; k < n; k++)
        outline.push(
            [frame.x.at(k), frame.y.at(bins.total[k])], [frame.x.at(k + 1), frame.y.at(bins.total[k])]
        );
    frame.plot.append(path(outline, {"stroke-width": 1}));
    for (let k = 0; k < n; k++) {
        if (bins.error) {
            const [upper, lower] = [
                bins.total[k] + bins.error[k], bins.total[k] - bins.error[k]
            ].map((value) => frame.y.at(value));
            frame.plot.append(svg("rect", {
                x: frame.x.at(k),
                y: upper,
                width: frame.x.at(k + 1) - frame.x.at(k),
                height: lower - upper,
                fill: `url(#${hatch})`
            }));
        }
        const at = frame.x.at(k + 0.5);
        const [low, high] = poissonInterval(bins.data[k]).map((value) => frame.y.at(value));
        frame.plot.append(line(at, low, at, high, {"stroke-width": 1.4}));
        if (!frame.y.log || bins.data[k] > 0)
            frame.plot.append(
                svg("circle", {cx: at, cy: frame.y.at(bins.data[k]), r: 3.2, fill: "var(--ink)"})
            );
    }
}

/**
 * The lower panel: data over model.
 * @param {Panel} frame
 * @param {Bins} bins
 * @param {string} hatch
 */
function drawRatio(frame, bins, hatch) {
    frame.plot.append(
        line(frame.x.from, frame.y.at(1), frame.x.to, frame.y.at(1), {"stroke-dasharray": "2 3"})
    );
    bins.data.forEach((n, k) => {
        const total = bins.total[k];
        if (!(total > 0)) return;
        if (bins.error) {
            const part = bins.error[k] / total;
            const [upper, lower] = [frame.y.at(1 + part), frame.y.at(1 - part)];
            const place = {x: frame.x.at(k), y: upper, width: frame.x.at(k + 1) - frame.x.at(k)};
            frame.plot.append(svg("rect", {...place, height: lower - upper, fill: `url(#${hatch})`}));
        }
        const at = frame.x.at(k + 0.5);
        const [low, high] = poissonInterval(n).map((value) => frame.y.at(value / total));
        frame.plot.append(line(at, low, at, high, { "stroke-width": 1.4 }));
        frame.plot.append(svg("circle", { cx: at, cy: frame.y.at(n / total), r: 3, fill: "var(--ink)" }));
    });
}

/**
 * Names and borders of channels that stand beside each other.
 * @param {Panel} frame
 * @param {Bins} bins
 * @param {number} bottom
 */
function drawChannels(frame, bins, bottom) {
    let first = 0;
    bins.sizes.forEach((size, k) => {
        const [from, to] = [frame.x.at(first), frame.x.at(first + size)];
        const border = {stroke: "var(--faint)", "stroke-dasharray": "2 3"};
        if (k) frame.over.append(line(from, frame.y.to, from, bottom, border));
        const turn = `translate(${(from + to) / 2 + 4} ${bottom + 8}) rotate(-35)`;
        const font = {"text-anchor": "end", "font-size": 11, transform: turn};
        frame.over.append(label(0, 6, shortName(bins.edges[k], 18), font));
        first += size;
    });
}

/**
 * @param {number} width
 * @param {Bins} bins
 * @param {Map<string, string>} colours
 * @param {{title: string, high?: number}} options   high: end of the axis, for figures beside each other
 */
function yieldsFigure(width, bins, colours, options) {
    const joined = bins.sizes.length > 1;
    const under = joined ? 84 : 46;
    const shown = bins.samples.filter((one) => one.values.some((value) => value !== 0));
    const columns = Math.max(1, Math.floor((width - 60) / 130));
    const entries = [
        ...shown.slice().reverse().map(
            (one) => ({text: shortName(one.name, 14), fill: colours.get(one.name) ?? ""})
        ),
        {text: "model error", fill: ""}, {text: "data", fill: ""}
    ];
    const above = 22 + 16 * Math.ceil(entries.length / columns);
    const height = above + 300 + under;
    const figure = canvas(width, height, `${options.title}, ${bins.title}`);
    const hatch = `${figure.id}_hatch`;
    const definitions = svg("g");
    hatching(definitions, hatch);
    figure.root.append(definitions, label(52, 14, `${bins.title}, ${options.title}`, {"font-weight": 600}));
    entries.forEach((entry, k) => {
        const column = Math.floor(k / Math.ceil(entries.length / columns));
        const y = 30 + 16 * (k % Math.ceil(entries.length / columns));
        const fill = entry.text === "model error" ? `url(#${hatch})` : entry.fill;
        const point = {text: "data", line: {}, point: true};
        legend(definitions, 52 + column * 130, y, [entry.text === "data" ? point : {text: entry.text, fill}]);
    });
    const most = Math.max(
        ...bins.data.map((n) => poissonInterval(n)[1]),
        ...bins.total.map((value, k) => value + (bins.error?.[k] ?? 0)), 1e-6
    );
    const least = Math.min(...bins.total.filter((value) => value > 0), most);
    const log = most / least > 300;
    const high = options.high ?? (log ? most * 3 : most * 1.12);
    const left = 52, inner = width - left - 10;
    const n = bins.data.length;
    const upper = panel(
        figure, {left, top: above, width: inner, height: 210}, {low: 0, high: n, bare: true},
        {low: log ? Math.max(least / 3, 1e-3) : 0, high, label: "events", log}
    );
    drawStack(upper, bins, colours, hatch);
    upper.close();
    const lower = panel(
        figure, {left, top: above + 218, width: inner, height: 78}, {low: 0, high: n, bare: true},
        {low: 0.4, high: 1.6, label: "data / model", ticks: 3}
    );
    drawRatio(lower, bins, hatch);
    lower.close();
    const bottom = above + 296;
    if (joined)
        drawChannels(upper, bins, bottom);
    else {
        const every = Math.ceil(n / Math.max(4, inner / 40));
        for (let k = 0; k < n; k += every)
            lower.over.append(
                label(lower.x.at(k + 0.5), bottom + 16, String(k + 1), {"text-anchor": "middle"})
            );
        lower.over.append(label(lower.x.to, bottom + 34, "bin", {"text-anchor": "end"}));
    }
    return figure.root;
}

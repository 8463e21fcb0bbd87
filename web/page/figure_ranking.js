/* figure_ranking.js: impacts on the parameter of interest as bars, pulls as points. */

/**
 * @param {number} width
 * @param {RankingAnswer} answer   the document of `paritas ranking --json`
 */
function rankingFigure(width, answer) {
    const entries = answer.entries;
    const row = 20;
    const {most, room} = nameRoom(entries.map((one) => one.name), width);
    const height = entries.length * row + 116;
    const figure = canvas(width, height, `impacts of ${count(entries.length, "parameter")} on ${answer.poi}`);
    const sizes = entries.flatMap(
        (one) => [one.impact_up ?? one.impact, one.impact_down, one.prefit_up, one.prefit_down]
    );
    const far = 1.1 * Math.max(...sizes.map((size) => Math.abs(size ?? 0))) || 1;
    const place = {left: room, top: 70, width: width - room - 14, height: entries.length * row + 8};
    const frame =
        panel(figure, place, {low: -2, high: 2, label: PULL, ticks: 4}, {low: 0, high: 1, bare: true});
    const impact = new Scale(-far, far, frame.x.from, frame.x.to);
    const [top, bottom] = [frame.y.to, frame.y.from];
    entries.forEach((one, k) => {
        const y = top + 4 + row * k;
        /**
         * @param {number|null} size
         * @param {Record<string, any>} look
         */
        const bar = (size, look) => {
            if (size === null) return;
            const [from, to] = [impact.at(Math.min(0, size)), impact.at(Math.max(0, size))];
            frame.plot.append(svg("rect", { x: from, y: y + 3, width: to - from, height: row - 6, ...look }));
        };
        bar(one.prefit_up ?? null, { fill: "none", stroke: "var(--up)" });
        bar(one.prefit_down ?? null, { fill: "none", stroke: "var(--down)" });
        bar(one.impact_up ?? one.impact ?? null, { fill: "var(--up)", opacity: 0.75 });
        bar(one.impact_down ?? null, { fill: "var(--down)", opacity: 0.75 });
        const {pull} = one;
        if (pull !== null && one.constraint !== null) {
            const [from, to] = [-one.constraint, one.constraint].map((way) => frame.x.at(pull + way));
            frame.plot.append(line(from, y + row / 2, to, y + row / 2, { "stroke-width": 1.5 }));
            const point = {cx: frame.x.at(pull), cy: y + row / 2, r: 3, fill: "var(--ink)"};
            frame.plot.append(svg("circle", point));
        }
        const font = {"text-anchor": "end", "font-size": 11};
        frame.over.append(label(room - 8, y + row / 2 + 4, shortName(one.name, most), font));
    });
    for (const at of [-1, 0, 1])
        frame.plot.append(line(
            frame.x.at(at), top, frame.x.at(at), bottom,
            {"stroke-dasharray": at ? "5 4" : "2 3", opacity: 0.6}
        ));
    frame.close();
    for (const tick of impact.ticks(4))
        frame.over.append(label(impact.at(tick.value), top - 7, tick.label, {"text-anchor": "middle"}));
    frame.over.append(label(frame.x.to, top - 23, `Δ ${answer.poi}`, {"text-anchor": "end"}));
    const global = answer.impacts === "global";
    legend(frame.over, 12, 12, global ? [{text: "global impact", fill: "var(--up)"}] : [
        {text: "+1σ after the fit", fill: "var(--up)"}, {text: "−1σ after the fit", fill: "var(--down)"}
    ]);
    if (width >= 460) {
        const outlines = {text: "±1σ before the fit (outlines)", line: {stroke: "var(--up)"}};
        legend(frame.over, width / 2, 12, [
            {text: "pull and constraint", line: {}, point: true}, ...(global ? [] : [outlines])
        ]);
    }
    return figure.root;
}

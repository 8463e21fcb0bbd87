/* figure_correlations.js: the matrix of correlations, blue for -1, red for +1. */

/**
 * From white to a colour by the size of rho.
 * @param {number} rho
 */
function correlationColour(rho) {
    const end = rho < 0 ? [33, 102, 172] : [178, 24, 43];
    const part = Math.min(1, Math.abs(rho));
    return `rgb(${end.map((one) => Math.round(247 + (one - 247) * part)).join(",")})`;
}

/**
 * Correlations of the free parameters whose largest correlation with another is largest.
 * @param {FitAnswer} fit   the document of `paritas fit --covariance --json`
 * @param {number} most
 */
function largestCorrelations(fit, most) {
    /** @type {Array<{k: number, name: string, error: number, largest: number}>} */
    const free = [];
    fit.parameters.forEach((one, k) => {
        const error = Math.sqrt(fit.covariance[k][k]);
        if (error > 0) free.push({ k, name: one.name, error, largest: 0 });
    });
    /**
     * @param {{k: number, error: number}} a
     * @param {{k: number, error: number}} b
     */
    const rho = (a, b) => fit.covariance[a.k][b.k] / (a.error * b.error);
    for (const a of free)
        for (const b of free)
            if (a !== b) a.largest = Math.max(a.largest, Math.abs(rho(a, b)));
    const chosen = free.filter((one) => one.name === fit.poi || one.largest > 0);
    chosen.sort((a, b) => Number(b.name === fit.poi) - Number(a.name === fit.poi) || b.largest - a.largest);
    const shown = chosen.slice(0, most).sort((a, b) => a.k - b.k);
    return {names: shown.map((one) => one.name), matrix: shown.map((a) => shown.map((b) => rho(a, b)))};
}

/**
 * @param {number} width
 * @param {string[]} names
 * @param {number[][]} matrix
 */
function correlationsFigure(width, names, matrix) {
    const {most, room} = nameRoom(names, width);
    const cell = Math.min(34, (width - room - 16) / names.length);
    const size = cell * names.length;
    const under = Math.min(170, room * 0.74 + 8);
    const figure = canvas(width, size + under + 12, `correlations of ${count(names.length, "parameter")}`);
    const cells = svg("g");
    matrix.forEach((row, i) => row.forEach((rho, j) => {
        const place = { x: room + j * cell, y: 6 + i * cell, width: cell, height: cell };
        const text = `${names[i]}, ${names[j]}: ${show(rho, 3)}`;
        const look = {fill: correlationColour(rho), stroke: "#fff", "stroke-width": 0.5};
        cells.append(svg("rect", {...place, ...look}, svg("title", {}, text)));
        if (cell >= 26) {
            const fill = Math.abs(rho) > 0.6 ? "#fff" : "#111";
            const font = {"text-anchor": "middle", "font-size": 10, fill};
            const number = rho.toFixed(2).replace("-", "−");
            cells.append(label(place.x + cell / 2, place.y + cell / 2 + 3.5, number, font));
        }
    }));
    figure.root.append(cells);
    names.forEach((name, k) => {
        const middle = (k + 0.5) * cell;
        const font = {"text-anchor": "end", "font-size": Math.min(11, cell + 1)};
        figure.root.append(label(room - 6, 10 + middle, shortName(name, most), font));
        const turn = `translate(${room + middle + 3} ${size + 14}) rotate(-45)`;
        figure.root.append(label(0, 0, shortName(name, most), {...font, transform: turn}));
    });
    return figure.root;
}

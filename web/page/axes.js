/* axes.js: what every figure shares: scales, ticks, the frame, legends, and a figure's file.
 *
 * Colours are the variables of style.css, so that a figure follows light and dark. A downloaded figure has
 * the light ones. Ticks point inwards on all sides, as publications of the field have them. */

class Scale {
    /**
     * @param {number} low
     * @param {number} high   values at the ends
     * @param {number} from
     * @param {number} to    their places
     */
    constructor(low, high, from, to, log = false) {
        if (log) low = low > 0 ? low : 1e-3;
        if (!(high > low)) high = log ? low * 10 : low + 1;
        this.low = low;
        this.high = high;
        this.from = from;
        this.to = to;
        this.log = log;
    }

    /**
     * The place of a value; a log scale has values below its end at the end.
     * @param {number} value
     */
    at(value) {
        const part = this.log
            ? Math.log(Math.max(value, this.low * 1e-3) / this.low) / Math.log(this.high / this.low)
            : (value - this.low) / (this.high - this.low);
        return Math.round((this.from + part * (this.to - this.from)) * 100) / 100;
    }

    /** About `most` ticks at round values. */
    ticks(most = 6) {
        return this.log ? this.decades(most) : this.steps(most);
    }

    /** @param {number} most */
    steps(most) {
        const raw = (this.high - this.low) / Math.max(most, 2);
        const power = 10 ** Math.floor(Math.log10(raw));
        const step = [1, 2, 5, 10].map((n) => n * power).find((one) => one >= raw * 0.999) ?? 10 * power;
        const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
        const ticks = [];
        for (let k = Math.ceil(this.low / step - 1e-9); k * step <= this.high + 1e-9 * step; k++) {
            const value = k * step;
            const plain = Math.abs(value) < 1e6 && decimals < 6;
            const label = plain ? value.toFixed(decimals).replace("-", "−") : show(value, 3);
            ticks.push({value, label, power: /** @type {number|null} */ (null)});
        }
        return ticks;
    }

    /** @param {number} most */
    decades(most) {
        const first = Math.ceil(Math.log10(this.low) - 1e-9);
        const last = Math.floor(Math.log10(this.high) + 1e-9);
        const every = Math.max(1, Math.ceil((last - first + 1) / most));
        const ticks = [];
        for (let k = first; k <= last; k += every) {
            const plain = k >= -2 && k <= 3;
            ticks.push({
                value: 10 ** k,
                label: plain ? String(Number((10 ** k).toPrecision(1))) : "10",
                power: plain ? null : k
            });
        }
        return ticks;
    }

    /** Values of the small ticks. */
    minor(most = 6) {
        if (!this.log) {
            const ticks = this.steps(most);
            if (ticks.length < 2) return [];
            const part = (ticks[1].value - ticks[0].value) / 5;
            const values = [];
            for (let k = Math.ceil(this.low / part); k * part <= this.high; k++) values.push(k * part);
            return values;
        }
        const values = [];
        for (let k = Math.floor(Math.log10(this.low)); k <= Math.log10(this.high); k++) {
            for (let n = 2; n < 10; n++) {
                const value = n * 10 ** k;
                if (value >= this.low && value <= this.high) values.push(value);
            }
        }
        return values;
    }
}

/**
 * @param {number} x
 * @param {number} y
 * @param {string|Node} text
 * @param {Record<string, any>} [attributes]
 */
function label(x, y, text, attributes = {}) {
    return svg("text", {x, y, fill: "var(--ink)", ...attributes}, text);
}

/**
 * @param {number} x1
 * @param {number} y1
 * @param {number} x2
 * @param {number} y2
 * @param {Record<string, any>} [attributes]
 */
function line(x1, y1, x2, y2, attributes = {}) {
    return svg("line", {x1, y1, x2, y2, stroke: "var(--ink)", ...attributes});
}

/**
 * A line through places.
 * @param {Array<[number, number]>} places
 * @param {Record<string, any>} [attributes]
 */
function path(places, attributes = {}) {
    const d = places.map(([x, y], k) => `${k ? "L" : "M"}${x} ${y}`).join("");
    return svg("path", {
        d,
        fill: "none",
        stroke: "var(--ink)",
        "stroke-width": 1.6,
        "stroke-linejoin": "round",
        ...attributes
    });
}

/**
 * The area between two lines.
 * @param {Array<[number, number]>} upper
 * @param {Array<[number, number]>} lower
 * @param {string} fill
 */
function area(upper, lower, fill) {
    return path([...upper, ...lower.slice().reverse()], {fill, stroke: "none"});
}

let figures = 0; /* ids of clip paths and patterns are unique on the page */

/**
 * An empty figure. `title` is what a screen reader says.
 * @param {number} width
 * @param {number} height
 * @param {string} title
 */
function canvas(width, height, title) {
    figures += 1;
    const root = svg("svg", {
        viewBox: `0 0 ${width} ${height}`,
        width,
        height,
        role: "img",
        "aria-label": title,
        "font-family": "system-ui, Helvetica, Arial, sans-serif",
        "font-size": 12,
    });
    return {root, id: `figure${figures}`};
}

/**
 * @typedef {object} Axis
 * @property {number} low
 * @property {number} high
 * @property {string} [label]
 * @property {boolean} [log]
 * @property {boolean} [bare]    without ticks and numbers
 * @property {number} [ticks]    about so many
 *
 * @typedef {object} Panel
 * @property {SVGGElement} plot   clipped to the frame; draw here
 * @property {SVGGElement} over   above the frame, not clipped
 * @property {Scale} x
 * @property {Scale} y
 * @property {() => void} close   draws frame and ticks on top
 */

/**
 * Ticks of one axis on both of its sides, with numbers on one.
 * @param {SVGGElement} into
 * @param {Scale} scale
 * @param {Scale} other
 * @param {boolean} across
 * @param {number} most
 */
function drawTicks(into, scale, other, across, most) {
    const [near, far] = [other.from, other.to];
    const inward = Math.sign(far - near);
    /**
     * @param {number} value
     * @param {number} size
     */
    const mark = (value, size) => {
        const at = scale.at(value);
        for (const [end, way] of [[near, inward], [far, -inward]]) {
            into.append(across ? line(at, end, at, end + way * size) : line(end, at, end + way * size, at));
        }
    };
    for (const value of scale.minor(most)) mark(value, 3);
    for (const tick of scale.ticks(most)) {
        mark(tick.value, 6);
        const at = scale.at(tick.value);
        const text = across ? label(at, near + 16, tick.label, {"text-anchor": "middle"})
                            : label(near - 6, at + 4, tick.label, {"text-anchor": "end"});
        if (tick.power !== null)
            text.append(svg(
                "tspan", {"baseline-shift": "super", "font-size": 9}, String(tick.power).replace("-", "−")
            ));
        into.append(text);
    }
}

/**
 * A frame with two axes inside a figure.
 * @param {{root: SVGSVGElement, id: string}} figure
 * @param {{left: number, top: number, width: number, height: number}} place  of the frame
 * @param {Axis} horizontal
 * @param {Axis} vertical
 * @returns {Panel}
 */
function panel(figure, place, horizontal, vertical) {
    const {left, top, width, height} = place;
    const x = new Scale(horizontal.low, horizontal.high, left, left + width, horizontal.log);
    const y = new Scale(vertical.low, vertical.high, top + height, top, vertical.log);
    const clip = `${figure.id}_${figure.root.childNodes.length}`;
    const plot = svg("g", {"clip-path": `url(#${clip})`});
    const over = svg("g");
    figure.root.append(
        svg("clipPath", {id: clip}, svg("rect", {x: left, y: top, width, height})), plot, over
    );
    const close = () => {
        const frame = svg("g", { "stroke-width": 1 });
        frame.append(svg("rect", { x: left, y: top, width, height, fill: "none", stroke: "var(--ink)" }));
        const across = horizontal.ticks ?? Math.max(3, Math.round(width / 75));
        const up = vertical.ticks ?? Math.max(3, Math.round(height / 42));
        const end = {"text-anchor": "end"};
        if (!horizontal.bare) drawTicks(frame, x, y, true, across);
        if (!vertical.bare) drawTicks(frame, y, x, false, up);
        if (horizontal.label) frame.append(label(left + width, top + height + 34, horizontal.label, end));
        if (vertical.label) {
            const turn = `translate(14 ${top}) rotate(-90)`;
            frame.append(label(0, 0, vertical.label, {...end, transform: turn}));
        }
        figure.root.insertBefore(frame, over);
    };
    return {plot, over, x, y, close};
}

/**
 * A legend, an entry a line.
 * @param {SVGGElement} into
 * @param {number} x
 * @param {number} y
 * @param {Array<{text: string, line?: Record<string, any>, fill?: string, point?: boolean}>} entries
 */
function legend(into, x, y, entries) {
    entries.forEach((entry, k) => {
        const middle = y + 16 * k;
        const box = {x, y: middle - 6, width: 22, height: 11};
        if (entry.fill) into.append(svg("rect", {...box, fill: entry.fill}));
        if (entry.line) into.append(line(x, middle, x + 22, middle, { "stroke-width": 1.6, ...entry.line }));
        if (entry.point) into.append(svg("circle", { cx: x + 11, cy: middle, r: 3.2, fill: "var(--ink)" }));
        into.append(label(x + 28, middle + 4, entry.text));
    });
}

/**
 * The text of a figure's own file: light colours, written out.
 * @param {SVGSVGElement} figure
 */
function figureFile(figure) {
    const light = getComputedStyle(byId("light-colours"));
    const copy = /** @type {SVGSVGElement} */ (figure.cloneNode(true));
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    const size = /** @type {string} */ (copy.getAttribute("viewBox")).split(" ");
    copy.prepend(svg("rect", {width: size[2], height: size[3], fill: "var(--paper)"}));
    const text = new XMLSerializer().serializeToString(copy);
    return text.replace(/var\((--[a-z0-9-]+)\)/g, (_, name) => light.getPropertyValue(name).trim()) + "\n";
}

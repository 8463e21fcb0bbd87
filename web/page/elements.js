/* elements.js: makes elements of HTML and SVG, and writes numbers as people read them. */

/**
 * @param {Element} element
 * @param {Record<string, any>} attributes  onNAME: a listener; true: without value; false, null: left out
 * @param {Array<Node|string|null>} children
 */
function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith("on"))
            element.addEventListener(name.slice(2), value);
        else if (value === true)
            element.setAttribute(name, "");
        else if (value !== false && value !== null && value !== undefined)
            element.setAttribute(name, String(value));
    }
    for (const child of children)
        if (child !== null) element.append(child);
    return element;
}

/**
 * A member of a document by a name that anybody chose. `constructor` of every object is none of its own.
 * @param {Record<string, any>} document
 * @param {string} name
 */
function own(document, name) {
    return Object.prototype.hasOwnProperty.call(document, name) ? document[name] : undefined;
}

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Record<string, any>} [attributes]
 * @param {...(Node|string|null)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
function html(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    fill(element, attributes, children);
    return element;
}

/**
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} name
 * @param {Record<string, any>} [attributes]
 * @param {...(Node|string|null)} children
 * @returns {SVGElementTagNameMap[K]}
 */
function svg(name, attributes = {}, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    fill(element, attributes, children);
    return element;
}

/**
 * A field with its label.
 * @param {string} text
 * @param {HTMLElement} field
 */
function labelled(text, field) {
    return html("label", {}, html("span", {}, text), field);
}

/**
 * A choice of names; `chosen` is the one at the start.
 * @param {string[]} names
 * @param {string|null} chosen
 * @param {(name: string) => void} [act]
 */
function choice(names, chosen, act) {
    const options = names.map((one) => html("option", {value: one, selected: one === chosen}, one || "none"));
    const select = html("select", {}, ...options);
    if (act) select.addEventListener("change", () => act(select.value));
    return select;
}

/**
 * The element of index.html with this id.
 * @param {string} id
 * @returns {HTMLElement}
 */
function byId(id) {
    const element = document.getElementById(id);
    if (!element) throw new Error(`the page has no element #${id}`);
    return element;
}

/**
 * A number with `digits` significant digits, a true minus sign, and no needless zeros.
 * @param {number|null|undefined} value
 */
function show(value, digits = 4) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
    const size = Math.abs(value);
    let text = value.toPrecision(digits);
    if (size !== 0 && (size < 1e-4 || size >= 1e7)) {
        text = value.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e");
    } else if (text.includes("e"))
        text = String(Number(text));
    else if (text.includes("."))
        text = text.replace(/\.?0+$/, "");
    return text.replace(/-/g, "−");
}

/**
 * 1 channel, 2 channels.
 * @param {number} n
 * @param {string} word
 */
function count(n, word, plural = `${word}s`) {
    return `${n.toLocaleString("en")} ${n === 1 ? word : plural}`;
}

/**
 * Lets the browser save bytes or text as a file.
 * @param {string} name
 * @param {BlobPart} content
 */
function download(name, content, type = "application/octet-stream") {
    const address = URL.createObjectURL(new Blob([content], {type}));
    const link = html("a", {href: address, download: name});
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/* card.js: a section of the page: controls, figures, tables, and the commands whose answers it shows. */

class Card {
    /**
     * @param {string} id
     * @param {string} title
     * @param {string} about
     * @param {boolean} [wide]
     */
    constructor(id, title, about, wide = false) {
        this.id = id;
        this.title = title;
        this.controls = html(
            "form", {class: "controls", onsubmit: (/** @type {Event} */ event) => event.preventDefault()}
        );
        this.state = html("p", {class: "state", role: "status"});
        this.body = html("div", {class: "body"});
        this.foot = html("footer");
        const heading = html("h2", {id: `${id}-title`}, title);
        this.root = html(
            "section",
            {id, class: wide ? "card wide" : "card", "aria-labelledby": `${id}-title`, tabindex: "-1"},
            heading, html("p", {class: "about"}, about), this.controls, this.state, this.body, this.foot
        );
        /** @type {Array<() => void>} */
        this.redraws = [];
        this.wide = wide;
        /** @type {OptionForm|null} */
        this.form = null;
    }

    /** The words of the card's options. */
    words() {
        return this.form?.words().flat() ?? [];
    }

    /**
     * The fields of a command's options, in place of those of another.
     * @param {OptionForm} form
     */
    offer(form) {
        if (this.form)
            this.form.root.replaceWith(form.root);
        else
            this.controls.append(form.root);
        this.form = form;
    }

    /** Removes what is shown, not the controls. */
    clear() {
        this.redraws = [];
        this.body.replaceChildren();
        this.foot.replaceChildren();
        this.say("");
    }

    /**
     * @param {string} text
     * @param {boolean} [busy]
     */
    say(text, busy = false) {
        this.state.textContent = text;
        this.state.classList.toggle("busy", busy);
    }

    /**
     * The program's message in full.
     * @param {string} text
     */
    fail(text) {
        this.say("");
        this.body.append(html("pre", {class: "failure", role: "alert"}, text.trim()));
    }

    /**
     * Remarks of the program beside an answer.
     * @param {string} text
     */
    note(text) {
        if (text.trim()) this.body.append(html("pre", {class: "note"}, text.trim()));
    }

    /**
     * The answer in large print: what was asked, in words and numbers.
     * @param {...(Node|string)} parts
     */
    headline(...parts) {
        this.body.append(html("p", {class: "headline"}, ...parts));
    }

    /** The room for a figure, in pixels. */
    width() {
        return Math.max(280, Math.min(this.body.clientWidth || 560, this.wide ? 1160 : 720));
    }

    /**
     * A figure that is drawn again when the room changes.
     * @param {string} name   of its file, without .svg
     * @param {(width: number) => SVGSVGElement} draw
     * @param {Element} [into]
     */
    figure(name, draw, into = this.body) {
        const place = html("div", {class: "drawing"});
        const save = html("button", { type: "button", class: "small", onclick: () => {
            const drawn = place.querySelector("svg");
            if (drawn) download(`${name}.svg`, figureFile(drawn), "image/svg+xml");
        } }, "SVG");
        save.setAttribute("aria-label", `Download the figure ${name} as SVG`);
        into.append(html("figure", {}, place, save));
        const redraw = () => place.replaceChildren(
            draw(Math.min(this.width(), into === this.body ? Infinity : into.clientWidth || Infinity))
        );
        this.redraws.push(redraw);
        redraw();
        return redraw;
    }

    /**
     * A table that opens on demand.
     * @param {string} summary
     * @param {string[]} head
     * @param {Array<Array<string|number|null>>} rows
     * @param {boolean} [open]
     */
    table(summary, head, rows, open = false) {
        const cells = rows.map(
            (row) => html(
                "tr", {},
                ...row.map(
                    (one, k) => {
                        if (k === 0) return html("th", {scope: "row"}, String(one));
                        if (typeof one === "string") return html("td", {class: "text"}, one);
                        return html("td", {}, show(one, 5));
                    }
                )
            )
        );
        const titles = head.map((one, k) => {
            const text = k > 0 && typeof rows[0]?.[k] === "string";
            return html("th", {scope: "col", class: text ? "text" : null}, one);
        });
        const table =
            html("table", {}, html("thead", {}, html("tr", {}, ...titles)), html("tbody", {}, ...cells));
        this.body.append(html(
            "details", {open}, html("summary", {}, summary),
            html("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": summary}, table)
        ));
    }

    /**
     * The command of an answer, and its document to download.
     * @param {Answer} answer
     * @param {string} name  of the file
     */
    command(answer, name) {
        this.commandText(commandLine(answer.args), answer.text, name);
        const time = answer.ms < 1000 ? `${Math.round(answer.ms)} ms` : `${show(answer.ms / 1000, 3)} s`;
        this.foot.lastElementChild?.append(html("span", {class: "time"}, time));
    }

    /**
     * @param {string} text   command lines
     * @param {string} document
     * @param {string} name
     */
    commandText(text, document, name) {
        const copy = html("button", { type: "button", class: "small", onclick: async () => {
            try {
                await navigator.clipboard.writeText(text);
                copy.textContent = "Copied";
            } catch {
                getSelection()?.selectAllChildren(code);
            }
        } }, "Copy");
        copy.setAttribute("aria-label", `Copy the command: ${text}`);
        const code = html("code", {}, text);
        const save = html(
            "button",
            {type: "button", class: "small", onclick: () => download(name, document, "application/json")},
            "JSON"
        );
        save.setAttribute("aria-label", `Download ${name}`);
        this.foot.append(html("div", {class: "command"}, code, copy, save));
    }

    /**
     * A field of the controls with its label.
     * @param {string} text
     * @param {HTMLInputElement|HTMLSelectElement} input
     */
    field(text, input) {
        this.controls.append(html("label", {}, html("span", {}, text), input));
        return input;
    }

    /**
     * @param {string} text
     * @param {number|string} value
     * @param {Record<string, any>} [attributes]
     */
    number(text, value, attributes = {}) {
        return /** @type {HTMLInputElement} */ (
            this.field(text, html("input", {type: "number", value, step: "any", ...attributes}))
        );
    }

    /**
     * @param {string} text
     * @param {string[]} choices
     * @param {string} [chosen]
     */
    select(text, choices, chosen) {
        const options = choices.map((one) => html("option", {value: one, selected: one === chosen}, one));
        return /** @type {HTMLSelectElement} */ (this.field(text, html("select", {}, ...options)));
    }

    /**
     * @param {string} text
     * @param {() => void} act
     */
    button(text, act) {
        const button = html("button", {type: "button", onclick: act}, text);
        this.controls.append(button);
        return button;
    }
}

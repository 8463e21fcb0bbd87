/* view_losscone.js: a day file of Lunar Prospector's Electron Reflectometer: table and figures. */

/**
 * Rows of a CSV of the program: comments begin with #, names stand in the first line.
 * @param {string} text
 * @returns {Array<Record<string, string>>}
 */
function csvRows(text) {
    const lines = text.split("\n").filter((one) => one && !one.startsWith("#"));
    const names = (lines.shift() ?? "").split(",");
    return lines.map((one) => Object.fromEntries(one.split(",").map((value, k) => [names[k], value])));
}

/**
 * @param {Record<string, string>} row
 * @returns {Sweep}
 */
function sweepOf(row) {
    const tail = row.preferred === "folded" ? "_folded" : "";
    const of = (/** @type {string} */ name) => parseFloat(row[`${name}${tail}`]);
    const potential = of("potential");
    return {
        spectrum: Number(row.spectrum),
        potential,
        good: row.good === "1",
        lower: Math.min(of("potential_lower"), of("confidence_lower") || Infinity),
        upper: Math.max(of("potential_upper"), of("confidence_upper") || -Infinity)
    };
}

/** Columns of the CSV that the page shows. */
const SHOWN_COLUMNS = [
    "spectrum", "utc", "status", "quality", "preferred", "potential", "potential_lower", "potential_upper",
    "ratio", "misfit", "potential_folded", "spacecraft_potential"
];

/** A day file's fits, with the sweep that is chosen. */
class Day {
    /**
     * @param {Card} card
     * @param {Context} context
     * @param {string[]} options
     */
    constructor(card, context, options) {
        this.card = card;
        this.context = context;
        this.options = options;
        this.file = context.study.day ?? "";
        this.date = "";
        /** @type {Array<Record<string, string>>} */
        this.rows = [];
        /** @type {Sweep[]} */
        this.sweeps = [];
        this.chosen = 0;
        this.redraw = () => {};
        this.profile = html("div");
    }

    /** Fits all sweeps, offers the tables, draws the potentials. */
    async show() {
        const {card} = this;
        const args = ["losscone", "fit", this.file, ...this.options, "-o", "tables", "--json"];
        const answer = await this.context.run(args);
        const result = documentOf(answer).days[0];
        this.date = result.date;
        card.clear();
        card.note(answer.error);
        card.command(answer, `losscone_${result.date}.json`);
        this.offer(answer.files);
        const good = `${result.good} of ${count(result.sweeps, "sweep")} good`;
        card.headline(good, result.good ? `, median potential ${show(result.medians.potential)} V` : "");
        this.sweeps = this.rows.map(sweepOf).filter((one) => Number.isFinite(one.potential));
        if (this.sweeps.length) await this.draw();
        card.table("Table (columns of the CSV in part)", SHOWN_COLUMNS, this.rows.map((row) => {
            return SHOWN_COLUMNS.map((name) => {
                const value = row[name] ?? "";
                return value === "" || Number.isNaN(Number(value)) ? value : Number(value);
            });
        }));
    }

    /**
     * Buttons for the tables.
     * @param {Map<string, Uint8Array>} files
     */
    offer(files) {
        for (const [path_, bytes] of files) {
            const name = path_.slice(path_.lastIndexOf("/") + 1);
            if (!/^losscone.*\.(csv|npz)$/.test(name)) continue;
            const save = html("button", {type: "button", class: "small"}, name);
            save.addEventListener("click", () => download(name, bytes));
            this.card.foot.append(save);
            if (name.endsWith(".csv")) this.rows = csvRows(new TextDecoder().decode(bytes));
        }
    }

    /** The potentials, and the misfit of the first sweep. */
    async draw() {
        const {card} = this;
        this.chosen = this.sweeps[0].spectrum;
        const name = `losscone_${this.date}`;
        this.redraw =
            card.figure(name, (width) => potentialsFigure(width, this.sweeps, this.date, this.chosen));
        const select = choice(this.sweeps.map((one) => String(one.spectrum)), null, (chosen) => {
            this.choose(Number(chosen)).catch((error) => {
                if (!(error instanceof Stopped)) card.fail(error.message);
            });
        });
        card.body.append(html("div", {class: "controls"}, labelled("Spectrum", select)), this.profile);
        await this.choose(this.chosen);
    }

    /**
     * Shows the misfit of a sweep.
     * @param {number} spectrum
     */
    async choose(spectrum) {
        const {card} = this;
        this.chosen = spectrum;
        this.redraw();
        const args =
            ["losscone", "profile", this.file, ...this.options, "--spectrum", String(spectrum), "--json"];
        const answer = await this.context.run(args);
        const document = documentOf(answer);
        if (this.chosen !== spectrum) return;
        this.profile.replaceChildren();
        card.foot.querySelector(".profile")?.remove();
        card.command(answer, `losscone_profile_${spectrum}.json`);
        card.foot.lastElementChild?.classList.add("profile");
        card.figure(`losscone_profile_${spectrum}`, (width) => profileFigure(width, document), this.profile);
    }
}

/** @type {View} */
const lossconeView = {
    id: "losscone",
    title: "Loss cones",
    about:
        "Surface potential of the Moon for each sweep. Filled points are good, bars are the plateau with " +
        "its confidence set. Choose a sweep to see its misfit.",
    wide: true,
    controls(card, context, again) {
        const {study} = context;
        const table = study.truth ? ["table"] : [];
        const hint = study.truth ? `from ${study.truth}` : "from the plasma";
        const potential = card.number("Spacecraft potential [V]", "", {placeholder: hint});
        const polarity = card.select("Polarity", [...table, "-1", "+1"]);
        const light = card.select("Spacecraft in", [...table, "sun", "shade"]);
        for (const one of [potential, polarity, light]) one.addEventListener("change", again);
    },
    async show(card, context) {
        const {study} = context;
        const fields = [...card.controls.querySelectorAll("input, select")];
        const [potential, polarity, light] = fields.map((one) => /** @type {HTMLInputElement} */ (one).value);
        const options = [];
        if (study.truth) options.push("--geometry", study.truth);
        if (potential || study.truth)
            options.push("--spacecraft-potential", potential || (study.truth ?? ""));
        if (polarity !== "table") options.push("--polarity", polarity);
        if (light !== "table") options.push("--illumination", light);
        card.say(`The sweeps of ${study.day} are fitted …`, true);
        await new Day(card, context, options).show();
    },
};

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
        const potential = card.number("Spacecraft potential [V]", "", {
            placeholder: study.truth ? `from ${study.truth}` : "from the plasma"
        });
        const polarity = card.select("Polarity", study.truth ? ["table", "-1", "+1"] : ["-1", "+1"]);
        const light =
            card.select("Spacecraft in", study.truth ? ["table", "sun", "shade"] : ["sun", "shade"]);
        for (const one of [potential, polarity, light]) one.addEventListener("change", again);
    },
    async show(card, context) {
        const {study} = context;
        const day = study.day ?? "";
        const [potential, polarity, light] = [...card.controls.querySelectorAll("input, select")].map(
            (one) => /** @type {HTMLInputElement} */ (one).value
        );
        /** @type {string[]} */
        const options = [];
        if (study.truth) options.push("--geometry", study.truth);
        if (potential || study.truth)
            options.push("--spacecraft-potential", potential || (study.truth ?? ""));
        if (polarity !== "table") options.push("--polarity", polarity);
        if (light !== "table") options.push("--illumination", light);
        card.say(`The sweeps of ${day} are fitted …`, true);
        const args = ["losscone", "fit", day, ...options, "-o", "tables", "--json"];
        const answer = await context.run(args);
        const result = documentOf(answer).days[0];
        card.clear();
        card.note(answer.error);
        card.command(answer, `losscone_${result.date}.json`);
        for (const [path_, bytes] of answer.files) {
            const name = path_.slice(path_.lastIndexOf("/") + 1);
            if (/\.(csv|npz)$/.test(name) && name.startsWith("losscone"))
                card.foot.append(html(
                    "button", {type: "button", class: "small", onclick: () => download(name, bytes)}, name
                ));
        }
        const csv = [...answer.files].find(([name]) => name.endsWith(`losscone_${result.date}.csv`));
        const rows = csv ? csvRows(new TextDecoder().decode(csv[1])) : [];
        const sweeps = rows.map(sweepOf).filter((one) => Number.isFinite(one.potential));
        card.headline(
            `${result.good} of ${count(result.sweeps, "sweep")} good`,
            result.good ? `, median potential ${show(result.medians.potential)} V` : ""
        );
        if (!sweeps.length) return;
        let chosen = sweeps[0].spectrum;
        const place = html("div", {});
        const redraw = card.figure(
            `losscone_${result.date}`, (width) => potentialsFigure(width, sweeps, result.date, chosen)
        );
        const select = choice(sweeps.map((one) => String(one.spectrum)), null, () => profile());
        card.body.append(html("div", {class: "controls"}, labelled("Spectrum", select)), place);
        const profile = async () => {
            chosen = Number(select.value);
            redraw();
            const args = ["losscone", "profile", day, ...options, "--spectrum", String(chosen), "--json"];
            const profiled = await context.run(args);
            const document = documentOf(profiled);
            place.replaceChildren();
            card.foot.querySelector(".profile")?.remove();
            card.command(profiled, `losscone_profile_${chosen}.json`);
            card.foot.lastElementChild?.classList.add("profile");
            card.figure(`losscone_profile_${chosen}`, (width) => profileFigure(width, document), place);
        };
        const columns = [
            "spectrum", "utc", "status", "quality", "preferred", "potential", "potential_lower",
            "potential_upper", "ratio", "misfit", "potential_folded", "spacecraft_potential"
        ];
        card.table(
            "Table (columns of the CSV in part)", columns,
            rows.map(
                (row) => columns.map(
                    (name) =>
                        (row[name] === "" || Number.isNaN(Number(row[name])) ? row[name] : Number(row[name]))
                )
            )
        );
        await profile();
    },
};

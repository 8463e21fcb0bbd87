/* view_patches.js: CLs of every signal point of a patch set, and the exclusion contour. */

/**
 * Signal points on a plane of two of the patches' values; others must have the value `held`.
 * @param {Study} study
 * @param {Map<string, PatchAnswer>} answers
 * @param {number} x
 * @param {number} y
 * @param {Map<number, string>} held
 * @returns {Signal[]}
 */
function signalsOf(study, answers, x, y, held) {
    return study.patches
        .filter((one) => [...held].every(([k, value]) => String(one.values[k]) === value))
        .map((one) => {
            const answer = answers.get(one.name);
            const [observed, expected] = [answer?.CLs_obs ?? null, answer?.CLs_exp ?? null];
            return {name: one.name, x: Number(one.values[x]), y: Number(one.values[y]), observed, expected};
        });
}

/** @typedef {TestAnswer & {name: string}} PatchAnswer */

/**
 * The start of file names for downloads.
 * @param {Study} study
 */
function patchsetName(study) {
    return (study.patchset ?? "").replace(/\.json$/i, "").replace(/[\\/]/g, "_");
}

/** CLs at which a signal point is excluded. */
const EXCLUSION_LEVEL = 0.05;

/** The fits of a patch set, in parts over the workers. */
class PatchRun {
    /**
     * @param {Context} context
     * @param {() => void} heard   after each answer
     */
    constructor(context, heard) {
        this.context = context;
        this.heard = heard;
        /** @type {Map<string, PatchAnswer>} */
        this.answers = new Map();
        /** @type {Set<string>} */
        this.errors = new Set();
        /** @type {string[]} */
        this.texts = [];
        const {study} = context;
        this.args = ["hypotest", study.workspace ?? "", ...modelArguments(study, true), "--json"];
    }

    /** Runs all parts. */
    async run() {
        const {study, workers} = this.context;
        const text = new TextDecoder().decode(study.files.get(study.patchset ?? ""));
        const size = Math.max(1, Math.min(16, Math.ceil(study.patches.length / (2 * workers.most))));
        const parts = cutPatchset(text, size);
        this.texts = parts.map(() => "");
        await Promise.all(parts.map((part, k) => this.runPart(part, k)));
    }

    /**
     * @param {string} part
     * @param {number} k
     */
    async runPart(part, k) {
        const {study, workers} = this.context;
        const files = filesOf(study, this.args);
        files.set(study.patchset ?? "", new TextEncoder().encode(part));
        let rest = "";
        const answer = await workers.run(this.args, files, study, (piece) => {
            const lines = (rest + piece).split("\n");
            rest = lines.pop() ?? "";
            for (const line of lines.filter(Boolean)) {
                const one = JSON.parse(line);
                this.answers.set(one.name, one);
            }
            this.heard();
        });
        this.texts[k] = answer.text;
        if (answer.error) this.errors.add(answer.error.trim());
    }

    /** How many signal points are excluded. */
    excluded() {
        return [...this.answers.values()].filter((one) => one.CLs_obs < EXCLUSION_LEVEL).length;
    }
}

/** @type {View} */
const patchesView = {
    id: "patches",
    title: "Patch set",
    about: "CLs at a signal strength of 1 for every signal point. The contours join points of CLs = 0.05, " +
        "by triangles in which the logarithm of CLs is linear.",
    wide: true,
    async show(card, context) {
        const {study} = context;
        const points = count(study.patches.length, "signal point");
        card.clear();
        const run = new PatchRun(context, () => {
            card.say(`${run.answers.size} of ${points}`, true);
            plane.redraw();
        });
        const plane = new Plane(card, study, run.answers);
        card.say(`${points} …`, true);
        await run.run();
        if (run.answers.size === 0) throw new Error([...run.errors].join("\n"));
        plane.redraw();
        card.say(`${run.excluded()} of ${points} excluded at 95 % CL.`);
        for (const error of run.errors) card.note(error);
        const name = `${patchsetName(study)}_hypotest.jsonl`;
        card.commandText(commandLine(run.args), run.texts.join(""), name);
        const head = ["patch", ...plane.labels, "CLs", "−1σ", "expected", "+1σ", "status"];
        card.table("Signal points", head, study.patches.map((one) => {
            const answer = run.answers.get(one.name);
            const values = plane.labels.map((_, k) => Number(one.values[k]));
            if (!answer) return [one.name, ...values, null, null, null, null, "no answer"];
            return [one.name, ...values, answer.CLs_obs, ...answer.CLs_exp.slice(1, 4), answer.status];
        }));
    },
};

/** The plane's figure, with choices of its axes and of the values that are held. */
class Plane {
    /**
     * @param {Card} card
     * @param {Study} study
     * @param {Map<string, PatchAnswer>} answers
     */
    constructor(card, study, answers) {
        this.study = study;
        this.answers = answers;
        const values = study.patches[0]?.values ?? [];
        this.labels = study.labels.length ? study.labels : values.map((_, k) => `value ${k + 1}`);
        const all = this.labels.map((_, k) => k);
        this.numeric =
            all.filter((k) => study.patches.every((one) => Number.isFinite(Number(one.values[k]))));
        this.others = html("span", {class: "controls"});
        /** @type {Map<number, HTMLSelectElement>} */
        this.held = new Map();
        this.redraw = () => {};
        const names = this.numeric.map((k) => this.labels[k]);
        const [across, up] = this.widest();
        this.x = choice(names, this.labels[across], () => this.choose());
        this.y = choice(names, this.labels[up], () => this.choose());
        if (this.numeric.length < 2) {
            card.body.append(
                html("p", {}, "The patches have fewer than two numbers each: no plane is drawn.")
            );
            return;
        }
        const fields = [labelled("Across", this.x), labelled("Up", this.y), this.others];
        card.body.append(html("div", {class: "controls"}, ...fields));
        this.choose();
        const name = `${patchsetName(study)}_plane`;
        this.redraw = card.figure(name, (width) => this.draw(Math.min(width, 760)));
    }

    /** The two values of the patches that differ most often. */
    widest() {
        /** @param {number} k */
        const spread = (k) => new Set(this.study.patches.map((one) => one.values[k])).size;
        const order = this.numeric.slice().sort((a, b) => spread(b) - spread(a));
        return order.slice(0, 2).sort((a, b) => a - b);
    }

    /** Offers the values that are not an axis, the most frequent one first. */
    choose() {
        this.held.clear();
        const axes = [this.x.value, this.y.value];
        for (const k of this.numeric.filter((one) => !axes.includes(this.labels[one]))) {
            /** @type {Map<string, number>} */
            const times = new Map();
            for (const one of this.study.patches) {
                const value = String(one.values[k]);
                times.set(value, (times.get(value) ?? 0) + 1);
            }
            const names = [...times].sort((a, b) => b[1] - a[1]).map((one) => one[0]);
            this.held.set(k, choice([...names, "any"], names[0], () => this.redraw()));
        }
        this.others.replaceChildren(...[...this.held].map(([k, one]) => labelled(this.labels[k], one)));
        this.redraw();
    }

    /** @param {number} width */
    draw(width) {
        const chosen = [...this.held].filter((one) => one[1].value !== "any");
        const held = new Map(chosen.map(([k, select]) => [k, select.value]));
        const [x, y] = [this.x.value, this.y.value];
        const [across, up] = [this.labels.indexOf(x), this.labels.indexOf(y)];
        const signals = signalsOf(this.study, this.answers, across, up, held);
        return planeFigure(width, signals, {x, y, level: EXCLUSION_LEVEL});
    }
}

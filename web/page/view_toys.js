/* view_toys.js: CLs by toys, in shards over the workers, with the rows so far drawn as they come.
 *
 * Toy t depends on the seed and t alone: the merged result does not depend on the number of workers. */

/** Toys of a shard: enough that opening the model again costs little, few enough that the figure lives. */
const SHARD_TOYS = {
    least: 250,
    most: 2000,
    shards: 40
};

/** Milliseconds between two drawings of a run that goes on. */
const REDRAW_EVERY = 250;

/**
 * The rows of a store of the engine (web/engine/README.md): an array a line, in the order of `columns`.
 * @param {Uint8Array} store
 * @returns {{columns: string[], rows: Array<Array<number|string|null>>}}
 */
function storeRows(store) {
    const [first, ...lines] = new TextDecoder().decode(store).split("\n");
    const rows = lines.filter((one) => one.startsWith("[")).map((one) => JSON.parse(one));
    return {columns: JSON.parse(first).columns, rows};
}

/**
 * q below which the given parts of the sorted values lie.
 * @param {number[]} sorted
 */
function bandCuts(sorted) {
    const last = sorted.length - 1;
    return [
        0.0228, 0.1587, 0.5, 0.8413, 0.9772
    ].map((part) => sorted[Math.min(last, Math.floor(part * (last + 1)))]);
}

/** A run of toys: its options, its shards so far, q of its toys. */
class ToyRun {
    /**
     * @param {Context} context
     * @param {{mu: string, ntoys: number, seed: string, statistic: string}} options
     */
    constructor(context, options) {
        this.context = context;
        this.options = options;
        const {least, most, shards} = SHARD_TOYS;
        const size = Math.min(most, Math.max(least, options.ntoys / shards));
        this.shards = Math.max(1, Math.ceil(options.ntoys / size));
        /** @type {Map<number, Uint8Array>} */
        this.stores = new Map();
        /** @type {number[]} */
        this.signal = [];
        /** @type {number[]} */
        this.background = [];
        /** @type {number|null} */
        this.observed = null;
        this.start = performance.now();
        this.stopped = false;
    }

    /**
     * The command of a shard.
     * @param {number|string} shard
     */
    command(shard) {
        const {mu, ntoys, seed, statistic} = this.options;
        const options = ["--mu", mu, "--ntoys", String(ntoys), "--seed", seed];
        if (statistic !== "qtilde") options.push("--test-stat", statistic);
        options.push("--shard", `${shard}/${this.shards}`, "--store", `toys.${shard}`);
        return modelCommand(this.context.study, "hypotest-toys", ...options);
    }

    /**
     * Runs all shards, until they are stopped.
     * @param {() => void} heard   after each
     */
    async run(heard) {
        const numbers = Array.from({length: this.shards}, (_, k) => k + 1);
        const ends = await Promise.allSettled(numbers.map((shard) => this.runShard(shard, heard)));
        for (const end of ends) {
            if (end.status === "rejected" && !(end.reason instanceof Stopped)) throw end.reason;
        }
    }

    /**
     * @param {number} shard
     * @param {() => void} heard
     */
    async runShard(shard, heard) {
        const {study, workers} = this.context;
        const args = this.command(shard);
        const answer = await workers.run(args, filesOf(study, args), this);
        const store = answer.files.get(`toys.${shard}`);
        if (!store || !answer.text) {
            workers.stop(this);
            throw new Error(answer.error || `paritas ended with exit code ${answer.status}`);
        }
        this.stores.set(shard, store);
        this.observed = JSON.parse(answer.text).q;
        const {columns, rows} = storeRows(store);
        const [hypothesis, q] = [columns.indexOf("hypothesis"), columns.indexOf("q")];
        for (const row of rows) {
            if (row[q] !== null) (row[hypothesis] === 0 ? this.background : this.signal).push(Number(row[q]));
        }
        heard();
    }

    stop() {
        this.stopped = true;
        this.context.workers.stop(this);
    }

    toys() {
        return this.signal.length + this.background.length;
    }

    rate() {
        return this.toys() / Math.max(1e-3, (performance.now() - this.start) / 1000);
    }

    /** One result of the shards that are there. */
    merge() {
        const shards = [...this.stores.keys()].sort((a, b) => a - b);
        const files = new Map([...this.stores].map(([shard, store]) => [`toys.${shard}`, store]));
        const args = ["merge", ...shards.map((shard) => `toys.${shard}`), "-o", "toys", "--json"];
        return this.context.workers.run(args, files, this);
    }

    /** The lines for a shell whose last one has the bytes of the merged result. */
    lines() {
        const shards = [...this.stores.keys()].sort((a, b) => a - b);
        const whole = shards.length === this.shards;
        const list = whole ? `$(seq ${this.shards})` : shards.join(" ");
        const stores =
            whole && this.shards > 1 ? `toys.{1..${this.shards}}` : shards.map((k) => `toys.${k}`).join(" ");
        const shard = commandLine(this.command("@")).replace(/@/g, "$i");
        const loop = `for i in ${list}; do\n    ${shard} >/dev/null\ndone`;
        return `${loop}\nparitas merge ${stores} -o toys --json`;
    }
}

/**
 * Draws the toys so far.
 * @param {Card} card
 * @param {ToyRun} run
 */
function drawToys(card, run) {
    const cuts = bandCuts(run.background.slice().sort((a, b) => a - b));
    const {mu, statistic} = run.options;
    const about =
        {observed: run.observed, mu: show(Number(mu)), statistic: statistic === "qtilde" ? "q̃" : "q", cuts};
    const name = fileName(run.context, "toys");
    card.figure(name, (width) => toysFigure(width, run.signal, run.background, about));
}

/**
 * Draws toys until all are there or the user stops, then shows the merged result.
 * @param {Card} card
 * @param {ToyRun} run
 */
async function showToys(card, run) {
    card.clear();
    card.say("The first toys are fitted …", true);
    let drawn = -Infinity;
    await run.run(() => {
        const [done, all] = [run.toys(), 2 * run.options.ntoys].map((one) => one.toLocaleString("en"));
        card.say(`${done} of ${all} toys, ${show(run.rate(), 3)} a second`, true);
        if (performance.now() < drawn + REDRAW_EVERY) return;
        drawn = performance.now();
        card.body.replaceChildren();
        card.redraws = [];
        drawToys(card, run);
    });
    const rate = run.rate();
    if (run.stores.size === 0) {
        card.clear();
        card.say("Stopped before the first toys were fitted.");
        return;
    }
    const answer = await run.merge();
    const result = documentOf(answer);
    card.clear();
    card.note(answer.error);
    const ended = run.stopped ? `Stopped after ${run.stores.size} of ${count(run.shards, "shard")}: ` : "";
    card.say(`${ended}${run.toys().toLocaleString("en")} toys, ${show(rate, 3)} a second.`);
    toyResult(card, run, result);
    card.commandText(run.lines(), answer.text, `${fileName(run.context, "toys")}.json`);
    const {columns, rows} = storeRows(/** @type {Uint8Array} */ (answer.files.get("toys")));
    const text = [columns, ...rows].map((row) => row.join(",")).join("\n");
    const save = html("button", {type: "button", class: "small"}, "Rows (CSV)");
    const name = `${fileName(run.context, "toys")}.csv`;
    save.addEventListener("click", () => download(name, `${text}\n`, "text/csv"));
    card.foot.append(save);
}

/**
 * @param {Card} card
 * @param {ToyRun} run
 * @param {any} result   of `paritas merge --json`
 */
function toyResult(card, run, result) {
    const expected = `${show(result.CLs_exp[2], 3)} ± ${show(result.CLs_exp_error[2], 2)} expected`;
    const observed = ` ± ${show(result.CLs_obs_error, 2)} observed, `;
    card.headline("CLs = ", html("strong", {}, show(result.CLs_obs, 3)), observed, expected);
    drawToys(card, run);
    const band = ["−2σ", "−1σ", "median", "+1σ", "+2σ"];
    card.table("Results", ["", "value", "error"], [
        ["CLs", result.CLs_obs, result.CLs_obs_error],
        ["CLs+b", result.CLsb, result.CLsb_error],
        ["CLb", result.CLb, result.CLb_error],
        ...band.map((name, k) => [`CLs expected, ${name}`, result.CLs_exp[k], result.CLs_exp_error[k]]),
    ]);
}

/** @type {View} */
const toysView = {
    id: "toys",
    title: "Toys",
    about: "CLs by toys: each one is drawn, then fitted freely and with the parameter fixed. Toy number t " +
        "depends on the seed and t alone.",
    controls(card, context) {
        const mu = card.number("Tested value", 1);
        const ntoys = card.number("Toys of each hypothesis", 2000, {min: 10, max: 1000000, step: 1});
        const seed = card.number("Seed", 0, {min: 0, step: 1});
        const statistic = card.select("Test statistic", ["qtilde", "q"]);
        /** @type {ToyRun|null} */
        let run = null;
        runButtons(card, "Draw toys", () => {
            const n = Math.max(10, Math.floor(Number(ntoys.value)));
            const options = {mu: mu.value, ntoys: n, seed: seed.value, statistic: statistic.value};
            run = new ToyRun(context, options);
            return showToys(card, run);
        }, () => run?.stop());
    },
    async show(card, context) {
        card.say(context.model.poi ? "" : "The model has no parameter of interest.");
    },
};

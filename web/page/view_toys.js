/* view_toys.js: CLs by toys, in shards over the workers, with the rows so far drawn as they come.
 *
 * Toy t depends on the seed and t alone: the merged result does not depend on the number of workers. */

const TOYS_OF_A_SHARD = 100;

/** @typedef {{hypothesis: number, q: number}} ToyRow */

/**
 * The rows of a store that the engine in the page writes: a JSON text a line, the first one about the run.
 * @param {Uint8Array} store
 * @returns {ToyRow[]}
 */
function toyRows(store) {
    const lines = new TextDecoder().decode(store).split("\n");
    return lines.filter((one) => one.includes("\"q\""))
        .map((one) => JSON.parse(one))
        .filter((one) => Number.isFinite(one.q));
}

/**
 * q below which the given parts of the sorted values lie.
 * @param {number[]} sorted
 */
function bandCuts(sorted) {
    return [
        0.0228, 0.1587, 0.5, 0.8413, 0.9772
    ].map((part) => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]);
}

/** A run of toys: its options, its shards so far, its rows. */
class ToyRun {
    /**
     * @param {Context} context
     * @param {{mu: string, ntoys: number, seed: string, statistic: string}} options
     */
    constructor(context, options) {
        this.context = context;
        this.options = options;
        this.shards = Math.max(1, Math.ceil(options.ntoys / TOYS_OF_A_SHARD));
        /** @type {Map<number, Uint8Array>} */
        this.stores = new Map();
        /** @type {number[]} */
        this.signal = [];
        /** @type {number[]} */
        this.background = [];
        this.observed = /** @type {number|null} */ (null);
        this.start = performance.now();
        this.stopped = false;
    }

    /**
     * @param {number|string} shard
     * @param {string} store
     */
    command(shard, store) {
        const {mu, ntoys, seed, statistic} = this.options;
        const options = ["--mu", mu, "--ntoys", String(ntoys), "--seed", seed];
        if (statistic !== "qtilde") options.push("--test-stat", statistic);
        return modelCommand(
            this.context.study, "hypotest-toys", ...options, "--shard", `${shard}/${this.shards}`, "--store",
            store
        );
    }

    /**
     * Runs all shards; `heard` after each.
     * @param {() => void} heard
     */
    async run(heard) {
        const {study, workers} = this.context;
        const one = async (/** @type {number} */ shard) => {
            const name = `toys.${shard}`;
            const args = this.command(shard, name);
            const answer = await workers.run(args, filesOf(study, args), this);
            const store = answer.files.get(name);
            if (!store) throw new Error(answer.error || `paritas ended with exit code ${answer.status}`);
            this.stores.set(shard, store);
            this.observed = JSON.parse(answer.text).q;
            for (const row of toyRows(store)) {
                (row.hypothesis > 0 ? this.signal : this.background).push(row.q);
            }
            heard();
        };
        const all = [];
        for (let shard = 1; shard <= this.shards; shard++) all.push(one(shard));
        const ends = await Promise.allSettled(all);
        for (const end of ends)
            if (end.status === "rejected" && !(end.reason instanceof Stopped)) throw end.reason;
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
    async merge() {
        const shards = [...this.stores.keys()].sort((a, b) => a - b);
        const names = shards.map((one) => `toys.${one}`);
        const files =
            new Map(shards.map((one, k) => [names[k], /** @type {Uint8Array} */ (this.stores.get(one))]));
        const answer =
            await this.context.workers.run(["merge", ...names, "-o", "toys", "--json"], files, this);
        const list = shards.length === this.shards ? `$(seq ${this.shards})` : shards.join(" ");
        const shard = commandLine(this.command("@", "toys.@"))
                          .replace(/@/g, "$i")
                          .replace(" --json", " --quiet --json");
        const lines = [
            `for i in ${list}; do`, `    ${shard} >/dev/null`, "done",
            `paritas merge ${
                names.length > 4 ? `$(printf 'toys.%d ' ${list})` : names.join(" ")} -o toys --json`
        ];
        return {answer, text: lines.join("\n")};
    }
}

/**
 * @param {Card} card
 * @param {ToyRun} run
 */
function drawToys(card, run) {
    const cuts = bandCuts(run.background.slice().sort((a, b) => a - b));
    const {mu, statistic} = run.options;
    return card.figure(
        fileName(run.context, "toys"), (width) => toysFigure(width, run.signal, run.background, {
                                           observed: run.observed,
                                           mu: show(Number(mu)),
                                           statistic: statistic === "qtilde" ? "q̃" : "q",
                                           cuts
                                       })
    );
}

/** @type {View} */
const toysView = {
    id: "toys",
    title: "Toys",
    about: "CLs by toys: each one is drawn, then fitted freely and with the parameter held. Toy number t " +
        "depends on the seed and t alone.",
    controls(card, context) {
        const mu = card.number("Tested value", 1);
        const ntoys = card.number("Toys of each hypothesis", 2000, {min: 10, max: 1000000, step: 1});
        const seed = card.number("Seed", 0, {min: 0, step: 1});
        const statistic = card.select("Test statistic", ["qtilde", "q"]);
        /** @type {ToyRun|null} */
        let run = null;
        const stop = card.button("Stop", () => run?.stop());
        const begin = card.button("Draw toys", async () => {
            const n = Math.max(10, Math.floor(Number(ntoys.value)));
            const options = {mu: mu.value, ntoys: n, seed: seed.value, statistic: statistic.value};
            const own = new ToyRun(context, options);
            run = own;
            begin.disabled = true;
            stop.disabled = false;
            card.clear();
            card.say("The first toys are fitted …", true);
            try {
                await own.run(() => {
                    const top = card.root.getBoundingClientRect();
                    const [done, all] = [own.toys(), 2 * n].map((one) => one.toLocaleString("en"));
                    card.say(`${done} of ${all} toys, ${show(own.rate(), 3)} a second`, true);
                    card.body.replaceChildren();
                    card.redraws = [];
                    drawToys(card, own);
                    if (top.height < 200) card.root.scrollIntoView({ block: "nearest" });
                });
                await finishToys(card, own);
            } catch (error) {
                card.fail(error instanceof Error ? error.message : String(error));
            }
            begin.disabled = false;
            stop.disabled = true;
        });
        card.controls.append(stop);
        stop.disabled = true;
    },
    async show(card, context) {
        const poi = context.model.poi;
        card.say(poi ? "" : "The model has no parameter of interest.");
    },
};

/**
 * @param {Card} card
 * @param {ToyRun} run
 */
async function finishToys(card, run) {
    const rate = run.rate();
    if (run.stores.size === 0) {
        card.clear();
        card.say("Stopped before the first toys were fitted.");
        return;
    }
    const {answer, text} = await run.merge();
    const result = documentOf(answer);
    card.clear();
    card.note(answer.error);
    card.headline(
        "CLs = ", html("strong", {}, show(result.CLs_obs, 3)),
        ` ± ${show(result.CLs_obs_error, 2)} observed, ${show(result.CLs_exp[2], 3)} ± ${
            show(result.CLs_exp_error[2], 2)} expected`
    );
    const ended = run.stopped ? `Stopped after ${run.stores.size} of ${count(run.shards, "shard")}: ` : "";
    card.say(`${ended}${run.toys().toLocaleString("en")} toys, ${show(rate, 3)} a second.`);
    drawToys(card, run);
    card.table("Results", ["", "value", "error"], [
        ["CLs", result.CLs_obs, result.CLs_obs_error], ["CLs+b", result.CLsb, result.CLsb_error],
        ["CLb", result.CLb, result.CLb_error],
        ...["−2σ", "−1σ", "median", "+1σ", "+2σ"].map(
            (name, k) => [`CLs expected, ${name}`, result.CLs_exp[k], result.CLs_exp_error[k]]
        )
    ]);
    card.commandText(text, answer.text, `${fileName(run.context, "toys")}.json`);
    const rows = [
        "hypothesis,q", ...run.signal.map((q) => `1,${q}`), ...run.background.map((q) => `0,${q}`)
    ].join("\n");
    const save = html(
        "button", {
            type: "button",
            class: "small",
            onclick: () => download(`${fileName(run.context, "toys")}.csv`, `${rows}\n`, "text/csv")
        },
        "Rows (CSV)"
    );
    card.foot.append(save);
}

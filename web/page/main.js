/* main.js: starts the page: files by drop, choice or example, then every view that fits them.
 *
 *   #example=NAME&view=ID&patch=NAME   a link to a shipped example, one of its views, one of its patches */

/** @type {View[]} */
const MODEL_VIEWS = [
    overviewView, limitView, fitView, rankingView, scanView, yieldsView, exploreView, testsView, toysView,
    sampleView, commandsView
];

/** Options of the page's head, for all results; `inspect` knows the first alone. */
const SHARED_OPTIONS = ["--mask", "--asimov", "--prefit", "--data", "--toy", "--fix", "--init", "--range"];

const TITLE = document.title;
const NOTHING_LEAVES = byId("given").textContent;

/** Milliseconds for which the limit, which most wait for, has the processor alone. */
const LIMIT_ALONE = 500;

class Page {
    constructor() {
        const cores = navigator.hardwareConcurrency || 2;
        this.workers = new Workers(Math.max(1, Math.min(cores, 8)));
        this.place = byId("views");
        this.links = byId("links");
        /** @type {Study|null} */
        this.study = null;
        /** @type {Context|null} */
        this.context = null;
        /** @type {Card[]} */
        this.cards = [];
        this.example = "";
        /**
         * All files that were given, also those that wait for a workspace.
         * @type {Study|null}
         */
        this.given = null;
    }

    /**
     * Files that the user gives; archives are opened.
     * @param {File[]} given
     */
    async take(given) {
        try {
            const files = [];
            const archives = [];
            for (const one of given) {
                const bytes = new Uint8Array(await one.arrayBuffer());
                const opened = await unpack(one.name, bytes);
                if (opened.length !== 1 || opened[0][1] !== bytes) archives.push(one.name);
                files.push(...opened);
            }
            this.add(studyOf(files, archives));
        } catch (error) {
            this.fail(error instanceof Error ? error.message : String(error));
        }
    }

    /**
     * A message above what is shown, which stays.
     * @param {string} text
     * @param {"failure"|"note"} kind
     */
    fail(text, kind = "failure") {
        const message = byId("message");
        message.replaceChildren(html("pre", {class: kind}, text.trim()));
        message.scrollIntoView({block: "nearest"});
    }

    reset() {
        this.workers.stop(null);
        this.context?.live?.stop();
        this.cards = [];
        this.place.replaceChildren();
        this.links.replaceChildren();
        byId("choices").replaceChildren();
        byId("message").replaceChildren();
        byId("welcome").hidden = true;
    }

    /** The page as it was at the start. */
    home() {
        this.reset();
        this.study = this.context = this.given = null;
        this.example = "";
        byId("given").textContent = NOTHING_LEAVES;
        document.title = TITLE;
        byId("welcome").hidden = false;
    }

    /**
     * Shows new files. What lacks a workspace or a day joins the files that were given before.
     * @param {Study} given
     */
    add(given) {
        const joins = this.given !== null && !(isWhole(this.given) && isWhole(given));
        const useless = [...given.kinds.values()].every((kind) => ["other", "xml", "root"].includes(kind));
        const study = this.given && joins ? joined(this.given, given) : given;
        if (useless || !isWhole(study)) {
            if (!useless) this.given = study;
            this.fail(missing(useless ? given : study), useless ? "failure" : "note");
            return;
        }
        this.example = "";
        this.given = study;
        this.open(study);
    }

    /**
     * Shows a study from the start.
     * @param {Study} study
     */
    open(study) {
        this.reset();
        this.study = study;
        /** @type {Context} */
        const context = {
            study,
            model: /** @type {any} */ (null),
            fit: null,
            predicted: null,
            live: null,
            workers: this.workers,
            run: (args) => this.workers.run(args, filesOf(study, args), study),
            give: (files) => this.add(studyOf(files, [])),
        };
        this.context = context;
        listFiles(study);
        byId("given").textContent = EXAMPLES.get(this.example) ?? givenNames(study);
        document.title = `${study.workspace ?? study.day}: Paritas`;
        this.fileChoices(study);
        if (study.workspace)
            this.showModel(context);
        else
            this.showDay(context);
    }

    /** @param {Context} context */
    async showDay(context) {
        await this.addView(lossconeView, context);
        this.follow();
    }

    /** @param {Context} context */
    async showModel(context) {
        const views = [...MODEL_VIEWS];
        if (context.study.patchset) views.splice(2, 0, patchesView);
        const entries = views.map((view) => ({view, card: this.card(view)}));
        this.follow();
        const by = (/** @type {View} */ view) =>
            /** @type {{card: Card}} */ (entries.find((one) => one.view === view)).card;
        const first = this.showView(limitView, by(limitView), context);
        await Promise.race([first, new Promise((done) => setTimeout(done, LIMIT_ALONE))]);
        await this.showView(overviewView, by(overviewView), context);
        if (context !== this.context) return;
        if (!context.model) {
            for (const {view, card} of entries)
                if (view !== overviewView) card.root.remove();
            this.links.replaceChildren();
            this.offerBare(by(overviewView), context.study);
            return;
        }
        this.modelChoices(context);
        const last = [overviewView, limitView, patchesView]; /* many fits: the others do not wait for them */
        for (const {view, card} of entries)
            if (!last.includes(view)) this.showView(view, card, context);
        if (context.study.patchset) this.showView(patchesView, by(patchesView), context);
        await first;
    }

    /**
     * The way back from a patch or patch set that the program refuses.
     * @param {Card} card
     * @param {Study} study
     */
    offerBare(card, study) {
        if (!study.patchset && !study.patchFiles.length) return;
        const bare = {...study, patchFiles: []};
        choosePatchset(bare, null);
        const text = `Show ${study.workspace} without ${study.patchset ?? study.patchFiles.join(", ")}`;
        card.body.append(html("button", {type: "button", onclick: () => this.change(bare)}, text));
    }

    /** @param {View} view */
    card(view) {
        const card = new Card(view.id, view.title, view.about, view.wide);
        this.cards.push(card);
        this.place.append(card.root);
        const example = this.example ? `example=${this.example}&` : "";
        this.links.append(html("a", {href: `#${example}view=${view.id}`}, view.title));
        return card;
    }

    /**
     * @param {View} view
     * @param {Context} context
     */
    async addView(view, context) {
        await this.showView(view, this.card(view), context);
    }

    /**
     * Shows one view; a failure is shown in it, in full.
     * @param {View} view
     * @param {Card} card
     * @param {Context} context
     */
    async showView(view, card, context) {
        let runs = 0;
        /** @param {number} own */
        const run = async (own) => {
            if (own !== runs) return;
            card.say("…", true);
            try {
                await view.show(card, context);
                if (card.state.textContent === "…") card.say("");
            } catch (error) {
                if (error instanceof Stopped) return;
                card.clear();
                card.fail(error instanceof Error ? error.message : String(error));
            }
            card.root.dataset.shown = String(runs);
        };
        /* one after the other, so that the newest answer stays; of those that wait, only the newest runs */
        let last = Promise.resolve();
        const show = () => {
            runs += 1;
            const own = runs;
            last = last.then(() => run(own));
            return last;
        };
        /* if the engine has stopped, the command says why */
        await this.offerOptions(view, card, context, show).catch(() => {});
        if (context !== this.context) return;
        view.controls?.(card, context, show);
        await show();
    }

    /**
     * The options of a view's command. A change gives a new answer, unless the view waits for a button.
     * @param {View} view
     * @param {Card} card
     * @param {Context} context
     * @param {() => void} again
     */
    async offerOptions(view, card, context, again) {
        if (!view.command) return;
        const shown = view.shown ?? [];
        const options = freeOptions(await this.workers.help(view.command));
        const form = new OptionForm(options, context, shown.map((one) => one[0]));
        form.set(shown.filter((one) => one.length > 1));
        if (!view.draw) form.root.addEventListener("change", again);
        card.offer(form);
    }

    /**
     * The choices that files alone give: workspace and patch.
     * @param {Study} study
     */
    fileChoices(study) {
        /** @param {FileKind} kind */
        const of = (kind) => [...study.kinds].filter((one) => one[1] === kind).map((one) => one[0]);
        /**
         * @param {string} text
         * @param {string[]} names
         * @param {string|null} chosen
         * @param {(name: string) => Partial<Study>} changes
         */
        const add = (text, names, chosen, changes) => {
            const select = choice(names, chosen, (name) => this.change(changes(name)));
            byId("choices").append(labelled(text, select));
        };
        if (of("workspace").length > 1) {
            add("Workspace", of("workspace"), study.workspace, (workspace) => {
                const other = {...study, workspace, measurement: null, poi: null, shared: []};
                choosePatchset(other, patchsetBeside(other));
                return other;
            });
        }
        if (!study.workspace && of("day").length > 1) add("Day", of("day"), study.day, (day) => ({day}));
        if (study.patchset) {
            const names = study.patches.map((one) => one.name);
            add("Signal point", names, study.patchName, (patchName) => ({patchName}));
        } else if (of("patch").length) {
            const names = ["", ...of("patch")];
            add("Patch", names, study.patchFiles[0] ?? "", (name) => ({patchFiles: name ? [name] : []}));
        }
    }

    /**
     * The choices of the model: measurement, parameter of interest.
     * @param {Context} context
     */
    modelChoices({study, model}) {
        const place = byId("choices");
        const measurements = model.measurements.map((one) => one[0]);
        if (measurements.length > 1) {
            /** @param {string} name */
            const act = (name) => this.change({measurement: name, poi: null});
            place.append(labelled("Measurement", choice(measurements, study.measurement, act)));
        }
        const names = model.model_parameters.filter((one) => !one.fixed).map((one) => one.name);
        const select =
            choice(model.poi ? names : ["", ...names], model.poi ?? "", (poi) => this.change({poi}));
        place.append(labelled("Parameter of interest", select));
        this.sharedOptions(place);
    }

    /**
     * The options of all results: masks, blinding, other data.
     * @param {HTMLElement} place
     */
    async sharedOptions(place) {
        const {context} = this;
        if (!context) return;
        const {options} = await this.workers.help("fit");
        const form = new OptionForm(
            options.filter((one) => SHARED_OPTIONS.includes(one.name)), context, [], "Options of all results"
        );
        form.set(context.study.shared);
        form.root.querySelector("details")?.toggleAttribute("open", context.study.shared.length > 0);
        form.root.addEventListener("change", () => this.change({shared: form.words()}));
        if (context === this.context) place.append(form.root);
    }

    /**
     * Shows the same files with other choices.
     * @param {Partial<Study>} changes
     */
    change(changes) {
        if (!this.study) return;
        const study = {...this.study, ...changes};
        if (this.example) {
            const patch = study.patchName ? `&patch=${encodeURIComponent(study.patchName)}` : "";
            history.replaceState(null, "", `#example=${this.example}${patch}`);
        }
        this.open(study);
    }

    /** Goes to the view that the address names. */
    follow() {
        const {view} = hashOptions();
        const card = this.cards.find((one) => one.id === view);
        if (!card) return;
        card.root.scrollIntoView();
        card.root.focus({preventScroll: true});
    }

    /** @param {string} name  of an example */
    async openExample(name) {
        if (!EXAMPLES.has(name)) {
            this.fail(`There is no example ${name}. Examples: ${[...EXAMPLES.keys()].join(", ")}.`);
            return;
        }
        this.example = name;
        /** @type {Files} */
        let files;
        try {
            files = await loadExample(name, this.workers);
        } catch (error) {
            this.fail(`The example ${name}: ${error instanceof Error ? error.message : error}`);
            return;
        }
        if (this.example !== name) return;
        const study = this.given = studyOf(files, []);
        const {patch} = hashOptions();
        if (study.patches.some((one) => one.name === patch)) study.patchName = patch;
        this.open(study);
    }
}

/**
 * The names of the files, and of the archives that they came from.
 * @param {Study} study
 */
function givenNames(study) {
    const names = [...study.files.keys()];
    const more = names.length > 4 ? ` and ${names.length - 4} more` : "";
    const from = study.archives.length ? `, out of ${study.archives.join(", ")}` : "";
    return names.slice(0, 4).join(", ") + more + from;
}

/** Options behind # in the address. */
function hashOptions() {
    const options = new URLSearchParams(location.hash.slice(1));
    return {
        example: options.get("example") ?? "",
        view: options.get("view") ?? "",
        patch: options.get("patch") ?? ""
    };
}

/** @param {Page} page */
function listen(page) {
    const input = /** @type {HTMLInputElement} */ (byId("files"));
    input.addEventListener("change", () => {
        if (input.files?.length) page.take([...input.files]);
        input.value = "";
    });
    addEventListener("dragover", (event) => {
        event.preventDefault();
        document.body.classList.add("dropping");
    });
    addEventListener("dragleave", (event) => {
        if (!event.relatedTarget) document.body.classList.remove("dropping");
    });
    addEventListener("drop", (event) => {
        event.preventDefault();
        document.body.classList.remove("dropping");
        if (event.dataTransfer?.files.length) page.take([...event.dataTransfer.files]);
    });
    addEventListener("hashchange", () => {
        const {example, view} = hashOptions();
        if (example && example !== page.example) page.openExample(example);
        else if (!example && !view && page.example) page.home();
        else page.follow();
    });
    document.querySelector("h1 a")?.addEventListener("click", (event) => {
        event.preventDefault();
        if (location.hash) history.pushState(null, "", "#");
        page.home();
    });
    let width = innerWidth;
    let timer = 0;
    addEventListener("resize", () => {
        if (innerWidth === width) return;
        width = innerWidth;
        clearTimeout(timer);
        timer = setTimeout(() => {
            for (const card of page.cards) for (const redraw of card.redraws) redraw();
        }, 150);
    });
}

/**
 * Starts the engine, and says at the page's foot how it computes.
 * @param {Page} page
 */
async function startEngine(page) {
    try {
        await page.workers.start();
        const fused = await Engine.isFused();
        const answer = await page.workers.run(["--version"], new Map(), page.workers);
        byId("engine").textContent =
            `${answer.text.trim()}, WebAssembly, ${count(page.workers.most, "worker")} at most. ${
                fused ? "" : "This browser does not fuse multiply and add: the same bits take longer."}`;
        page.workers.warm().catch(() => {}); /* without it the first answers take longer */
    } catch (error) {
        page.fail(
            `The engine does not start in this browser: ${error instanceof Error ? error.message : error}`
        );
    }
}

/** Draws the page for the first time. */
function main() {
    const page = new Page();
    const list = byId("examples");
    for (const [name, about] of EXAMPLES)
        list.append(html("li", {}, html("a", {href: `#example=${name}`}, name), ` – ${about}`));
    listen(page);
    const {example} = hashOptions();
    addEventListener("load", () => startEngine(page));
    if (example) page.openExample(example);
}

/* examples/NAME.js calls it by this name */
Object.assign(globalThis, {paritasExample});
main();

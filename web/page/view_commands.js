/* view_commands.js: any command of the program, run when asked, and its answer as tables. */

/** More rows than this are not shown; the download has them all. */
const MOST_ROWS = 500;

/** A longer text says nothing in a cell. */
const MOST_LETTERS = 160;

/**
 * A value of a document as a cell of a table.
 * @param {any} value
 * @returns {string|number|null}
 */
function cellOf(value) {
    if (value === null || typeof value === "number" || typeof value === "string") return value;
    if (typeof value === "boolean") return value ? "yes" : "no";
    const text = Array.isArray(value) && value.every((one) => typeof one !== "object" || one === null)
        ? value.map((one) => String(cellOf(typeof one === "number" ? show(one) : one))).join(", ")
        : JSON.stringify(value);
    return text.length > MOST_LETTERS ? count(Object.keys(value).length, "value") : text;
}

/** @param {any} value */
function isRecords(value) {
    return Array.isArray(value) && value.length > 0 &&
        value.every((one) => one && typeof one === "object" && !Array.isArray(one));
}

/**
 * Tables of a document: each list of records, the longest ones cut, then the other values.
 * @param {Card} card
 * @param {any} document
 */
function showTables(card, document) {
    const entries = Object.entries(document);
    const [lists, plain] =
        [true, false].map((wanted) => entries.filter((one) => isRecords(one[1]) === wanted));
    for (const [name, records] of lists) {
        const head = [...new Set(records.flatMap((/** @type {any} */ one) => Object.keys(one)))];
        const shown = records.slice(0, MOST_ROWS);
        const title = shown.length < records.length ? `${name}, ${shown.length} of ${records.length}` : name;
        card.table(title, head, shown.map((/** @type {any} */ one) => head.map((key, k) => {
            const cell = cellOf(own(one, key) ?? null);
            return k === 0 && typeof cell === "number" ? show(cell, 6) : cell;
        })), true);
    }
    card.table(
        "Values", ["", "value"], plain.map(([name, value]) => [name, cellOf(value)]), lists.length === 0
    );
}

/**
 * Files that a command wrote: to download, and for the options of other commands.
 * @param {Card} card
 * @param {Context} context
 * @param {Map<string, Uint8Array>} files
 */
function keepFiles(card, {study}, files) {
    for (const [name, bytes] of files) {
        study.files.set(name, bytes);
        study.kinds.set(name, "other");
        const save = html("button", {type: "button", class: "small"}, name);
        save.addEventListener("click", () => download(name, bytes));
        card.foot.append(save);
    }
    listFiles(study);
}

/**
 * Suggests the study's files to options that take one.
 * @param {Study} study
 */
function listFiles(study) {
    const options = [...study.files.keys()].map((one) => html("option", {value: one}));
    byId("known-files").replaceChildren(...options);
}

/**
 * Runs a command with the card's options, and shows the answer.
 * @param {Card} card
 * @param {Context} context
 * @param {string} command
 * @param {string[]} operands   beside the workspace
 * @param {View["draw"]} [draw]
 */
async function runCommand(card, context, command, operands, draw) {
    const {study, workers} = context;
    const help = await workers.help(command);
    const takes = /WORKSPACE|^FILE/.test(help.operands[0] ?? "");
    const names = takes ? [study.workspace ?? "", ...operands] : operands;
    const known = help.options.map((one) => one.name);
    const own = card.form?.words() ?? [];
    /* an option of the card takes the place of that for all results */
    const shared = modelOptions(
                       study, command === "look-elsewhere"
    ).filter(([name]) => known.includes(name) && !own.some((one) => one[0] === name));
    const args = [command, ...names, ...shared.flat(), ...own.flat(), "--json"];
    card.clear();
    card.say(`paritas ${command} …`, true);
    const answer = await workers.run(args, filesOf(study, args), card);
    card.clear();
    if (answer.text.trim() === "" && answer.files.size === 0) documentOf(answer);
    card.note(answer.error);
    const output = own.find(([name]) => name === "--output-file")?.[1] ?? "";
    const text = answer.text || new TextDecoder().decode(answer.files.get(output));
    card.command({...answer, text}, `${fileName(context, command)}.json`);
    keepFiles(card, context, answer.files);
    if (text) showAnswer(card, context, command, text, draw);
}

/**
 * Shows an answer: a workspace can be opened, the rest stands in tables. Several documents are one a line.
 * @param {Card} card
 * @param {Context} context
 * @param {string} command
 * @param {string} text
 * @param {View["draw"]} [draw]
 */
function showAnswer(card, context, command, text, draw) {
    /** @type {any} */
    let document;
    try {
        document = JSON.parse(text);
    } catch {
        document = {answers: text.trim().split("\n").map((one) => JSON.parse(one))};
    }
    if (document.channels && document.observations) {
        const name = `${fileName(context, command)}.json`;
        const files = /** @type {[string, Uint8Array][]} */ ([[name, new TextEncoder().encode(text)]]);
        const open = html("button", {type: "button", onclick: () => context.give(files)}, `Open ${name}`);
        card.body.append(open);
        return;
    }
    draw?.(card, context, document);
    showTables(card, document);
}

/**
 * Buttons that begin something and stop it.
 * @param {Card} card
 * @param {string} text
 * @param {() => Promise<void>} act
 * @param {() => void} end
 */
function runButtons(card, text, act, end) {
    const begin = card.button(text, async () => {
        begin.disabled = true;
        stop.disabled = false;
        try {
            await act();
        } catch (error) {
            card.clear();
            if (error instanceof Stopped) card.say("Stopped.");
            else card.fail(error instanceof Error ? error.message : String(error));
        }
        begin.disabled = false;
        stop.disabled = true;
    });
    const stop = card.button("Stop", end);
    stop.disabled = true;
}

/** @type {View} */
const sampleView = {
    id: "sample",
    title: "Posterior",
    about: "Draws from the posterior, by the No-U-Turn sampler: intervals, R-hat, effective sizes, and the " +
        "draws of a parameter.",
    command: "sample",
    shown: [["--chains"], ["--draws"], ["--seed"], ["--prior"], ["--save", "draws.csv"]],
    controls(card, context) {
        const act = () => runCommand(card, context, "sample", [], sampleView.draw);
        runButtons(card, "Draw", act, () => context.workers.stop(card));
    },
    async show() {},
    draw(card, context, answer) {
        const file = card.form?.words().find((one) => one[0] === "--save")?.[1] ?? "";
        const text = file.endsWith(".csv") && context.study.files.get(file);
        card.headline(
            answer.converged ? "The chains converged: " : "The chains did not converge: ",
            `largest R-hat ${show(answer.rhat, 5)}, least effective size ${show(answer.ess, 3)}, `,
            count(answer.divergent, "divergent draw")
        );
        if (!text) return;
        const [head, ...rows] =
            new TextDecoder().decode(text).split("\n").filter((one) => one && !one.startsWith("#"));
        const columns = head.split(",");
        const names = answer.parameters.map(
                                           (/** @type {any} */ one) => one.name
        ).filter((/** @type {string} */ one) => columns.includes(one));
        const select = choice(names, answer.poi, () => redraw());
        card.body.append(html("div", {class: "controls"}, labelled("Parameter", select)));
        const redraw = card.figure(fileName(context, "posterior"), (width) => {
            const at = columns.indexOf(select.value);
            const draws = rows.map((one) => Number(one.split(",")[at]));
            const summary = answer.parameters.find((/** @type {any} */ one) => one.name === select.value);
            return marginalFigure(width, draws, summary, answer.level);
        });
    },
};

/** @type {View} */
const commandsView = {
    id: "commands",
    title: "All commands",
    about:
        "Any command of the program, with all of its options. Files that it writes can be downloaded, and " +
        "other commands read them by their names.",
    wide: true,
    controls(card, context) {
        const select = choice([], null, () => choose());
        const more = html("textarea", {rows: 1, placeholder: "FILE"});
        const others = labelled("Further files or words, one a line", more);
        const about = html("p", {class: "about"});
        card.controls.append(labelled("Command", select), others);
        runButtons(card, "Run", () => {
            const operands = more.value.split("\n").map((one) => one.trim()).filter(Boolean);
            return runCommand(card, context, select.value, operands);
        }, () => context.workers.stop(card));
        card.controls.append(about);
        const choose = async () => {
            const help = await context.workers.help(select.value);
            about.textContent = help.about;
            others.hidden = help.operands.every((one) => /^(WORKSPACE|FILE)$/.test(one));
            const options = freeOptions(help);
            const first = options.filter((one) => one.group === "Options").map((one) => one.name);
            card.offer(new OptionForm(options, context, first));
        };
        context.workers.commands().then((names) => {
            select.append(...names.map((one) => html("option", {value: one}, one)));
            choose();
        });
    },
    async show() {},
};

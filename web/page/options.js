/* options.js: the options of any command as fields, by the program's own --help. */

/**
 * @typedef {object} Option
 * @property {string} name   as --level
 * @property {string} value  what follows it: "P", "OLD NEW", "qtilde|q"; "": nothing
 * @property {string} about
 * @property {string} group  its heading
 *
 * @typedef {object} Help
 * @property {string[]} operands   as WORKSPACE
 * @property {string} about
 * @property {Option[]} options
 */

/** The column of --help where what an option does begins. A longer option has its line for itself. */
const ABOUT_COLUMN = 32;

/**
 * @param {string} text   of `paritas COMMAND --help`
 * @returns {Help}
 */
function helpOf(text) {
    const lines = text.split("\n");
    /** @type {Option[]} */
    const options = [];
    let group = "";
    for (const line of lines) {
        const heading = line.match(/^(\w+):$/);
        if (heading) group = heading[1];
        const own = line[ABOUT_COLUMN - 1] === " " ? ABOUT_COLUMN : line.length;
        const found = line.slice(0, own).match(/^ {2}-.*?(--[\w-]+) ?(.*?) *$|^ {2}(--[\w-]+) ?(.*?) *$/);
        if (found) {
            const [name, value] = [found[1] ?? found[3], found[2] ?? found[4]];
            options.push({name, value, about: line.slice(own), group});
        } else if (line.startsWith(" ".repeat(ABOUT_COLUMN)) && options.length)
            options[options.length - 1].about += ` ${line.trim()}`;
    }
    const operands = lines[0].split(" ").filter((one) => /^\[?[A-Z]{2}/.test(one));
    return {operands, about: lines[2] ?? "", options};
}

/**
 * The words that an option takes one of; none: any text.
 * @param {Option} option
 */
function wordsOf({value}) {
    const words = value.split("|");
    return words.length > 1 && !words.some((one) => /^[A-Z]{2}/.test(one)) ? words : [];
}

/** @param {Option} option */
function defaultOf({about}) {
    return about.match(/default: (.*?)([;,]|\. |$)/i)?.[1] ?? "";
}

/** Options that the page gives itself, or that have no use in it. */
const PAGE_OPTIONS = [
    "--patch", "--patchset", "--patch-name", "--measurement", "--poi", "--json", "--quiet", "--help",
    "--threads", "--device", "--shard"
];

/** The fields of some options. An empty field gives no word of the command line. */
class OptionForm {
    /**
     * @param {Option[]} options
     * @param {Context} context
     * @param {string[]} shown   the names of those in front
     */
    constructor(options, context, shown, more = "More options") {
        this.context = context;
        /** @type {Map<Option, HTMLInputElement|HTMLSelectElement|HTMLTextAreaElement>} */
        this.fields = new Map();
        const front = html("div", {class: "controls"});
        this.root = html("div", {class: "options"}, front);
        /** @type {Map<string, HTMLElement>} */
        const groups = new Map();
        for (const option of options) {
            const field = this.field(option);
            this.fields.set(option, field);
            const label = labelled(option.name.slice(2), field);
            label.title = option.about;
            const {group} = option;
            if (!groups.has(group)) groups.set(group, html("div", {class: "controls"}));
            (shown.includes(option.name) ? front : groups.get(group))?.append(label);
        }
        const filled = [...groups].filter((one) => one[1].childElementCount);
        const parts = filled.map(([group, place]) => html("div", {}, html("h3", {}, group), place));
        if (parts.length) this.root.append(html("details", {}, html("summary", {}, more), ...parts));
    }

    /** @param {Option} option */
    field(option) {
        const {value, about} = option;
        if (!value) return html("input", {type: "checkbox"});
        const standard = defaultOf(option);
        const words = wordsOf(option);
        if (words.length) {
            const select = choice(words.includes(standard) ? words : ["", ...words], standard);
            if (select.options[0].value === "") select.options[0].textContent = "default";
            return select;
        }
        if (value === "CHANNEL" && this.context.model) {
            const names = this.context.model.model_channels.map((one) => one.name);
            return html(
                "select", {multiple: true, size: Math.min(4, names.length)},
                ...names.map((one) => html("option", {value: one}, one))
            );
        }
        if (/repeat|twice/i.test(about)) return html("textarea", {rows: 1, placeholder: value});
        const list = /FILE/.test(value) ? "known-files" : null;
        return html("input", {type: "text", placeholder: standard || value, list});
    }

    /** The options that are not at their defaults: each one's words. */
    words() {
        /** @type {string[][]} */
        const words = [];
        for (const [option, field] of this.fields) {
            const {name, value} = option;
            if (field instanceof HTMLInputElement && field.type === "checkbox") {
                if (field.checked) words.push([name]);
                continue;
            }
            const parts = wordsOf(option).length ? 1 : value.split(" ").length;
            const texts = field instanceof HTMLSelectElement
                ? [...field.selectedOptions].map(
                                                (one) => one.value
                  ).filter((one) => one !== defaultOf(option))
                : field.value.split("\n").map((one) => one.trim());
            for (const text of texts.filter(Boolean))
                words.push([name, ...(parts > 1 ? text.split(/\s+/) : [text])]);
        }
        return words;
    }

    /**
     * Fills fields with what `words` gave.
     * @param {string[][]} given
     */
    set(given) {
        for (const [{name}, field] of this.fields) {
            const texts = given.filter((one) => one[0] === name).map((one) => one.slice(1).join(" "));
            if (!texts.length) continue;
            if (field instanceof HTMLInputElement && field.type === "checkbox")
                field.checked = true;
            else if (field instanceof HTMLSelectElement)
                for (const one of field.options) one.selected = texts.includes(one.value);
            else
                field.value = texts.join("\n");
        }
    }
}

/**
 * The options of a command on the workspace, but those that the page gives.
 * @param {Help} help
 */
function freeOptions(help) {
    return help.options.filter((one) => !PAGE_OPTIONS.includes(one.name));
}

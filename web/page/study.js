/* study.js: what the user has given: files, the workspace among them, and options that commands share. */

/**
 * @typedef {"workspace"|"patchset"|"patch"|"day"|"table"|"xml"|"root"|"other"} FileKind
 *
 * @typedef {object} Study
 * @property {Map<string, Uint8Array>} files
 * @property {Map<string, FileKind>} kinds
 * @property {string[]} archives   names of the archives that the files came from
 * @property {string|null} workspace
 * @property {string|null} patchset
 * @property {PatchMetadata[]} patches   metadata of the patch set's patches: name, values
 * @property {string[]} labels   names of the patches' values
 * @property {string|null} patchName   the patch that is applied
 * @property {string[]} patchFiles   JSON Patches that are applied
 * @property {string|null} measurement
 * @property {string|null} poi
 * @property {string[][]} shared   options of all results, each with its words
 * @property {string|null} day   a day file of loss cones
 * @property {string|null} truth   a table of geometry and spacecraft potentials for it
 */

/**
 * A name that a shell reads back.
 * @param {string} word
 */
function quoted(word) {
    return /^[A-Za-z0-9_.,:=/@%+-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}

/**
 * The command line that gives the same bytes.
 * @param {string[]} args
 */
function commandLine(args) {
    return ["paritas", ...args].map(quoted).join(" ");
}

/**
 * What a file is, by its first character and its keys. A text that is no JSON goes to the program, which
 * says why.
 * @param {string} name
 * @param {Uint8Array} bytes
 * @returns {FileKind}
 */
function kindOf(name, bytes) {
    if (/\.tab$/i.test(name)) return "day";
    if (/\.csv$/i.test(name)) return "table";
    const start = new TextDecoder().decode(bytes.subarray(0, 4096)).trimStart();
    if (start.startsWith("[")) return "patch";
    if (start.startsWith("<")) return "xml";
    if (start.startsWith("root")) return "root";
    if (!start.startsWith("{")) return /\.json$/i.test(name) ? "workspace" : "other";
    try {
        const document = JSON.parse(new TextDecoder().decode(bytes));
        if (Array.isArray(document.patches) && document.metadata) return "patchset";
        return document.channels || /\.json$/i.test(name) ? "workspace" : "other";
    } catch {
        return "workspace";
    }
}

/**
 * The study of some files; the largest workspace is taken first.
 * @param {Array<[string, Uint8Array]>} files
 * @param {string[]} archives
 * @returns {Study}
 */
function studyOf(files, archives) {
    /** @type {Study} */
    const study = {
        files: new Map(),
        kinds: new Map(),
        archives,
        workspace: null,
        patchset: null,
        patches: [],
        labels: [],
        patchName: null,
        patchFiles: [],
        measurement: null,
        poi: null,
        shared: [],
        day: null,
        truth: null,
    };
    for (const [name, bytes] of files) {
        let own = name;
        for (let k = 2; study.files.has(own); k++) own = name.replace(/(\.[^.]*)?$/, `_${k}$1`);
        study.files.set(own, bytes);
        study.kinds.set(own, kindOf(own, bytes));
    }
    /** @param {FileKind} kind */
    const named = (kind) => [...study.kinds].filter((one) => one[1] === kind).map((one) => one[0]);
    /** @param {string} name */
    const size = (name) => study.files.get(name)?.length ?? 0;
    study.workspace = named("workspace").sort((a, b) => size(b) - size(a))[0] ?? null;
    study.day = named("day")[0] ?? null;
    study.truth = named("table")[0] ?? null;
    choosePatchset(study, patchsetBeside(study));
    if (!study.patchset) study.patchFiles = named("patch").slice(0, 1);
    return study;
}

/**
 * Is there something to compute?
 * @param {Study|null} study
 */
function isWhole(study) {
    return study !== null && (study.workspace !== null || study.day !== null);
}

/**
 * One study of the files of two. A patch set takes the place of what changed the workspace before, a patch
 * that of a patch set, a table that of another table.
 * @param {Study} before
 * @param {Study} given
 */
function joined(before, given) {
    const kinds = new Set(given.kinds.values());
    /** @type {FileKind[]} */
    const replaced = [];
    if (kinds.has("patchset")) replaced.push("patch");
    if (kinds.has("patchset") || kinds.has("patch")) replaced.push("patchset");
    if (kinds.has("table")) replaced.push("table");
    const kept = [...before.files].filter(
        ([name]) =>
            !given.files.has(name) && !replaced.includes(/** @type {FileKind} */ (before.kinds.get(name)))
    );
    return studyOf([...given.files, ...kept], [...new Set([...before.archives, ...given.archives])]);
}

const CONVERT = "python -m paritas convert FILE.xml -o workspace.json";

/**
 * What files are that give nothing to compute, and what helps, by kind.
 * @type {Partial<Record<FileKind, string>>}
 */
const WANTED = {
    patchset: "a patch set. Drop the workspace that it changes (often BkgOnly.json) too.",
    patch: "a JSON Patch. Drop the workspace that it changes too.",
    table: "a table. Drop the day file (3DYYMMDD.TAB) that it belongs to, too.",
    xml: `XML. If it is HistFactory's, make a workspace of it: ${CONVERT}`,
    root: `a ROOT file. If HistFactory's XML names it, make a workspace of both: ${CONVERT}`,
    other: "no workspace (pyhf JSON), patch, patch set, archive or day file (3DYYMMDD.TAB).",
};

/** More files than this are not named. */
const MOST_NAMED = 8;

/**
 * Why files give nothing to compute, a line a file.
 * @param {Study} study
 */
function missing(study) {
    const names = [...study.kinds].slice(0, MOST_NAMED);
    const lines = names.map(([name, kind]) => `${name} is ${WANTED[kind] ?? WANTED.other}`);
    if (study.kinds.size > names.length) lines.push(`And ${study.kinds.size - names.length} more.`);
    return lines.join("\n") || "There is no file in it.";
}

/**
 * The patch set in the workspace's folder; for the only workspace, any.
 * @param {Study} study
 */
function patchsetBeside(study) {
    /** @param {string|null} name */
    const folder = (name) => name?.slice(0, name.lastIndexOf("/") + 1);
    const all = [...study.kinds].filter((one) => one[1] === "patchset").map((one) => one[0]);
    const only = [...study.kinds.values()].filter((kind) => kind === "workspace").length === 1;
    const beside = all.find((one) => folder(one) === folder(study.workspace));
    return beside ?? (only ? all[0] : null) ?? null;
}

/**
 * Takes a patch set, and the first of its patches.
 * @param {Study} study
 * @param {string|null} name
 */
function choosePatchset(study, name) {
    study.patchset = name;
    study.patches = [];
    study.labels = [];
    study.patchName = null;
    if (!name) return;
    const document = JSON.parse(new TextDecoder().decode(study.files.get(name)));
    const known = document.patches.map((/** @type {any} */ one) => one?.metadata);
    study.patches = known.filter((/** @type {any} */ one) => one?.name && Array.isArray(one.values));
    study.labels = document.metadata.labels ?? [];
    study.patchName = study.patches[0]?.name ?? null;
}

/**
 * The options of all results, each with its words: the model's, and those that the user chose.
 * @param {Study} study
 * @param {boolean} [allPatches]
 */
function modelOptions(study, allPatches = false) {
    const options = study.patchFiles.map((name) => ["--patch", name]);
    if (study.patchset) options.push(["--patchset", study.patchset]);
    if (study.patchset && !allPatches && study.patchName) options.push(["--patch-name", study.patchName]);
    if (study.measurement) options.push(["--measurement", study.measurement]);
    if (study.poi) options.push(["--poi", study.poi]);
    return [...options, ...study.shared];
}

/**
 * @param {Study} study
 * @param {boolean} [allPatches]
 */
function modelArguments(study, allPatches = false) {
    return modelOptions(study, allPatches).flat();
}

/**
 * A command on the workspace.
 * @param {Study} study
 * @param {string} name
 * @param {string[]} options
 */
function modelCommand(study, name, ...options) {
    return [name, study.workspace ?? "", ...modelArguments(study), ...options, "--json"];
}

/**
 * The files that a command names.
 * @param {Study} study
 * @param {string[]} args
 */
function filesOf(study, args) {
    return new Map([...study.files].filter(([name]) => args.includes(name)));
}

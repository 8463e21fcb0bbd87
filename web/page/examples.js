/* examples.js: the shipped examples, loaded when they are asked for. */

/** @typedef {Array<[string, Uint8Array]>} Files   names and contents */

/** Names, which addresses may ask for, and what they are. */
const EXAMPLES = new Map([
    ["two_bins", "Two bins: a signal over one background"],
    ["sbottom_A", "ATLAS search for bottom squarks, region A (HEPData ins1748602), ten signal points"],
    ["losscone", "Loss cones: a synthetic day of Lunar Prospector"],
]);

/** What makes the synthetic day. */
const SYNTHETIC_DAY = ["losscone", "synthesize", "-o", ".", "--sweeps", "60", "--json"];

/**
 * Examples that have been asked for, and how to answer.
 * @type {Map<string, {files: Promise<Files>, resolve: (files: Files) => void}>}
 */
const examplesAsked = new Map();

/**
 * What examples/NAME.js calls: files as base64 of gzip.
 * @param {string} name
 * @param {Record<string, string>} files
 */
async function paritasExample(name, files) {
    /** @type {Files} */
    const opened = [];
    for (const [file, text] of Object.entries(files)) {
        const packed = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
        opened.push([file, await inflate(packed, "gzip")]);
    }
    examplesAsked.get(name)?.resolve(opened);
}

/**
 * The files of an example.
 * @param {string} name
 * @param {Workers} workers
 * @returns {Promise<Files>}
 */
async function loadExample(name, workers) {
    if (name === "losscone") {
        const answer = await workers.run(SYNTHETIC_DAY, new Map(), workers);
        return [...answer.files].map(([path_, bytes]) => [path_.slice(path_.lastIndexOf("/") + 1), bytes]);
    }
    let asked = examplesAsked.get(name);
    if (!asked) {
        /** @type {(files: Files) => void} */
        let resolve = () => {};
        /** @type {(error: Error) => void} */
        let reject = () => {};
        const files = new Promise((/** @type {(files: Files) => void} */ done, refused) => {
            resolve = done;
            reject = refused;
        });
        asked = {files, resolve};
        examplesAsked.set(name, asked);
        const src = `examples/${name}.js`;
        const missing = () => {
            examplesAsked.delete(name);
            reject(new Error(`${src} cannot be loaded`));
        };
        document.body.append(html("script", {src, onerror: missing}));
    }
    return asked.files;
}

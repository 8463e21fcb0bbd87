/* patchset_cut.js: cuts a patch set into smaller ones without changing a character of its patches.
 *
 * Workers each fit a part. Numbers are not read and written again: the answers are those of the whole. */

/**
 * The place behind the JSON value that begins at `at`.
 * @param {string} text
 * @param {number} at
 */
function endOfValue(text, at) {
    let depth = 0;
    for (let k = at; k < text.length; k++) {
        const c = text[k];
        if (c === "\"") {
            for (k++; text[k] !== "\""; k++)
                if (text[k] === "\\") k++;
            if (depth === 0) return k + 1;
        } else if (c === "{" || c === "[")
            depth++;
        else if (c === "}" || c === "]") {
            if (depth === 0) return k;
            if (--depth === 0) return k + 1;
        } else if (c === "," && depth === 0)
            return k;
    }
    return text.length;
}

/**
 * The elements of an object or array that begins at `at`: keys (null in arrays), and where the values are.
 * @param {string} text
 * @param {number} at
 */
function membersOf(text, at) {
    const members = [];
    const object = text[at] === "{";
    let k = at + 1;
    const skip = () => {
        while (/[\s,]/.test(text[k] ?? "")) k++;
    };
    for (skip(); k < text.length && text[k] !== "}" && text[k] !== "]"; skip()) {
        let key = null;
        if (object) {
            const end = endOfValue(text, k);
            key = JSON.parse(text.slice(k, end));
            k = text.indexOf(":", end) + 1;
            skip();
        }
        const from = k;
        k = endOfValue(text, k);
        members.push({key, from, to: k});
    }
    return members;
}

/**
 * Patch sets of `size` patches each, in the order of the whole.
 * @param {string} text  of a patch set that parses
 * @param {number} size
 */
function cutPatchset(text, size) {
    const whole = membersOf(text, text.indexOf("{")).find((one) => one.key === "patches");
    if (!whole) throw new Error("the patch set has no patches");
    const patches = membersOf(text, whole.from);
    const parts = [];
    for (let first = 0; first < patches.length; first += size) {
        const chosen = patches.slice(first, first + size).map((one) => text.slice(one.from, one.to));
        parts.push(`${text.slice(0, whole.from)}[${chosen.join(",")}]${text.slice(whole.to)}`);
    }
    return parts;
}

/* archive.js: files out of zip and tar archives, with gzip or without, also one inside the other (HEPData).
 *
 * The browser inflates (DecompressionStream). Encrypted and zip64 archives are refused. */

const MOST_BYTES = 1e9; /* of all files of an archive together */

/**
 * @param {Uint8Array} bytes
 * @param {"gzip"|"deflate-raw"} format
 */
async function inflate(bytes, format) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** @param {Uint8Array} bytes */
function isGzip(bytes) {
    return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** @param {Uint8Array} bytes */
function isZip(bytes) {
    return bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5);
}

/** @param {Uint8Array} bytes */
function isTar(bytes) {
    return bytes.length >= 512 && new TextDecoder("latin1").decode(bytes.subarray(257, 262)) === "ustar";
}

/**
 * The files of a zip archive, by its central directory.
 * @param {Uint8Array} bytes
 * @returns {Promise<Array<[string, Uint8Array]>>}
 */
async function unzip(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let end = bytes.length - 22;
    while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end--;
    if (end < 0) throw new Error("the zip archive has no end: it is cut off");
    const files = /** @type {Array<[string, Uint8Array]>} */ ([]);
    let at = view.getUint32(end + 16, true);
    let sum = 0;
    for (let k = view.getUint16(end + 10, true); k > 0; k--) {
        if (at + 46 > bytes.length || view.getUint32(at, true) !== 0x02014b50)
            throw new Error("the zip archive is damaged");
        const [flags, method] = [view.getUint16(at + 8, true), view.getUint16(at + 10, true)];
        const [packed, size] = [view.getUint32(at + 20, true), view.getUint32(at + 24, true)];
        const lengths = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
        const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + lengths[0]));
        const local = view.getUint32(at + 42, true);
        at += 46 + lengths[0] + lengths[1] + lengths[2];
        if (name.endsWith("/")) continue;
        if (flags & 1) throw new Error(`${name} is encrypted`);
        if (local === 0xffffffff || size === 0xffffffff) throw new Error(`${name}: zip64 is not read`);
        sum += size;
        if (sum > MOST_BYTES) throw new Error("the archive has more than 1 GB of files");
        const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
        const body = bytes.subarray(start, start + packed);
        if (method !== 0 && method !== 8) throw new Error(`${name}: zip's method ${method} is not read`);
        files.push([name, method === 8 ? await inflate(body, "deflate-raw") : body.slice()]);
    }
    return files;
}

/**
 * The files of a tar archive (ustar, GNU and pax names).
 * @param {Uint8Array} bytes
 * @returns {Array<[string, Uint8Array]>}
 */
function untar(bytes) {
    const files = /** @type {Array<[string, Uint8Array]>} */ ([]);
    /**
     * @param {number} from
     * @param {number} length
     */
    const text = (from, length) =>
        new TextDecoder().decode(bytes.subarray(from, from + length)).replace(/\0[^]*$/, "");
    let longName = "";
    for (let at = 0; at + 512 <= bytes.length && bytes[at] !== 0;) {
        const size = parseInt(text(at + 124, 12).trim(), 8) || 0;
        const type = text(at + 156, 1);
        const prefix = text(at + 345, 155);
        const body = bytes.subarray(at + 512, at + 512 + size);
        if (body.length < size) throw new Error("the tar archive is cut off");
        if (type === "L")
            longName = text(at + 512, size);
        else if (type === "x")
            longName = /\d+ path=([^\n]*)\n/.exec(text(at + 512, size))?.[1] ?? "";
        else {
            const name = longName || (prefix ? `${prefix}/` : "") + text(at, 100);
            if (type === "0" || type === "") files.push([name, body.slice()]);
            longName = "";
        }
        at += 512 + 512 * Math.ceil(size / 512);
    }
    return files;
}

/**
 * The name of an archive's member as a path below its folder; "" for what no user means.
 * @param {string} member
 */
function memberName(member) {
    const parts = member.split("/").filter((one) => !["", ".", ".."].includes(one));
    return parts.some((one) => one.startsWith(".") || one === "__MACOSX") ? "" : parts.join("/");
}

/**
 * A file, or the files of the archive that it is, by their paths in it. Opens archives in archives.
 * @param {string} name
 * @param {Uint8Array} bytes
 * @returns {Promise<Array<[string, Uint8Array]>>}
 */
async function unpack(name, bytes, depth = 0) {
    if (depth > 4) throw new Error(`${name}: archives in archives, more than four deep`);
    if (isGzip(bytes)) return unpack(name.replace(/\.t?gz$/, ""), await inflate(bytes, "gzip"), depth + 1);
    if (!isZip(bytes) && !isTar(bytes)) return [[name, bytes]];
    const members = isZip(bytes) ? await unzip(bytes) : untar(bytes);
    const files = [];
    for (const [member, content] of members) {
        const own = memberName(member);
        if (own) files.push(...(await unpack(own, content, depth + 1)));
    }
    return files;
}

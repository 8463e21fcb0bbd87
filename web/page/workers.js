/* workers.js: commands of the program, run by engines in workers, first come first served.
 *
 * A command's answer does not depend on which worker runs it, nor on how many there are: it finds its own
 * files there and no others. Files that the next command needs too stay in the worker. */

/**
 * @typedef {object} Answer   what a command left behind
 * @property {string[]} args
 * @property {string} text    standard output
 * @property {string} error   standard error
 * @property {number} status  exit code
 * @property {Map<string, Uint8Array>} files   that it wrote
 * @property {number} ms
 *
 * @typedef {object} Task
 * @property {string[]} args
 * @property {Map<string, Uint8Array>} files
 * @property {object} owner
 * @property {(text: string) => void} [listen]   hears standard output as it comes
 * @property {(answer: Answer) => void} resolve
 * @property {(reason: Error) => void} reject
 *
 * @typedef {object} Slot
 * @property {Engine} engine
 * @property {Task|null} task
 * @property {Map<string, Uint8Array>} known   files that the worker has
 */

/** What commands find in their environment: a browser has no accelerator that they could look for. */
const HERE = {
    PARITAS_DEVICE: "cpu"
};

/** A command that was stopped before its end. */
class Stopped extends Error {}

class Workers {
    /** @param {number} most   workers at a time */
    constructor(most) {
        this.most = most;
        /** @type {Slot[]} */
        this.slots = [];
        /** @type {Task[]} */
        this.queue = [];
        /** @type {WebAssembly.Module|null} */
        this.program = null;
        /** @type {Map<string, Promise<Help>>} */
        this.helps = new Map();
    }

    /** Compiles the program, and starts a worker before it is needed. */
    async start() {
        this.program = await Engine.compile();
        this.open();
        this.next();
    }

    /** Lets the browser compile with care what the first analysis needs. */
    async warm() {
        if (this.program) await Engine.warm(this.program);
    }

    /**
     * The options of a command, as its --help lists them; asked once.
     * @param {string} command
     */
    help(command) {
        const known = this.helps.get(command) ??
            this.run([command, "--help"], new Map(), this).then((answer) => helpOf(answer.text));
        this.helps.set(command, known);
        return known;
    }

    /** The names of all commands on workspaces. */
    async commands() {
        const {text} = await this.run(["--help"], new Map(), this);
        return [...text.matchAll(/^ {2}([a-z-]+)  /gm)].map((one) => one[1]);
    }

    /** An engine of its own, for what stays open. */
    engine() {
        if (!this.program) throw new Error("the engine has not started");
        return new Engine(this.program);
    }

    /**
     * Runs a command. `files` are those it reads. Tasks of one `owner` are stopped together.
     * @param {string[]} args
     * @param {Map<string, Uint8Array>} files
     * @param {object} owner
     * @param {(text: string) => void} [listen]
     * @returns {Promise<Answer>}
     */
    run(args, files, owner, listen) {
        return new Promise((resolve, reject) => {
            this.queue.push({ args, files, owner, listen, resolve, reject });
            this.next();
        });
    }

    /**
     * Stops the commands of an owner; null: all but those that the workers own. Their promises fail with
     * Stopped.
     * @param {object|null} owner
     */
    stop(owner) {
        /** @param {Task|null} task */
        const meant = (task) =>
            task !== null && task.owner !== this && (owner === null || task.owner === owner);
        const waiting = this.queue.filter(meant);
        this.queue = this.queue.filter((task) => !meant(task));
        for (const task of waiting) task.reject(new Stopped("stopped"));
        for (const slot of this.slots.filter((one) => meant(one.task))) {
            this.slots.splice(this.slots.indexOf(slot), 1);
            slot.engine.stop(new Stopped("stopped"));
        }
        this.next();
    }

    open() {
        /** @type {Slot} */
        const slot = {engine: this.engine(), task: null, known: new Map()};
        this.slots.push(slot);
        return slot;
    }

    next() {
        while (this.program && this.queue.length) {
            let slot = this.slots.find((one) => one.task === null);
            if (!slot && this.slots.length < this.most) slot = this.open();
            if (!slot) return;
            this.work(slot, /** @type {Task} */ (this.queue.shift()));
        }
    }

    /**
     * Removes files in a worker; if it is stopped meanwhile, they are gone too.
     * @param {Slot} slot
     * @param {string[]} names
     */
    forget(slot, names) {
        if (names.length) slot.engine.remove(names).catch(() => {});
    }

    /**
     * @param {Slot} slot
     * @param {Task} task
     */
    async work(slot, task) {
        slot.task = task;
        const files =
            Object.fromEntries([...task.files].filter(([name, bytes]) => slot.known.get(name) !== bytes));
        const stale = [...slot.known.keys()].filter((name) => !task.files.has(name));
        this.forget(slot, stale);
        slot.known = new Map(task.files);
        const start = performance.now();
        try {
            const {status, out, error, files: written} =
                await slot.engine.command(task.args, {files, environment: HERE, onOut: task.listen});
            const ms = performance.now() - start;
            const names = Object.keys(written ?? {});
            this.forget(slot, names);
            for (const name of names) slot.known.delete(name);
            task.resolve(
                {args: task.args, text: out, error, status, files: new Map(Object.entries(written ?? {})), ms}
            );
        } catch (reason) {
            if (this.slots.includes(slot)) this.slots.splice(this.slots.indexOf(slot), 1);
            task.reject(reason instanceof Error ? reason : new Error(String(reason)));
        }
        slot.task = null;
        this.next();
    }
}

/* engine.js: starts engines in workers and talks to them. For the page; README.md shows how to use it.
 *
 * Everything works from file://, where browsers refuse fetch, modules and workers with a file: the worker's
 * text is that of the classes above, the compiled program comes from scripts with base64 of gzip. */
"use strict";

/** (a, b, c) => relaxed_madd(a, b, c) */
const MADD_MODULE = new Uint8Array([
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x01, 0x60, 0x03, 0x7c, 0x7c, 0x7c, 0x01, 0x7c,
  0x03, 0x02, 0x01, 0x00, 0x07, 0x05, 0x01, 0x01, 0x66, 0x00, 0x00, 0x0a, 0x16, 0x01, 0x14, 0x00, 0x20, 0x00,
  0xfd, 0x14, 0x20, 0x01, 0xfd, 0x14, 0x20, 0x02, 0xfd, 0x14, 0xfd, 0x87, 0x02, 0xfd, 0x21, 0x00, 0x0b,
]);

/** Compiled programs by name: scripts fill this with base64 texts. */
const ENGINE_MODULES = {};

class Engine {
  /** Whether this browser rounds relaxed_madd once, as an fma. Else the engine computes fma in software: the
   * same bits, more slowly. */
  static async isFused() {
    if (!WebAssembly.validate(MADD_MODULE)) return false;
    const { instance } = await WebAssembly.instantiate(MADD_MODULE);
    const e = 2 ** -30;
    return instance.exports.f(1 + e, 1 - e, -1) === -(2 ** -60);
  }

  /** Loads the script with a program, unless the page has it. */
  static async script(name) {
    if (ENGINE_MODULES[name]) return;
    const script = document.createElement("script");
    script.src = new URL(`engine_${name}.js`, Engine.folder).href;
    await new Promise((resolve, reject) => {
      script.onload = resolve;
      script.onerror = () => reject(new Error(`${script.src} is missing`));
      document.head.append(script);
    });
  }

  /** The compiled program for this browser. `name`: "relaxed" or "portable"; default: what fits. */
  static async compile(name) {
    name = name || ((await Engine.isFused()) ? "relaxed" : "portable");
    await Engine.script(name);
    Engine.program = name;
    const bytes = Uint8Array.from(atob(ENGINE_MODULES[name]), (c) => c.charCodeAt(0));
    ENGINE_MODULES[name] = undefined;
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const response = new Response(unpacked, { headers: { "Content-Type": "application/wasm" } });
    return WebAssembly.compileStreaming(response);
  }

  /** A workspace with all that common models have, for Engine.warm. */
  static warmWorkspace() {
    const bins = 24;
    const numbers = (f) => Array.from({ length: bins }, (_, i) => f(i));
    const data = numbers((i) => 40 + 3 * (i % 5));
    const sample = (k) => ({
      name: `background${k}`,
      data,
      modifiers: [
        { name: `norm${k}`, type: "normsys", data: { hi: 1.1, lo: 0.9 } },
        { name: `shape${k}`, type: "histosys", data: { hi_data: data.map((x) => 1.05 * x), lo_data: data } },
        { name: "stat", type: "staterror", data: data.map((x) => 0.05 * x) },
      ],
    });
    const signal = {
      name: "signal",
      data: numbers((i) => 1 + i),
      modifiers: [{ name: "mu", type: "normfactor", data: null }],
    };
    const samples = [signal, ...Array.from({ length: 8 }, (_, k) => sample(k))];
    return JSON.stringify({
      version: "1.0.0",
      channels: [{ name: "region", samples }],
      observations: [{ name: "region", data: data.map((x) => 8 * x) }],
      measurements: [{ name: "fit", config: { poi: "mu", parameters: [] } }],
    });
  }

  /** Runs some commands in a worker of its own, so that the browser has compiled what the first analysis needs. */
  static async warm(module) {
    const engine = new Engine(module);
    const files = { "warm.json": new TextEncoder().encode(Engine.warmWorkspace()) };
    for (const command of ["limit", "limit", "fit"]) {
      const { status, error } = await engine.command([command, "warm.json"], { files });
      if (status > 1) throw new Error(error);
    }
    engine.stop();
  }

  /** An engine of its own worker. `module`: from compile; engines share it. */
  constructor(module) {
    const source = [MemoryFiles, ProgramExit, Wasi, WasiCalls, EngineWorker].map(String);
    for (const owner of [Wasi, EngineWorker])
      for (const [name, value] of Object.entries(owner))
        source.push(`${owner.name}.${name} = ${JSON.stringify(value)};`);
    source.push("new EngineWorker(self);");
    const url = URL.createObjectURL(new Blob(['"use strict";\n', source.join("\n")], { type: "text/javascript" }));
    this.worker = new Worker(url);
    URL.revokeObjectURL(url);
    this.worker.onmessage = (event) => this.receive(event.data);
    this.worker.onerror = (event) => this.stop(new Error(event.message));
    this.worker.postMessage({ do: "start", module });
    this.waiting = new Map(); // id -> {resolve, reject, out, error, onOut, onError}
    this.ids = 0;
  }

  receive(message) {
    const call = this.waiting.get(message.id);
    if (!call) return;
    if (message.out !== undefined) {
      call.out += message.out;
      if (call.onOut) call.onOut(message.out);
    }
    if (message.error !== undefined) {
      call.error += message.error;
      if (call.onError) call.onError(message.error);
    }
    if (message.status === undefined) return;
    this.waiting.delete(message.id);
    call.resolve({ ...message, out: call.out, error: call.error });
  }

  ask(message, { onOut, onError } = {}) {
    const id = ++this.ids;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, out: "", error: "", onOut, onError });
      this.worker.postMessage({ id, ...message });
    });
  }

  /** `paritas ARGS...`: resolves to {status, out, error, files}. `options`: files, environment, terminal,
   * onOut, onError. */
  command(args, { files, environment, terminal, onOut, onError } = {}) {
    return this.ask({ do: "command", args, files, environment, terminal }, { onOut, onError });
  }

  /** Opens a model in place of the last one. `model`: {workspace, measurement, patchset, patchName, patchFiles}. */
  open(model, files) {
    return this.ask({ do: "open", ...model, files });
  }

  expected(values) {
    return this.ask({ do: "expected", values });
  }

  remove(names) {
    return this.ask({ do: "remove", names });
  }

  /** Ends the worker at once. Calls without an answer fail. */
  stop(reason = new Error("the engine was stopped")) {
    this.worker.terminate();
    for (const call of this.waiting.values()) call.reject(reason);
    this.waiting.clear();
  }
}
Engine.program = null; // "relaxed" or "portable", once compiled
/* the folder of this script, where the others are */
Engine.folder = document.currentScript.src;

/* worker.js: the engine in a worker of the page. It answers the messages that README.md lists. */
"use strict";

class EngineWorker {
  constructor(scope) {
    this.scope = scope;
    this.files = new MemoryFiles();
    this.module = null;
    this.live = null; // the instance that keeps a model open
    scope.onmessage = (event) => this.receive(event.data);
  }

  receive(message) {
    if (message.do === "start") {
      this.module = message.module;
      return;
    }
    for (const [path, bytes] of Object.entries(message.files || {})) this.files.put(path, bytes);
    let answer, transfer;
    try {
      [answer, transfer] = this[`do_${message.do}`](message);
    } catch (error) {
      /* a trap: memory is at its end, or the engine has an error */
      this.live = null;
      this.scope.postMessage({ id: message.id, error: `paritas: the engine stopped: ${error.message}\n` });
      answer = { status: EngineWorker.STOPPED };
    }
    this.scope.postMessage({ id: message.id, ...answer }, transfer || []);
  }

  /** Output as text, sent in pieces of some size, a first piece soon. */
  stream(id) {
    const streams = { 1: "out", 2: "error" };
    const state = {};
    for (const fd of [1, 2]) state[fd] = { text: "", decoder: new TextDecoder(), sent: -Infinity };
    const send = (fd) => {
      if (state[fd].text !== "") this.scope.postMessage({ id, [streams[fd]]: state[fd].text });
      state[fd].text = "";
      state[fd].sent = performance.now();
    };
    const write = (fd, bytes) => {
      state[fd].text += state[fd].decoder.decode(bytes, { stream: true });
      if (performance.now() - state[fd].sent > EngineWorker.PATIENCE) send(fd);
    };
    return { write, flush: () => [1, 2].forEach(send) };
  }

  instantiate(wasi) {
    const instance = new WebAssembly.Instance(this.module, { wasi_snapshot_preview1: wasi.imports() });
    wasi.bind(instance);
    return instance;
  }

  /** Runs the program once, in an instance of its own. */
  do_command({ id, args, environment, terminal }) {
    const { write, flush } = this.stream(id);
    const wasi = new Wasi({
      files: this.files,
      args: ["paritas", ...args],
      environment: environment || {},
      write,
      terminal,
    });
    let status = 0;
    try {
      this.instantiate(wasi).exports._start();
    } catch (exit) {
      if (!(exit instanceof ProgramExit)) throw exit;
      status = exit.code;
    } finally {
      flush();
    }
    const files = this.files.takeChanged();
    return [{ status, files }, Object.values(files).map((bytes) => bytes.buffer)];
  }

  /** The instance of the open model; its standard error is the message of the call that fails. */
  liveInstance() {
    const live = { error: "" };
    const wasi = new Wasi({
      files: this.files,
      args: ["paritas"],
      environment: {},
      write: (fd, bytes) => (live.error += new TextDecoder().decode(bytes)),
      terminal: false,
    });
    live.exports = this.instantiate(wasi).exports;
    return live;
  }

  failure() {
    return [{ status: EngineWorker.FAILED, error: this.live.error }];
  }

  /** A text in the live instance's memory. 0: none. */
  text(word) {
    if (!word) return 0;
    const { exports } = this.live;
    const bytes = new TextEncoder().encode(word + "\0");
    const place = exports.live_allocate(bytes.length);
    new Uint8Array(exports.memory.buffer, place, bytes.length).set(bytes);
    return place;
  }

  do_open({ workspace, measurement, patchset, patchName, patchFiles }) {
    this.live = this.liveInstance();
    const steps = patchFiles.map((path) => ["live_patch", path]);
    if (patchset && patchName) steps.unshift(["live_patch", patchset, patchName]);
    for (const [step, ...words] of [["live_read", workspace], ...steps, ["live_freeze", measurement]])
      if (!this.live.exports[step](...words.map((word) => this.text(word)))) return this.failure();
    return [{ status: 0 }];
  }

  do_expected({ values }) {
    this.live.error = "";
    const { exports } = this.live;
    new Float64Array(exports.memory.buffer, exports.live_point(), values.length).set(values);
    const yields = exports.live_expected();
    if (yields === 0) return this.failure();
    const n = exports.live_expected_count();
    const expected = new Float64Array(exports.memory.buffer, yields, n).slice();
    return [{ status: 0, expected }, [expected.buffer]];
  }

  /** Removes files by name; without names, all. */
  do_remove({ names }) {
    for (const name of names || [...this.files.files.keys()]) this.files.files.delete(name);
    return [{ status: 0 }];
  }
}
EngineWorker.PATIENCE = 50; // milliseconds between pieces of output
EngineWorker.FAILED = 3; // as the program's exit code for wrong input
EngineWorker.STOPPED = 70;

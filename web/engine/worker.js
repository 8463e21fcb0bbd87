/* worker.js: the engine in a worker of the page. It answers the messages that README.md lists. */
"use strict";

class EngineWorker {
  constructor(scope) {
    this.scope = scope;
    this.files = new MemoryFiles();
    this.module = null;
    this.live = null; // the instance that keeps models open
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

  /** The instance for open models; its standard error is the message of the call that fails. */
  liveInstance() {
    if (this.live) return this.live;
    const live = { error: "" };
    const wasi = new Wasi({
      files: this.files,
      args: ["paritas"],
      environment: {},
      write: (fd, bytes) => (live.error += new TextDecoder().decode(bytes)),
      terminal: false,
    });
    live.exports = this.instantiate(wasi).exports;
    this.live = live;
    return live;
  }

  /** A zero-terminated text in the live instance's memory, as JSON. */
  readJson(pointer) {
    const bytes = new Uint8Array(this.live.exports.memory.buffer, pointer);
    return JSON.parse(new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0))));
  }

  failure() {
    return [{ status: EngineWorker.FAILED, error: this.live.error }];
  }

  do_open({ args }) {
    const live = this.liveInstance();
    const { exports } = live;
    live.error = "";
    const words = new TextEncoder().encode(args.map((word) => word + "\0").join(""));
    const place = exports.live_allocate(words.length + 1);
    new Uint8Array(exports.memory.buffer, place, words.length).set(words);
    const model = exports.live_open(place, args.length);
    if (model < 0) return this.failure();
    return [{ status: 0, model, ...this.readJson(exports.live_describe(model)) }];
  }

  /** Writes the point of a model. */
  setPoint(model, values) {
    const { exports } = this.liveInstance();
    new Float64Array(exports.memory.buffer, exports.live_point(model), values.length).set(values);
  }

  do_expected({ model, values }) {
    const live = this.liveInstance();
    const { exports } = live;
    live.error = "";
    this.setPoint(model, values);
    const yields = exports.live_expected(model);
    if (yields === 0) return this.failure();
    const n = exports.live_expected_count(model);
    const expected = new Float64Array(exports.memory.buffer, yields, n).slice();
    return [{ status: 0, expected }, [expected.buffer]];
  }

  do_fit({ model, values }) {
    const live = this.liveInstance();
    live.error = "";
    this.setPoint(model, values);
    const answer = live.exports.live_fit(model);
    if (answer === 0) return this.failure();
    const { status: outcome, ...fit } = this.readJson(answer);
    return [{ status: 0, outcome, ...fit }];
  }

  do_close({ model }) {
    this.liveInstance().exports.live_close(model);
    return [{ status: 0 }];
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

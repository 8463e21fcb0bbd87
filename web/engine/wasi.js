/* wasi.js: the system interface of a program in WebAssembly (WASI preview 1), with files in memory.
 *
 * Runs in the worker. A program sees one folder, "/", which is also its working folder; what it writes stays
 * in MemoryFiles for the next program. There is no network and no clock but the browser's.
 * https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md */
"use strict";

/** Files by their path without a leading slash, and folders that have been made. */
class MemoryFiles {
  constructor() {
    this.files = new Map(); // path -> {bytes, size, inode, changed}
    this.folders = new Map([["", 1]]); // path -> inode
    this.inodes = 1;
  }

  /** "/a/./b//c/.." -> "a/b" */
  static normal(path) {
    const parts = [];
    for (const part of path.split("/")) {
      if (part === "..") parts.pop();
      else if (part !== "" && part !== ".") parts.push(part);
    }
    return parts.join("/");
  }

  static parent(path) {
    return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
  }

  makeFolder(path) {
    if (!this.folders.has(path)) this.folders.set(path, ++this.inodes);
  }

  /** Adds or replaces a file, with the folders above it. */
  put(path, bytes) {
    const name = MemoryFiles.normal(path);
    for (let at = MemoryFiles.parent(name); at !== ""; at = MemoryFiles.parent(at)) this.makeFolder(at);
    this.files.set(name, { bytes, size: bytes.length, inode: ++this.inodes, changed: false });
  }

  create(path) {
    const file = { bytes: new Uint8Array(0), size: 0, inode: ++this.inodes, changed: true };
    this.files.set(path, file);
    return file;
  }

  /** Files that programs have written since the last call: {path: bytes}. */
  takeChanged() {
    const changed = {};
    for (const [path, file] of this.files) {
      if (!file.changed) continue;
      changed[path] = file.bytes.slice(0, file.size);
      file.changed = false;
    }
    return changed;
  }

  /** Names in a folder: [[name, inode, isFolder]]. */
  list(folder) {
    const found = [];
    const add = (path, inode, isFolder) => {
      if (path !== "" && MemoryFiles.parent(path) === folder)
        found.push([path.slice(folder === "" ? 0 : folder.length + 1), inode, isFolder]);
    };
    for (const [path, file] of this.files) add(path, file.inode, false);
    for (const [path, inode] of this.folders) add(path, inode, true);
    return found;
  }
}

/** proc_exit: not an error, the end of the program. */
class ProgramExit {
  constructor(code) {
    this.code = code;
  }
}

/** One run of a program. `write(stream, bytes)` takes standard output (1) and error (2); with `terminal` the
 * program sees a terminal behind standard error, and so shows its progress. */
class Wasi {
  constructor({ files, args, environment, write, terminal }) {
    this.files = files;
    this.args = args.map((word) => new TextEncoder().encode(word + "\0"));
    this.environment = Object.entries(environment).map(([name, value]) =>
      new TextEncoder().encode(`${name}=${value}\0`),
    );
    this.write = write;
    const stream = (type) => ({ stream: true, type });
    this.open = [stream(6), stream(6), stream(terminal ? 2 : 6), { folder: "", type: 3 }];
    this.memory = null;
    this.decoder = new TextDecoder();
  }

  /** To be called once, before any export of the instance. */
  bind(instance) {
    this.memory = instance.exports.memory;
  }

  get view() {
    return new DataView(this.memory.buffer);
  }

  bytes(pointer, length) {
    return new Uint8Array(this.memory.buffer, pointer >>> 0, length >>> 0);
  }

  text(pointer, length) {
    return this.decoder.decode(this.bytes(pointer, length).slice());
  }

  /** The path that a call names, relative to an open folder. */
  path(fd, pointer, length) {
    const folder = this.open[fd].folder;
    return MemoryFiles.normal(folder + "/" + this.text(pointer, length));
  }

  writeList(list, pointers, buffer) {
    const view = this.view;
    for (const bytes of list) {
      view.setUint32(pointers, buffer, true);
      this.bytes(buffer, bytes.length).set(bytes);
      pointers += 4;
      buffer += bytes.length;
    }
    return Wasi.OK;
  }

  writeSizes(list, count, size) {
    this.view.setUint32(count, list.length, true);
    this.view.setUint32(
      size,
      list.reduce((sum, bytes) => sum + bytes.length, 0),
      true,
    );
    return Wasi.OK;
  }

  writeStat(buffer, inode, type, size) {
    this.bytes(buffer, 64).fill(0);
    const view = this.view;
    view.setBigUint64(buffer, 1n, true);
    view.setBigUint64(buffer + 8, BigInt(inode), true);
    view.setUint8(buffer + 16, type);
    view.setBigUint64(buffer + 24, 1n, true);
    view.setBigUint64(buffer + 32, BigInt(size), true);
    return Wasi.OK;
  }

  /** [pointer, length] of each piece of a scattered read or write. */
  *pieces(list, count) {
    for (let i = 0; i < count; i++)
      yield [this.view.getUint32(list + 8 * i, true), this.view.getUint32(list + 8 * i + 4, true)];
  }

  /** Copies bytes to where the file is open, and moves on. */
  append(entry, bytes) {
    const file = entry.file;
    if (entry.appends) entry.at = file.size;
    const end = entry.at + bytes.length;
    if (end > file.bytes.length) {
      const larger = new Uint8Array(Math.max(end, 2 * file.bytes.length, 1024));
      larger.set(file.bytes.subarray(0, file.size));
      file.bytes = larger;
    }
    file.bytes.set(bytes, entry.at);
    entry.at = end;
    file.size = Math.max(file.size, end);
    file.changed = true;
  }

  /** The functions that a module imports as wasi_snapshot_preview1. */
  imports() {
    const names = Object.getOwnPropertyNames(WasiCalls.prototype).filter((name) => name !== "constructor");
    return Object.fromEntries(names.map((name) => [name, WasiCalls.prototype[name].bind(this)]));
  }
}
/* errno of WASI */
Wasi.OK = 0;
Wasi.BADF = 8;
Wasi.EXIST = 20;
Wasi.INVAL = 28;
Wasi.ISDIR = 31;
Wasi.NOENT = 44;
Wasi.NOSYS = 52;
Wasi.NOTDIR = 54;
Wasi.NOTEMPTY = 55;

/** The calls themselves; `this` is the Wasi object. Parameters as in WASI's document. */
class WasiCalls {
  args_sizes_get(count, size) {
    return this.writeSizes(this.args, count, size);
  }

  args_get(pointers, buffer) {
    return this.writeList(this.args, pointers, buffer);
  }

  environ_sizes_get(count, size) {
    return this.writeSizes(this.environment, count, size);
  }

  environ_get(pointers, buffer) {
    return this.writeList(this.environment, pointers, buffer);
  }

  clock_time_get(id, precision, result) {
    const milliseconds = id === 0 ? Date.now() : performance.now();
    this.view.setBigUint64(result, BigInt(Math.round(milliseconds * 1e6)), true);
    return Wasi.OK;
  }

  proc_exit(code) {
    throw new ProgramExit(code);
  }

  fd_prestat_get(fd, result) {
    if (fd !== 3) return Wasi.BADF;
    this.view.setUint32(result, 0, true);
    this.view.setUint32(result + 4, 1, true);
    return Wasi.OK;
  }

  fd_prestat_dir_name(fd, path) {
    this.bytes(path, 1)[0] = "/".charCodeAt(0);
    return Wasi.OK;
  }

  fd_fdstat_get(fd, result) {
    const entry = this.open[fd];
    if (!entry) return Wasi.BADF;
    this.bytes(result, 24).fill(0);
    this.view.setUint8(result, entry.type);
    this.view.setUint16(result + 2, entry.appends ? 1 : 0, true);
    if (entry.stream) return Wasi.OK; // without the right to seek: a terminal, or a pipe
    this.view.setBigUint64(result + 8, 0xffffffffffffffffn, true);
    this.view.setBigUint64(result + 16, 0xffffffffffffffffn, true);
    return Wasi.OK;
  }

  fd_fdstat_set_flags(fd, flags) {
    if (!this.open[fd]) return Wasi.BADF;
    this.open[fd].appends = (flags & 1) !== 0;
    return Wasi.OK;
  }

  fd_filestat_get(fd, result) {
    const entry = this.open[fd];
    if (!entry) return Wasi.BADF;
    if (entry.stream) return this.writeStat(result, 0, entry.type, 0);
    if (entry.file) return this.writeStat(result, entry.file.inode, 4, entry.file.size);
    return this.writeStat(result, this.files.folders.get(entry.folder), 3, 0);
  }

  fd_close(fd) {
    if (!this.open[fd]) return Wasi.BADF;
    this.open[fd] = undefined;
    return Wasi.OK;
  }

  fd_sync(fd) {
    return this.open[fd] ? Wasi.OK : Wasi.BADF;
  }

  fd_seek(fd, offset, whence, result) {
    const entry = this.open[fd];
    if (!entry || !entry.file) return Wasi.BADF;
    const from = [0, entry.at, entry.file.size][whence];
    const at = from + Number(offset);
    if (at < 0) return Wasi.INVAL;
    entry.at = at;
    this.view.setBigUint64(result, BigInt(at), true);
    return Wasi.OK;
  }

  fd_read(fd, list, count, result) {
    const entry = this.open[fd];
    if (!entry || entry.type === 3) return Wasi.BADF;
    let read = 0;
    for (const [pointer, length] of entry.file ? this.pieces(list, count) : []) {
      const part = entry.file.bytes.subarray(entry.at, Math.min(entry.at + length, entry.file.size));
      this.bytes(pointer, part.length).set(part);
      entry.at += part.length;
      read += part.length;
    }
    this.view.setUint32(result, read, true);
    return Wasi.OK;
  }

  fd_write(fd, list, count, result) {
    const entry = this.open[fd];
    if (!entry || entry.type === 3) return Wasi.BADF;
    let written = 0;
    for (const [pointer, length] of this.pieces(list, count)) {
      if (entry.stream) this.write(fd, this.bytes(pointer, length).slice());
      else this.append(entry, this.bytes(pointer, length));
      written += length;
    }
    this.view.setUint32(result, written, true);
    return Wasi.OK;
  }

  fd_readdir(fd, buffer, room, cookie, result) {
    const entry = this.open[fd];
    if (!entry || entry.type !== 3) return Wasi.NOTDIR;
    if (cookie === 0n) entry.list = this.files.list(entry.folder);
    let used = 0;
    for (let i = Number(cookie); i < entry.list.length && used < room; i++) {
      const [name, inode, isFolder] = entry.list[i];
      const text = new TextEncoder().encode(name);
      const record = new Uint8Array(24 + text.length);
      const view = new DataView(record.buffer);
      view.setBigUint64(0, BigInt(i + 1), true);
      view.setBigUint64(8, BigInt(inode), true);
      view.setUint32(16, text.length, true);
      view.setUint8(20, isFolder ? 3 : 4);
      record.set(text, 24);
      const part = record.subarray(0, room - used); // a cut record says that there is more
      this.bytes(buffer + used, part.length).set(part);
      used += part.length;
    }
    this.view.setUint32(result, used, true);
    return Wasi.OK;
  }

  path_open(fd, follow, pointer, length, flags, rights, inherited, fdFlags, result) {
    const path = this.path(fd, pointer, length);
    const [creates, wantsFolder, isNew, truncates] = [1, 2, 4, 8].map((bit) => (flags & bit) !== 0);
    let file = this.files.files.get(path);
    const isFolder = this.files.folders.has(path);
    if ((file || isFolder) && creates && isNew) return Wasi.EXIST;
    if (wantsFolder && !isFolder) return file ? Wasi.NOTDIR : Wasi.NOENT;
    if (isFolder && (creates || truncates)) return Wasi.ISDIR;
    if (!file && !isFolder) {
      if (!creates || !this.files.folders.has(MemoryFiles.parent(path))) return Wasi.NOENT;
      file = this.files.create(path);
    } else if (file && truncates) {
      Object.assign(file, { bytes: new Uint8Array(0), size: 0, changed: true });
    }
    const entry = file
      ? { file, at: 0, type: 4, appends: (fdFlags & 1) !== 0 }
      : { folder: path, type: 3 };
    let free = 4;
    while (this.open[free]) free++;
    this.open[free] = entry;
    this.view.setUint32(result, free, true);
    return Wasi.OK;
  }

  path_filestat_get(fd, flags, pointer, length, result) {
    const path = this.path(fd, pointer, length);
    const file = this.files.files.get(path);
    if (file) return this.writeStat(result, file.inode, 4, file.size);
    const inode = this.files.folders.get(path);
    return inode ? this.writeStat(result, inode, 3, 0) : Wasi.NOENT;
  }

  path_create_directory(fd, pointer, length) {
    const path = this.path(fd, pointer, length);
    if (this.files.folders.has(path) || this.files.files.has(path)) return Wasi.EXIST;
    if (!this.files.folders.has(MemoryFiles.parent(path))) return Wasi.NOENT;
    this.files.makeFolder(path);
    return Wasi.OK;
  }

  path_remove_directory(fd, pointer, length) {
    const path = this.path(fd, pointer, length);
    if (!this.files.folders.has(path)) return Wasi.NOENT;
    if (this.files.list(path).length > 0) return Wasi.NOTEMPTY;
    this.files.folders.delete(path);
    return Wasi.OK;
  }

  path_unlink_file(fd, pointer, length) {
    const path = this.path(fd, pointer, length);
    if (this.files.folders.has(path)) return Wasi.ISDIR;
    return this.files.files.delete(path) ? Wasi.OK : Wasi.NOENT;
  }

  path_rename(fd, pointer, length, newFd, newPointer, newLength) {
    const path = this.path(fd, pointer, length);
    const newPath = this.path(newFd, newPointer, newLength);
    const file = this.files.files.get(path);
    if (!file) return Wasi.NOENT;
    this.files.files.delete(path);
    this.files.files.set(newPath, file);
    file.changed = true;
    return Wasi.OK;
  }

  path_readlink(fd, pointer, length) {
    const path = this.path(fd, pointer, length);
    const exists = this.files.files.has(path) || this.files.folders.has(path);
    return exists ? Wasi.INVAL : Wasi.NOENT;
  }

  // Only threads wait, and there are none.
  poll_oneoff() {
    return Wasi.NOSYS;
  }
}

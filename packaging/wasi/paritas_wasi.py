"""A WASI program under wasmtime, as a command: paritas_wasi.py PROGRAM.wasm ARGS...

It sees the folder that it is run from, and the folders of the machine's root by their own names. What
wasmtime compiles stays beside the program, as PROGRAM.cwasm, if that folder can be written."""

import os
import sys
import tempfile

import wasmtime


def compiled(engine, path):
    """the program as a module, from PROGRAM.cwasm if this wasmtime made it of this file"""
    kept = os.path.splitext(path)[0] + ".cwasm"
    try:
        if os.path.getmtime(kept) >= os.path.getmtime(path):
            return wasmtime.Module.deserialize_file(engine, kept)
    except (OSError, wasmtime.WasmtimeError):  # not there, or of another wasmtime
        pass
    module = wasmtime.Module.from_file(engine, path)
    try:
        with tempfile.NamedTemporaryFile(dir=os.path.dirname(kept) or ".", delete=False) as file:
            file.write(module.serialize())
        os.replace(file.name, kept)
    except OSError:  # a folder of somebody else
        pass
    return module


class WasiProgram:
    stores_are_databases = False

    def __init__(self, path):
        self.engine = wasmtime.Engine()
        self.module = compiled(self.engine, path)
        self.linker = wasmtime.Linker(self.engine)
        self.linker.define_wasi()

    def start(self, words, config, folder, environment):
        config.argv = ["paritas", *words]
        config.env = list(environment.items())
        config.preopen_dir(folder, "/")  # relative names begin here
        for entry in os.scandir("/"):
            if entry.is_dir() and os.access(entry.path, os.R_OK):
                config.preopen_dir(entry.path, entry.path)
        store = wasmtime.Store(self.engine)
        store.set_wasi(config)
        try:
            self.linker.instantiate(store, self.module).exports(store)["_start"](store)
        except wasmtime.ExitTrap as end:
            return end.code
        return 0

    def run(self, words, folder=".", environment=None):
        """(exit code, standard output, standard error) as bytes"""
        config = wasmtime.WasiConfig()
        with tempfile.TemporaryDirectory() as place:
            paths = [os.path.join(place, name) for name in ("out", "error")]
            config.stdout_file, config.stderr_file = paths
            code = self.start(words, config, folder, environment or {})
            return code, *(open(path, "rb").read() for path in paths)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n")[0])
    config = wasmtime.WasiConfig()
    config.inherit_stdin()
    config.inherit_stdout()
    config.inherit_stderr()
    environment = {name: value for name, value in os.environ.items() if name.startswith("PARITAS_")}
    sys.exit(WasiProgram(sys.argv[1]).start(sys.argv[2:], config, ".", environment))


if __name__ == "__main__":
    main()

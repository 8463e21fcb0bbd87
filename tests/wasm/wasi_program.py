"""A WASI program under wasmtime, as a command: wasi_program.py PROGRAM.wasm ARGS...

It sees the folder that it is run from, and the folders of the machine's root by their own names. What
wasmtime compiles stays beside the program, as PROGRAM.cwasm."""

import os
import sys
import tempfile

import wasmtime


class WasiProgram:
    stores_are_databases = False

    def __init__(self, path):
        self.engine = wasmtime.Engine()
        compiled = os.path.splitext(path)[0] + ".cwasm"
        if not os.path.exists(compiled) or os.path.getmtime(compiled) < os.path.getmtime(path):
            with open(compiled, "wb") as file:
                file.write(wasmtime.Module.from_file(self.engine, path).serialize())
        self.module = wasmtime.Module.deserialize_file(self.engine, compiled)
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
    config = wasmtime.WasiConfig()
    config.inherit_stdin()
    config.inherit_stdout()
    config.inherit_stderr()
    environment = {name: value for name, value in os.environ.items() if name.startswith("PARITAS_")}
    sys.exit(WasiProgram(sys.argv[1]).start(sys.argv[2:], config, ".", environment))


if __name__ == "__main__":
    main()

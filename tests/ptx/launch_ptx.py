#!/usr/bin/env python3
"""Launches one PTX kernel on the driver of this folder: launch_ptx.py DRIVER FILE.ptx ENTRY THREADS BLOCKS

The kernel has the arguments of the library's kernels, each a memory of 256 numbers of four bytes, where `in`
holds 0, 1, 2, ... and the others zeros. Prints the answers. Exit 1: the driver saw a fault, which is on
standard error."""

import ctypes
import json
import sys

NUMBERS = 256
JIT_ERROR_LOG, JIT_ERROR_LOG_SIZE = 5, 6
ARGUMENTS = ["ints", "reals", "args", "in", "out", "slabs"]


class Driver:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)

    def __call__(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code:
            sys.exit(f"{name}: code {code}")


def memory_of(driver, numbers):
    address, row = ctypes.c_size_t(), (ctypes.c_uint32 * NUMBERS)(*numbers)
    driver("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(ctypes.sizeof(row)))
    driver("cuMemcpyHtoDAsync_v2", address, row, ctypes.c_size_t(ctypes.sizeof(row)), driver.stream)
    driver("cuStreamSynchronize", driver.stream)
    return address


def main():
    path, text, entry, threads, blocks = sys.argv[1:]
    driver = Driver(path)
    context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    driver.stream = ctypes.c_void_p()
    driver("cuInit", 0)
    driver("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    driver("cuCtxPushCurrent_v2", context)
    driver("cuStreamCreate", ctypes.byref(driver.stream), 1)
    options = (ctypes.c_int * 2)(JIT_ERROR_LOG, JIT_ERROR_LOG_SIZE)
    log = ctypes.create_string_buffer(1000)
    values = (ctypes.c_void_p * 2)(ctypes.addressof(log), 1000)
    with open(text, "rb") as file:
        driver("cuModuleLoadDataEx", ctypes.byref(module), file.read(), 2, options, values)
    driver("cuModuleGetFunction", ctypes.byref(function), module, entry.encode())
    memories = [memory_of(driver, range(NUMBERS) if name == "in" else ()) for name in ARGUMENTS]
    given = memories + [ctypes.c_uint32(1), ctypes.c_uint32(0)]
    pointers = (ctypes.c_void_p * len(given))(*[ctypes.addressof(one) for one in given])
    shape = [int(blocks), 1, 1, int(threads), 1, 1, 0]
    driver("cuLaunchKernel", function, *shape, driver.stream, pointers, None)
    out = (ctypes.c_uint32 * NUMBERS)()
    driver("cuMemcpyDtoHAsync_v2", out, memories[4], ctypes.c_size_t(ctypes.sizeof(out)), driver.stream)
    driver("cuStreamSynchronize", driver.stream)
    print(json.dumps(list(out)))


if __name__ == "__main__":
    main()

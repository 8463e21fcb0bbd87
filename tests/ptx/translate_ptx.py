#!/usr/bin/env python3
"""Translates PTX into C, and compiles that: translate_ptx.py FILE.ptx LIBRARY [CC-OPTION...]

A register becomes a variable, a label a label. Memory is the host's, so that an address is a pointer. The
entry becomes `void ptx_run(void **arguments)`, which is one thread from its start to its end (ptx_thread.h).

INSTRUCTIONS below are all that are known. Any other ends the translation, with its name: a sum without a
rounding, an approximation or a flush has no bits that C could give. Python's standard library only."""

import functools
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SPECIAL = {"%tid.x": "T->thread", "%ctaid.x": "T->block", "%ntid.x": "T->threads"}
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
OPPOSITES = {"ltu": ">=", "leu": ">", "gtu": "<=", "geu": "<"}


class Refused(Exception):
    """An instruction or a declaration that is not known."""


# ---- what instructions do: name -> (type of the result, types of the operands, C of a, b, c, d) ----


def known_instructions():
    yield from instructions_of_reals("f32", "f")
    yield from instructions_of_reals("f64", "")
    for bits in (16, 32, 64):
        yield from instructions_of_whole_numbers(bits)
    for bits in (32, 64):
        b, high = f"b{bits}", bits - 1
        yield f"bfi.{b}", b, [b, b, "u32", "u32"], f"ptx_insert{bits}(a, b, c, d)"
        for sign in "su":
            t = f"{sign}{bits}"
            yield f"cvt.rzi.{t}.f32", t, ["f32"], f"ptx_whole_{t}(a)"
            yield f"cvt.rzi.{t}.f64", t, ["f64"], f"ptx_whole_{t}(a)"
            for to in ("f32", "f64"):
                yield f"cvt.rn.{to}.{t}", to, [t], "a"
        yield f"shr.s{bits}", f"s{bits}", [f"s{bits}", "u32"], f"a >> (b > {high} ? {high} : b)"
    for to in (16, 32, 64):
        for source in (8, 16, 32, 64):
            for sign in "su":
                yield f"cvt.{sign}{to}.{sign}{source}", f"{sign}{to}", [f"{sign}{source}"], "a"
    for space in ("local", "global", "to.local", "to.global"):
        yield f"cvta.{space}.u64", "u64", ["u64"], "a"
    yield "mov.pred", "pred", ["pred"], "a"
    yield "not.pred", "pred", ["pred"], "!a"
    for name, sign in (("and", "&"), ("or", "|"), ("xor", "^")):
        yield f"{name}.pred", "pred", ["pred", "pred"], f"a {sign} b"


def instructions_of_reals(t, suffix):
    for name, sign in (("add", "+"), ("sub", "-"), ("mul", "*"), ("div", "/")):
        yield f"{name}.rn.{t}", t, [t, t], f"a {sign} b"
    yield f"fma.rn.{t}", t, [t, t, t], f"__builtin_fma{suffix}(a, b, c)"
    yield f"rcp.rn.{t}", t, [t], "1 / a"
    yield f"sqrt.rn.{t}", t, [t], f"__builtin_sqrt{suffix}(a)"
    yield f"neg.{t}", t, [t], "-a"
    yield f"abs.{t}", t, [t], f"__builtin_fabs{suffix}(a)"
    yield f"mov.{t}", t, [t], "a"
    yield f"selp.{t}", t, [t, t, "pred"], "c ? a : b"
    # a NaN loses, and -0 is less than +0
    for name, sign, zero in (("min", "<", "a"), ("max", ">", "b")):
        equal = f"__builtin_signbit(a) ? {zero} : {'b' if zero == 'a' else 'a'}"
        yield f"{name}.{t}", t, [t, t], f"a != a ? b : b != b ? a : a {sign} b ? a : a != b ? b : {equal}"
    for name, sign in COMPARISONS.items():
        yield f"setp.{name}.{t}", "pred", [t, t], f"a {sign} b"
    yield f"setp.ne.{t}", "pred", [t, t], "a < b || a > b"
    yield f"setp.equ.{t}", "pred", [t, t], "!(a < b || a > b)"
    yield f"setp.neu.{t}", "pred", [t, t], "a != b"
    yield f"setp.num.{t}", "pred", [t, t], "a == a && b == b"
    yield f"setp.nan.{t}", "pred", [t, t], "a != a || b != b"
    for name, sign in OPPOSITES.items():
        yield f"setp.{name}.{t}", "pred", [t, t], f"!(a {sign} b)"


def instructions_of_whole_numbers(bits):
    b, high = f"b{bits}", bits - 1
    for name, sign in (("and", "&"), ("or", "|"), ("xor", "^")):
        yield f"{name}.{b}", b, [b, b], f"a {sign} b"
    yield f"not.{b}", b, [b], "~a"
    yield f"shl.{b}", b, [b, "u32"], f"b > {high} ? 0 : a << b"
    yield f"shr.u{bits}", b, [b, "u32"], f"b > {high} ? 0 : a >> b"
    for t in (b, f"s{bits}", f"u{bits}"):
        yield f"mov.{t}", t, [t], "a"
        yield f"selp.{t}", t, [t, t, "pred"], "c ? a : b"
        for name, sign in COMPARISONS.items():
            yield f"setp.{name}.{t}", "pred", [t, t], f"a {sign} b"
    for t in (f"s{bits}", f"u{bits}"):
        # sums wrap: they are sums of numbers without a sign
        yield f"add.{t}", b, [b, b], "a + b"
        yield f"sub.{t}", b, [b, b], "a - b"
        yield f"neg.{t}", b, [b], "0 - a"
        yield f"mul.lo.{t}", b, [b, b], "a * b"
        yield f"mad.lo.{t}", b, [b, b, b], "a * b + c"
        yield f"min.{t}", t, [t, t], "a < b ? a : b"
        yield f"max.{t}", t, [t, t], "a > b ? a : b"
        yield f"div.{t}", t, [t, t], "a / b"
        yield f"rem.{t}", t, [t, t], "a % b"
    for sign in "su" if bits < 64 else "":
        wide = f"{sign}{2 * bits}"
        yield f"mul.wide.{sign}{bits}", wide, [f"{sign}{bits}"] * 2, f"({c_type(wide)})a * b"
        yield f"mad.wide.{sign}{bits}", wide, [f"{sign}{bits}"] * 2 + [wide], f"({c_type(wide)})a * b + c"


@functools.lru_cache(maxsize=None)
def width(t):
    return 1 if t == "pred" else int(t[1:])


@functools.lru_cache(maxsize=None)
def c_type(t):
    if t in ("pred", "f32", "f64"):
        return {"pred": "bool", "f32": "float", "f64": "double"}[t]
    return f"{'int' if t[0] == 's' else 'uint'}{t[1:]}_t"


INSTRUCTIONS = {name: (result, operands, text) for name, result, operands, text in known_instructions()}
BARRIERS = {"bar.sync": ["0"], "barrier.sync": ["0"]}
RETURNS = ("ret", "ret.uni", "exit")
BRANCHES = ("bra", "bra.uni")
CALLS = ("call", "call.uni")
ACCESS = re.compile(r"(ld|st)(?:\.(global|local|param))?(\.nc)?(?:\.v([24]))?\.([bsuf](?:8|16|32|64))")


# ---- one function ----


@functools.lru_cache(maxsize=None)
def c_name(name):
    return "v_" + re.sub(r"\W", "_", name.replace("$", "L").lstrip("%"))


def split(text):
    """operands: at commas outside of braces and brackets"""
    return [part.strip() for part in re.findall(r"(?:\{[^}]*\}|\[[^\]]*\]|[^,{\[])+", text)]


class Function:
    """Translates the body of a function; `symbols`: names whose address is a number."""

    def __init__(self, symbols):
        self.symbols, self.registers, self.lines = set(symbols), {}, []

    def operand(self, text, t):
        """an operand as a number of type t, in C"""
        if text in self.registers:
            if t == "pred" or self.registers[text] == "pred":
                return self.same_kind(text, t)
            bits = f"{c_name(text)}.b"
            if t[0] == "f":
                return f"{c_name(text)}.f" if self.registers[text] == f"b{width(t)}" else self.wrong(text, t)
            return f"({c_type(t)}){bits}"
        if text in SPECIAL:
            return SPECIAL[text]
        if text in self.symbols:
            return f"(uint64_t)(uintptr_t){c_name(text)}"
        return self.literal(text, t)

    def literal(self, text, t):
        real = re.fullmatch(r"0[dDfF]([0-9A-Fa-f]{8}(?:[0-9A-Fa-f]{8})?)", text)
        whole = None if real else re.fullmatch(r"-?(?:0[xX][0-9A-Fa-f]+|\d+)U?", text)
        if not real and not whole:
            self.wrong(text, t)
        bits = int(real[1], 16) if real else int(text.rstrip("U"), 0)
        if real and 4 * len(real[1]) != width(t):
            self.wrong(text, t)
        bits &= (1 << width(t)) - 1
        if t[0] == "f":
            return f"((union ptx{width(t)}){{UINT{width(t)}_C(0x{bits:x})}}).f"
        return f"({c_type(t)})UINT64_C(0x{bits:x})"

    def wrong(self, text, t):
        raise Refused(f"operand {text} as {t}")

    def same_kind(self, register, t):
        return c_name(register) if t == self.registers[register] else self.wrong(register, t)

    def assign(self, register, t, value):
        """sets a register, which may be wider than a whole number of type t"""
        kind = self.registers.get(register) or self.wrong(register, t)
        if "pred" in (t, kind):
            return f"{self.same_kind(register, t)} = {value};"
        if width(kind) < width(t) or (t[0] == "f" and width(kind) != width(t)):
            self.wrong(register, t)
        return f"{c_name(register)}.{'f' if t[0] == 'f' else 'b'} = ({c_type(t)})({value});"

    def address(self, text):
        parts = re.fullmatch(r"\[([^\s+\]]+)\s*(?:\+\s*(-?\d+))?\]", text)
        if not parts:
            raise Refused(f"address {text}")
        return f"({self.operand(parts[1], 'u64')} + UINT64_C({int(parts[2] or 0) & (1 << 64) - 1}))"

    def access(self, name, words, operands):
        """loads and stores; those of parameters are never looked at"""
        what, space, constant, count, t = words.groups()
        count, size = int(count or 1), width(t) // 8
        stores = what == "st"
        if stores:
            operands = operands[::-1]
        if len(operands) != 2 or (constant and (stores or space != "global")):
            raise Refused(name)
        registers, at = split(operands[0].strip("{}")), self.address(operands[1])
        if len(registers) != count:
            raise Refused(f"{name} of {len(registers)} numbers")
        kind = "WRITES" if stores else "READS_CONSTANT" if constant else "READS"
        looks = "" if space == "param" else f"PTX_LOOK(at, {count * size}, PTX_{kind}, {len(self.lines)}); "
        moves = [self.move(stores, t, register, k * size) for k, register in enumerate(registers)]
        return f"{{ const uint64_t at = {at}; {looks}{' '.join(moves)} }}"

    def move(self, stores, t, register, offset):
        if stores:
            return f"PTX_STORE({c_type(t)}, at + {offset}, {self.operand(register, t)});"
        return f"{{ {c_type(t)} got; PTX_LOAD(got, at + {offset}); {self.assign(register, t, 'got')} }}"

    def call(self, text):
        parts = re.fullmatch(r"(?:\(([^()]*)\)\s*,)?\s*([\w$]+)\s*(?:,\s*\(([^()]*)\))?", text)
        if not parts:
            raise Refused(f"call {text}")
        given = [c_name(name) for group in (parts[1], parts[3]) for name in split(group or "")]
        return f"{c_name(parts[2])}({', '.join(['T'] + given)});"

    def plain(self, name, operands):
        """an instruction of the table"""
        result, types, text = INSTRUCTIONS[name]
        if len(operands) != len(types) + 1:
            raise Refused(f"{name} of {len(operands)} operands")
        given = dict(zip("abcd", map(self.operand, operands[1:], types)))
        value = re.sub(r"\b[abcd]\b", lambda m: given[m[0]], text)
        return self.assign(operands[0], result, value)

    def instruction(self, text):
        guard = re.match(r"@(!?)(%[\w$]+)\s+", text)
        before = f"if ({guard[1]}{self.operand(guard[2], 'pred')}) " if guard else ""
        name, _, rest = text[guard.end() if guard else 0 :].strip().partition(" ")
        operands, access = split(rest), ACCESS.fullmatch(name)
        if name in INSTRUCTIONS:
            done = self.plain(name, operands)
        elif access:
            done = self.access(name, access, operands)
        elif name in BRANCHES:
            done = f"goto {c_name(operands[0])};"
        elif BARRIERS.get(name) == operands:
            done = f"PTX_BARRIER({len(self.lines)});"
        elif name in CALLS:
            done = self.call(rest)
        elif name in RETURNS and not operands:
            done = "return;"
        else:
            raise Refused(f"instruction {text}")
        self.lines.append(before + done)

    def declare(self, text):
        variables = re.fullmatch(r"\.reg \.(\w+) (.*)", text)
        memory = re.fullmatch(r"\.(local|param) (?:\.align \d+ )?\.(\w+) ([\w$]+)(?:\[(\d+)\])?", text)
        if variables:
            kind = "pred" if variables[1] == "pred" else f"b{width(variables[1])}"
            for name in split(variables[2]):
                many = re.fullmatch(r"(%[\w$]+)<(\d+)>", name)
                names = [f"{many[1]}{k}" for k in range(int(many[2]))] if many else [name]
                self.registers.update(dict.fromkeys(names, kind))
                c = "bool" if kind == "pred" else f"union ptx{kind[1:]}"
                for one in names:
                    self.lines.append(f"{c} {c_name(one)};")
        elif memory:
            size = width(memory[2]) // 8 * int(memory[4] or 1)
            self.symbols.add(memory[3])
            what = "PRIVATE" if memory[1] == "local" else "PARAMETER"
            self.lines.append(f"PTX_{what}({c_name(memory[3])}, {size});")
        elif not re.match(r"\.(pragma|loc|file)\b", text):
            raise Refused(f"declaration {text}")

    def translate(self, body):
        for kind, text in statements(body):
            if kind == "brace":
                self.lines.append(text)
            elif kind == "label":
                self.lines.append(f"{c_name(text)}:;")
            elif text.startswith("."):
                self.declare(text)
            elif text:
                self.instruction(text)
        return self.lines


def statements(body):
    """(brace, label or text; what it says)"""
    one = re.compile(
        r"\s*(?:(?P<brace>[{}])|(?P<label>[\w$]+):|(?P<text>[^;{}]*(?:\{[^{}]*\}[^;{}]*)*);)", re.S
    )
    body, at = body.rstrip(), 0
    while at < len(body):
        found = one.match(body, at)
        if not found:
            raise Refused(f"statement {body[at : at + 60].strip()}")
        yield found.lastgroup, " ".join(found[found.lastgroup].split())
        at = found.end()


# ---- a module ----


def parameters(text):
    """names of a function's parameters"""
    return [re.search(r"([\w$]+)(?:\[\d+\])?$", part)[1] for part in split(text or "")]


def end_of_block(text, at):
    """the place behind the brace that closes the one at `at`"""
    depth = 0
    for brace in re.compile(r"[{}]").finditer(text, at):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    raise Refused("a block without an end")


def table(text):
    """a variable of the module, as bytes; (its name, C)"""
    parts = re.fullmatch(
        r"(?:\.align (\d+) )?\.(\w+) ([\w$]+)((?:\[\d+\])*)(?: = (?:\{(.*)\}|(.*)))?", " ".join(text.split())
    )
    if not parts:
        raise Refused(f"variable {text[:60]}")
    align, t, name, sizes = parts[1], parts[2], parts[3], re.findall(r"\d+", parts[4])
    count, size, raw = 1, width(t) // 8, b""
    for number in sizes:
        count *= int(number)
    for item in re.findall(r"[^\s,{}]+", parts[5] or parts[6] or ""):
        number = int(item[2:], 16) if item[:2].lower() in ("0d", "0f") else int(item, 0)
        raw += (number & (1 << 8 * size) - 1).to_bytes(size, "little")
    raw = raw.ljust(count * size, b"\0")
    # a store into a table is a fault that the driver tells, and then happens: no `const`
    c = f"_Alignas({max(int(align or 1), 16)}) static unsigned char {c_name(name)}[{len(raw)}]"
    return name, f"{c} = {{{', '.join(map(str, raw))}}};"


def translate(ptx):
    """C of a module with one entry"""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", ptx.rstrip("\0"), flags=re.S)
    one = re.compile(
        r"\s*(?:\.(?P<line>version|target|address_size)[^\n]*"
        r"|(?:\.(?:visible|extern|weak)\s+)*\.(?:global|const)\s+(?P<table>[^;]*);"
        r"|(?:\.(?:visible|extern|weak)\s+)*\.(?P<kind>func|entry)\s*(?:\((?P<result>[^()]*)\))?\s*"
        r"(?P<name>[\w$]+)\s*(?:\((?P<parameters>[^()]*)\))?\s*(?:\.(?:maxntid|noreturn|pragma)[^\n;{]*\s*)*"
        r"(?P<end>[;{])|(?P<nothing>;))"
    )
    symbols, prototypes, bodies, entries, at = [], [], [], [], 0
    while text[at:].strip():
        found = one.match(text, at)
        if not found:
            raise Refused(f"declaration {text[at : at + 60].strip()}")
        at = found.end()
        if found["table"]:
            name, c = table(found["table"])
            symbols.append(name)
            prototypes.append(c)
        if not found["kind"]:
            continue
        names = parameters(found["result"]) + parameters(found["parameters"])
        head = f"static void {c_name(found['name'])}(" + ", ".join(
            ["struct ptx_thread *T"] + [f"unsigned char *{c_name(name)}" for name in names]
        )
        prototypes.append(f"{head});")
        if found["end"] == ";":
            continue
        end = end_of_block(text, at - 1)
        bodies += [f"{head})", "{", *Function(symbols + names).translate(text[at : end - 1]), "}"]
        if found["kind"] == "entry":
            entries.append((found["name"], len(names)))
        at = end
    if len(entries) != 1:
        raise Refused(f"a module of {len(entries)} entries")
    name, count = entries[0]
    given = [f"arguments[{k}]" for k in range(count)]
    tables = [f"{{{c_name(table)}, sizeof {c_name(table)}}}," for table in symbols]
    tables = ["static const struct ptx_memory ptx_tables[] = {", *tables, "{NULL, 0}};"]
    run = f"PTX_RUN({c_name(name)}({', '.join(['&thread'] + given)}))"
    return "\n".join(['#include "ptx_thread.h"', *prototypes, *bodies, *tables, run]) + "\n"


# ---- the compiler ----


def fused_products():
    """options by which the compiler uses the machine's fma; without them it calls libm's, which is exact"""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return ["-mfma"] if re.search(r"^flags\b.*\bfma\b", file.read(), re.M) else []
    except OSError:
        return []


def compile_c(source, library, options):
    """by CC; a library appears whole or not at all"""
    made = f"{library}.{os.getpid()}"
    command = os.environ.get("CC", "cc").split() + fused_products() + options
    command += ["-w", "-std=c17", "-ffp-contract=off", "-fno-strict-aliasing", "-fwrapv", "-fPIC", "-shared"]
    subprocess.run(command + [f"-I{HERE}", source, "-o", made, "-lm"], check=True)
    os.replace(made, library)


def main():
    path, library, options = sys.argv[1], sys.argv[2], sys.argv[3:]
    with open(path, encoding="utf-8") as file:
        try:
            c = translate(file.read())
        except Refused as refused:
            sys.exit(f"{os.path.basename(path)}: not known: {refused}")
    with open(f"{library}.c", "w", encoding="utf-8") as file:
        file.write(c)
    compile_c(f"{library}.c", library, options)


if __name__ == "__main__":
    main()

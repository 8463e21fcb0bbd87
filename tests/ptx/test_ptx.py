"""The translator of PTX and the driver that runs it: what they refuse and compute, which faults they see."""

import importlib.machinery
import importlib.util
import json
import os
import shutil
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.dirname(os.path.dirname(os.path.abspath(os.environ["PARITAS_BIN"])))
DRIVER = os.path.join(BUILD, "tests", "ptx_driver", "libcuda.so.1")
COMPILERS = list(filter(shutil.which, ("clang", "gcc", "cc")))
COMPILER = COMPILERS[0] if COMPILERS else None
sys.path.insert(0, HERE)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "tools"))

import gpu_kernels
import run_ptx
import translate_ptx

runs = pytest.mark.skipif(
    not COMPILER or not os.path.exists(DRIVER), reason="no C compiler, or the driver is not built"
)
FRAME = """.version 7.0
.target sm_75
.address_size 64
.global .align 4 .b8 four[4] = {1, 2, 3, 4};
.visible .entry tiny(
.param .u64 tiny_param_0, .param .u64 tiny_param_1, .param .u64 tiny_param_2, .param .u64 tiny_param_3,
.param .u64 tiny_param_4, .param .u64 tiny_param_5, .param .u32 tiny_param_6, .param .u32 tiny_param_7
)
.maxntid THREADS, 1, 1
{
.reg .pred %p<9>;
.reg .f32 %f<9>;
.reg .f64 %fd<9>;
.reg .b32 %r<9>;
.reg .b64 %rd<9>;
.local .align 8 .b8 depot[16];
mov.u32 %r1, %tid.x;
ld.param.u64 %rd1, [tiny_param_3];
ld.param.u64 %rd2, [tiny_param_4];
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd1, %rd1, %rd3;
add.s64 %rd2, %rd2, %rd3;
ld.global.u32 %r2, [%rd1];
BODY
ret;
}
"""


def text_of(body, threads=1):
    return FRAME.replace("THREADS", str(threads)).replace("BODY", body)


def launch(folder, body, threads=1, blocks=1, compiler=COMPILER):
    """what the driver says about a kernel with this body"""
    path = folder / "tiny.ptx"
    path.write_text(text_of(body, threads))
    environment = dict(
        os.environ, CC=compiler, PTX_CACHE=str(folder), PTX_LOOKS="1", PTX_OPTIONS="-O1", PTX_REPORT=""
    )
    command = [
        sys.executable,
        os.path.join(HERE, "launch_ptx.py"),
        DRIVER,
        path,
        "tiny",
        str(threads),
        str(blocks),
    ]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize(
    "instruction",
    [
        "add.f64 %fd1, %fd2, %fd3",  # free to be contracted
        "mul.f32 %f1, %f2, %f3",
        "mad.rn.f32 %f1, %f2, %f3, %f4",
        "fma.rn.ftz.f32 %f1, %f2, %f3, %f4",
        "add.rz.f64 %fd1, %fd2, %fd3",
        "mul.rn.sat.f32 %f1, %f2, %f3",
        "div.approx.f32 %f1, %f2, %f3",
        "div.full.f32 %f1, %f2, %f3",
        "sqrt.approx.f32 %f1, %f2",
        "rcp.approx.ftz.f64 %fd1, %fd2",
        "ex2.approx.f32 %f1, %f2",
        "sin.approx.f32 %f1, %f2",
        "cvt.f32.f64 %f1, %fd2",
        "cvt.rz.f32.f64 %f1, %fd2",
        "setp.lt.ftz.f32 %p1, %f1, %f2",
        "atom.global.add.f32 %f1, [%rd1], %f2",
        "ld.shared.f32 %f1, [%rd1]",
        "bar.sync 1",
        "bar.warp.sync 4294967295",
        "frob.b32 %r1, %r2",
    ],
)
def test_an_instruction_without_known_bits_is_refused_by_name(instruction):
    with pytest.raises(translate_ptx.Refused, match=f"instruction {instruction.split()[0]}"):
        translate_ptx.translate(text_of(instruction + ";"))


@pytest.mark.parametrize(
    "statement, complaint",
    [
        (".shared .align 4 .b8 common[4];", "declaration .shared"),
        ("add.rn.f64 %fd1, %fd2, 0f3F800000;", "operand 0f3F800000 as f64"),
        ("add.rn.f64 %fd1, %fd2, %r1;", "operand %r1 as f64"),
        ("add.rn.f64 %fd1, %fd2;", "add.rn.f64 of 2 operands"),
        ("mov.u32 %r1, %clock;", "operand %clock as u32"),
    ],
)
def test_what_has_no_meaning_is_refused(statement, complaint):
    with pytest.raises(translate_ptx.Refused, match=complaint):
        translate_ptx.translate(text_of(statement))


STORE = "st.global.u32 [%rd2], %r3;"


@runs
@pytest.mark.parametrize(
    "body, answer",
    [
        ("add.s32 %r3, %r2, -1;", 0xFFFFFFFF),
        ("shl.b32 %r3, 1, 32;", 0),
        ("shr.u32 %r3, -1, 40;", 0),
        ("shr.s32 %r3, -8, 40;", 0xFFFFFFFF),
        ("bfi.b32 %r3, 255, 0, 4, 6;", 0x3F0),
        ("mul.wide.s32 %rd4, -3, 5; cvt.u32.u64 %r3, %rd4;", 0xFFFFFFF1),
        ("mad.lo.s32 %r3, 65535, 65537, 3;", 2),
        ("cvt.rzi.u32.f32 %r3, 0fBF800000;", 0),  # -1
        ("cvt.rzi.s32.f64 %r3, 0d7FF8000000000000;", 0),  # NaN
        ("cvt.rzi.s32.f64 %r3, 0d4200000000000000;", 0x7FFFFFFF),  # 2^33
        ("max.f32 %f1, 0f7FC00000, 0f3F800000; mov.b32 %r3, %f1;", 0x3F800000),
        ("min.f32 %f1, 0f00000000, 0f80000000; mov.b32 %r3, %f1;", 0x80000000),
        # (1 + e)^2 - (1 + 2 e), e = 2^-23: rounded once and twice
        ("fma.rn.f32 %f1, 0f3F800001, 0f3F800001, 0fBF800002; mov.b32 %r3, %f1;", 0x28800000),
        ("mul.rn.f32 %f1, 0f3F800001, 0f3F800001; add.rn.f32 %f1, %f1, 0fBF800002; mov.b32 %r3, %f1;", 0),
        ("div.rn.f32 %f1, 0f3F800000, 0f40400000; mov.b32 %r3, %f1;", 0x3EAAAAAB),
        ("mul.rn.f32 %f1, 0f00800000, 0f3F000000; mov.b32 %r3, %f1;", 0x00400000),  # subnormal
        ("setp.ltu.f32 %p1, 0f7FC00000, 0f00000000; selp.u32 %r3, 1, 0, %p1;", 1),
        ("setp.ne.f32 %p1, 0f7FC00000, 0f00000000; selp.u32 %r3, 1, 0, %p1;", 0),
        ("setp.eq.s32 %p1, 1, 2; mov.u32 %r3, 5; @%p1 mov.u32 %r3, 6;", 5),
        ("mov.u64 %rd4, four; ld.global.u8 %r3, [%rd4+2];", 3),
        ("mov.u64 %rd4, depot; st.local.u32 [%rd4+12], 9; ld.local.u32 %r3, [%rd4+12];", 9),
    ],
)
def test_instructions_have_their_bits(tmp_path, body, answer):
    done = launch(tmp_path, body + STORE)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0] == answer


NEIGHBOUR = "xor.b32 %r4, %r1, 1; ld.param.u64 %rd4, [tiny_param_4]; mad.wide.u32 %rd4, %r4, 4, %rd4;"
READ = "ld.global.u32 %r3, [%rd4];"
BARRIER = "bar.sync 0;"


@runs
@pytest.mark.parametrize(
    "body, fault",
    [
        (f"st.global.u32 [%rd2], %r2; {BARRIER} {NEIGHBOUR} {READ}", None),
        (f"st.global.u32 [%rd2], %r2; {NEIGHBOUR} {READ}", "race"),
        (f"{NEIGHBOUR} {READ} {BARRIER} st.global.u32 [%rd2], %r2;", None),
        (f"{NEIGHBOUR} {READ} st.global.u32 [%rd2], %r2;", "race"),
        ("ld.param.u64 %rd4, [tiny_param_4]; st.global.u32 [%rd4], %r2;", "race"),
        ("st.global.u32 [%rd2+1024], %r2;", "outside of its memory"),
        ("st.global.u32 [%rd2+-4], %r2;", "outside of its memory"),
        ("ld.global.u32 %r3, [%rd1+4096];", "outside of its memory"),
        ("mov.u64 %rd4, depot; ld.local.u32 %r3, [%rd4+16];", "outside of its memory"),
        ("mov.u64 %rd4, four; st.global.u8 [%rd4], 0;", "outside of its memory"),
        ("st.global.u32 [%rd1], %r2;", "outside of its memory"),  # a kernel does not write what it is given
        ("ld.global.u64 %rd4, [%rd1+4];", "not aligned"),
        ("ld.global.nc.u32 %r3, [%rd2];", "ld.global.nc"),
        (f"setp.eq.s32 %p1, %r1, 0; @%p1 {BARRIER}", "wait at different places"),
    ],
)
def test_faults_are_seen(tmp_path, body, fault):
    done = launch(tmp_path, body, threads=2)
    if fault:
        assert done.returncode == 1 and fault in done.stderr, done.stderr
    else:
        assert done.returncode == 0, done.stderr


@runs
@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_store_into_a_table_is_told_whatever_compiled_it(tmp_path, compiler):
    done = launch(tmp_path, "mov.u64 %rd4, four; st.global.u8 [%rd4], 0;", compiler=compiler)
    assert done.returncode == 1 and "outside of its memory" in done.stderr, (done.returncode, done.stderr)


@runs
def test_blocks_of_a_launch_share_nothing(tmp_path):
    own = "mov.u32 %r4, %ctaid.x; mad.wide.u32 %rd4, %r4, 4, %rd2; st.global.u32 [%rd4], %r2;"
    assert launch(tmp_path, own, blocks=3).returncode == 0
    done = launch(tmp_path, "st.global.u32 [%rd2], %r2;", blocks=2)
    assert done.returncode == 1 and "race: thread 0 of block 1" in done.stderr


@runs
def test_a_module_that_is_refused_does_not_load(tmp_path):
    done = launch(tmp_path, "ex2.approx.f32 %f1, %f2;")
    assert done.returncode == 1
    assert "not known: instruction ex2.approx.f32" in done.stderr and "cuModuleLoadDataEx" in done.stderr


def check_ptx():
    """the module tools/check_ptx"""
    loader = importlib.machinery.SourceFileLoader("check_ptx", os.path.join(sys.path[0], "check_ptx"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_ptx", loader))
    loader.exec_module(module)
    return module


SUM = """ld.global.f64 %fd1, [%rd1]; mul.ROUNDED.f64 %fd2, %fd1, %fd1; add.ROUNDED.f64 %fd2, %fd2, %fd1;
fma.rn.f64 %fd3, %fd2, %fd1, %fd2;
div.rn.f64 %fd3, %fd3, %fd2;
sqrt.rn.f64 %fd3, %fd3;
st.global.f64 [%rd2], %fd3;"""


@pytest.mark.parametrize("rounding, wrong", [(".rn", False), ("", True)])
def test_products_and_sums_that_ptxas_contracts_are_found(rounding, wrong):
    tools = {name: gpu_kernels.find_tool(name) for name in ("ptxas", "nvdisasm")}
    if None in tools.values():
        pytest.skip(f"there is not all of {', '.join(tools)}")
    ptx = text_of(SUM.replace(".ROUNDED", rounding))
    label, complaints = check_ptx().check_machine_code(tools, ("tiny", 64), ptx, 90)
    assert "registers" in label
    assert complaints == (["1 DFMA are not in the PTX"] if wrong else [])


def test_every_module_is_run():
    run_ptx.check_modules()
    assert ("hf_fit", 64) in run_ptx.all_entries(run_ptx.EMBEDDED)
    assert ("losscone_cosines", 32) not in run_ptx.all_entries(run_ptx.EMBEDDED)

# RUN: %not %tlec 2>&1 | %filecheck %s --check-prefix=NOFILE
# RUN: %not %tlec %s 2>&1 | %filecheck %s --check-prefix=NOKERNEL
# RUN: %not %tlec %s --kernl=f 2>&1 | %filecheck %s --check-prefix=UNKNOWN
# RUN: %not %tlec %s --kernel f --num-warps 3 2>&1 | %filecheck %s --check-prefix=WARPS
# RUN: %not %tlec %s --kernel f --target sm_12 2>&1 | %filecheck %s --check-prefix=TARGET
# RUN: %not %tlec %s --kernel f --emit=obj 2>&1 | %filecheck %s --check-prefix=EMIT
# RUN: %not %tlec %s --kernel f --sig 'x:*f33' 2>&1 | %filecheck %s --check-prefix=TYPE
# RUN: %not %tlec %s --kernel f --sig 'x:*fp32:a' 2>&1 | %filecheck %s --check-prefix=FACT
# RUN: %not %tlec %s --kernel f --sig 'x' 2>&1 | %filecheck %s --check-prefix=FORM
# RUN: %not %tlec %s --kernel f --disable-strategy redux,voting 2>&1 | %filecheck %s --check-prefix=STRATEGY
# RUN: %not %tlec %s --kernel f --import-root %s 2>&1 | %filecheck %s --check-prefix=FOLDER
# RUN: %not %tlec %t/none.py --kernel f 2>&1 | %filecheck %s --check-prefix=MISSING
# RUN: %tlec --help | %filecheck %s --check-prefix=HELP
# RUN: %tlec --version | %filecheck %s --check-prefix=VERSION
# RUN: %tlec %s --list-kernels | %filecheck %s --check-prefix=LIST
# RUN: %tlec %s --emit=ast | %filecheck %s --check-prefix=AST
# RUN: %tlec %s --kernel f --sig 'x:*f32:16, n:i32' --const 'K=4, S="a,b"' --emit=meta | %filecheck %s --check-prefix=META
# RUN: %tlec %s --kernel f --sig 'x:*f32:16, n:i32' --const K=4,S=None --emit=tir --time-passes 2>&1 | %filecheck %s --check-prefix=TIME
import triton
import triton.language as tl

# NOFILE: tlec: no source file
# NOKERNEL: tlec: no --kernel (--list-kernels prints the names to choose from)
# UNKNOWN: tlec: '--kernl=f' is no option, or lacks its value
# WARPS: tlec: --num-warps=3, expected a power of two
# TARGET: tlec: --target=sm_12 is unknown, expected one like sm_90a
# EMIT: tlec: --emit=obj is unknown, expected ast, tir, llvm, llvm-opt, ptx, cubin or meta
# TYPE: tlec: unknown type '*f33', expected one like i32, fp32 or *bf16
# FACT: tlec: 'a' is no fact, expected what the value is a multiple of
# FORM: tlec: 'x' is not of the form name:type
# STRATEGY: tlec: 'voting' is no strategy, expected some of ballot-scan, packed-scan, sum-scan, redux, whole-vectors
# FOLDER: tlec: --import-root={{.*}}options.py, expected a folder
# MISSING: tlec: {{.*}}none.py cannot be read: No such file or directory
# HELP: usage: tlec FILE.py --kernel NAME [options]
# VERSION: tlec {{[0-9.]+}}, LLVM 22
# LIST: f
# LIST-NEXT: g
# AST: MODULE
# META: "kernel":"f",{{.*}}"num_warps":4,"threads":128,"cluster":[1,1,1],"cooperative":false,
# META-SAME: "params":[{"name":"x","type":"*fp32","offset":0,"size":8,"align":8},
# META-SAME: {"name":"n","type":"i32","offset":8,"size":4,"align":4}],"const":{"K":4,"S":"a,b"},
# META-SAME: "legal":{},"ptx_instructions":{{[1-9][0-9]*}}}
# TIME: ms lex/parse
# TIME: ms sema
# TIME: ms canon
# TIME: ms total


@triton.jit
def f(x, n, K: tl.constexpr, S: tl.constexpr):
    tl.store(x, n * K)


@triton.jit
def g(x):
    tl.store(x, 1)

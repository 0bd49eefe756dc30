# RUN: %python %s > %t.py
# RUN: %not %tlec --kernel doubling --sig n:i32 --emit=tir --passes= %t.py 2>&1 | %filecheck --check-prefix=STEPS %s
# RUN: %not %tlec --kernel nesting --sig n:i32 --emit=tir --passes= %t.py 2>&1 | %filecheck --check-prefix=CALLS %s
# RUN: %not %tlec --kernel returns --sig n:i32 --emit=tir --passes= %t.py 2>&1 | %filecheck --check-prefix=DEPTH %s
# RUN: %not %tlec --kernel unrolled --sig n:i32 --emit=tir --passes= %t.py 2>&1 | %filecheck --check-prefix=UNROLL %s
# Sources that would not end, or would overflow the stack, meet a limit with a name. This file writes
# them.

# STEPS: error[E0307]: this specialisation takes more than 2000000 steps of inlining and unrolling
# CALLS: error[E0302]: calls are nested more than 64 deep
# CALLS: note: and {{[0-9]+}} more calls around it
# DEPTH: error[E0302]: expressions, blocks and calls are nested more than 1000 levels deep
# UNROLL: error[E0307]: this loop unrolls into 1099511627776 iterations, the limit is 16384


def function(name, *lines):
    print("@triton.jit", f"def {name}(n):", *("    " + line for line in lines), "", sep="\n")


print("import triton\nimport triton.language as tl\n")
for i in range(40):
    function(f"double{i}", f"return double{i + 1}(n) + double{i + 1}(n)")
function("double40", "return n")
for i in range(100):
    function(f"nest{i}", f"return nest{i + 1}(n)")
function("nest100", "return n")
function("doubling", "double0(n)")
function("nesting", "nest0(n)")
function("returns", *(f"if n == {i}:\n        return" for i in range(900)))
function("unrolled", "for i in tl.static_range(1 << 40):\n        n += i")

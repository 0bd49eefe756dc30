# RUN: %tlec --emit=ast %s | %filecheck %s

# CHECK:      FUNCTION "kernel" [[@LINE+20]]:1-
# CHECK-NEXT:   a NONE_LITERAL
# CHECK-NEXT:   b DECORATORS
# CHECK-NEXT:     list CALL
# CHECK-NEXT:       a ATTRIBUTE "heuristics"
# CHECK-NEXT:         a NAME "triton"
# CHECK-NEXT:       list DICT
# CHECK-NEXT:         list STRING "N"
# CHECK-NEXT:         list2 LAMBDA
# CHECK-NEXT:           a INT 1
# CHECK-NEXT:           list PARAM "m"
# CHECK-NEXT:     list ATTRIBUTE "jit"
# CHECK-NEXT:       a NAME "triton"
# CHECK-NEXT:   list PARAM "x"
# CHECK-NEXT:   list PARAM "N"
# CHECK-NEXT:     a ATTRIBUTE "constexpr"
# CHECK-NEXT:       a NAME "tl"
# CHECK-NEXT:     b INT 4
# CHECK-NEXT:   list PARAM "" 1
# CHECK-NEXT:   list PARAM "y"
@triton.heuristics({"N": lambda m: 1})
@triton.jit
def kernel(x, N: tl.constexpr = 4, *, y) -> None:
    # CHECK-NEXT: list2 ASSIGN
    # CHECK-NEXT:   a CALL
    # CHECK-NEXT:     a NAME "f"
    # CHECK-NEXT:   list NAME "a"
    # CHECK-NEXT:   list TUPLE
    # CHECK-NEXT:     list NAME "b"
    # CHECK-NEXT:     list NAME "c"
    a = b, c = f()
    # CHECK-NEXT: list2 ANN_ASSIGN
    # CHECK-NEXT:   a NAME "V"
    # CHECK-NEXT:   b ATTRIBUTE "constexpr"
    # CHECK-NEXT:     a NAME "tl"
    # CHECK-NEXT:   c INT 8
    # CHECK-NEXT: list2 AUG_ASSIGN <<
    # CHECK-NEXT:   a NAME "a"
    # CHECK-NEXT:   b INT 1
    V: tl.constexpr = 8; a <<= 1
    # An elif is an IF alone in the else of the one before it.
    # CHECK-NEXT: list2 IF [[@LINE+9]]:5-[[@LINE+12]]:20
    # CHECK-NEXT:   a NAME "a"
    # CHECK-NEXT:   list RETURN
    # CHECK-NEXT:   list2 IF [[@LINE+7]]:5-[[@LINE+9]]:20
    # CHECK-NEXT:     a NAME "b"
    # CHECK-NEXT:     list PASS
    # CHECK-NEXT:     list2 RETURN
    # CHECK-NEXT:       a TUPLE
    # CHECK:        list2 FOR
    if a: return
    elif b:
        pass
    else: return a,

    # CHECK-NEXT:   a TUPLE
    # CHECK-NEXT:     list NAME "i"
    # CHECK-NEXT:     list NAME "j"
    # CHECK-NEXT:   b NAME "z"
    # CHECK-NEXT:   list CONTINUE
    # CHECK-NEXT:   list2 BREAK
    for i, j in z:
        continue
    else:
        break
    # CHECK-NEXT: list2 WITH
    # CHECK-NEXT:   list ASSIGN
    # CHECK-NEXT:     a NAME "p"
    # CHECK-NEXT:     list NAME "q"
    # CHECK-NEXT:   list2 WHILE
    # CHECK-NEXT:     a BOOL True
    # CHECK-NEXT:     list ASSERT
    with p as q:
        while True:
            assert a, "b"

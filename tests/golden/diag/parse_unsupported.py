# RUN: %not %tlec --emit=ast %s 2>&1 | %filecheck --strict-whitespace %s
# What the language does not have is an error in a jit function; the same in host code is skipped.


@triton.jit
def kernel(x, y: tl.constexpr):
    # CHECK: parse_unsupported.py:[[@LINE+3]]:5: error[E0202]: 'try' is not supported in a jit function
    # CHECK-NEXT: {{^    }}    try:
    # CHECK-NEXT: {{^        }}^~~{{$}}
    try:
        # CHECK: :[[@LINE+1]]:9: error[E0202]: 'del' is not supported in a jit function
        del x
    except ValueError:
        pass
    # CHECK: :[[@LINE+1]]:8: error[E0202]: an assignment expression ':=' is not supported in a jit function
    if n := y:
        # CHECK: :[[@LINE+1]]:9: error[E0202]: 'yield' is not supported in a jit function
        yield x
    # CHECK: :[[@LINE+1]]:12: error[E0202]: a comprehension is not supported in a jit function
    a = [i for i in x]
    # CHECK: :[[@LINE+1]]:9: error[E0202]: an integer that does not fit int64 is not supported in a jit function
    b = 0xFFFFFFFFFFFFFFFF
    # CHECK: :[[@LINE+1]]:9: error[E0202]: a bytes literal is not supported in a jit function
    c = b"c"
    # CHECK: :[[@LINE+1]]:5: error[E0202]: 'async' is not supported in a jit function
    async with x:
        pass
    # CHECK: :[[@LINE+1]]:5: error[E0202]: 'match' is not supported in a jit function
    match x:
        case 1:
            pass


# CHECK-NOT: error
def host():
    try:
        del x
    except ValueError:
        yield b"c", [i for i in 0xFFFFFFFFFFFFFFFF], (n := 1)

# RUN: %tlec --emit=ast %s | %filecheck %s

# CHECK:      EXPR_STMT [[@LINE+9]]:1-[[@LINE+9]]:12
# CHECK-NEXT:   a UNARY -
# CHECK-NEXT:     a BINARY **
# CHECK-NEXT:       a NAME "a" {{.*}}:2-{{.*}}:3
# CHECK-NEXT:       b UNARY -
# CHECK-NEXT:         a BINARY **
# CHECK-NEXT:           a NAME "b"
# CHECK-NEXT:           b NAME "c"
# The sign binds looser than the power on its right, tighter than the one on its left.
-a**-b ** c

# A chain of comparisons shares the operand in the middle.
# CHECK:      BOOLEAN and
# CHECK-NEXT:   a COMPARE <
# CHECK-NEXT:     a NAME "a"
# CHECK-NEXT:     b NAME "b" [[B:.*]]
# CHECK-NEXT:   b COMPARE <=
# CHECK-NEXT:     a NAME "b" [[B]]
# CHECK-NEXT:     b NAME "c"
a < b <= c

# CHECK:      TERNARY
# CHECK-NEXT:   a COMPARE not in
# CHECK-NEXT:     a NAME "b"
# CHECK-NEXT:     b NAME "c"
# CHECK-NEXT:   b NAME "a"
# CHECK-NEXT:   c UNARY not
# CHECK-NEXT:     a NAME "d"
a if b not in c else not d

# CHECK:      SUBSCRIPT
# CHECK-NEXT:   a NAME "x"
# CHECK-NEXT:   b TUPLE
# CHECK-NEXT:     list SLICE
# CHECK-NEXT:     list NONE_LITERAL
# CHECK-NEXT:     list ELLIPSIS
# CHECK-NEXT:     list SLICE
# CHECK-NEXT:       a NAME "a"
# CHECK-NEXT:       c INT 2
x[:, None, ..., a::2]

# CHECK:      CALL
# CHECK-NEXT:   a ATTRIBUTE "f"
# CHECK-NEXT:     a NAME "tl"
# CHECK-NEXT:   list NAME "a"
# CHECK-NEXT:   list STARRED
# CHECK-NEXT:     a NAME "b"
# CHECK-NEXT:   list2 KEYWORD "k"
# CHECK-NEXT:     a FLOAT 0.5
# CHECK-NEXT:   list2 KEYWORD ""
# CHECK-NEXT:     a NAME "d"
tl.f(a, *b, k=.5, **d)

# CHECK:      STRING "one\x0a\"two\""
"one\n" '"two"'

# CHECK:      FSTRING
# CHECK-NEXT:   list STRING "a"
# CHECK-NEXT:   list FORMAT_VALUE "!r:>{w}"
# CHECK-NEXT:     a NAME "b"
# CHECK-NEXT:   list STRING "{c}"
f"a{b!r:>{w}}" "{c}"

# CHECK:      DICT
# CHECK-NEXT:   list STRING "k"
# CHECK-NEXT:   list2 LIST
# CHECK-NEXT:     list TUPLE
# CHECK-NEXT:       list BOOL True
# CHECK-NEXT:       list INT 4095
{"k": [(True, 0xF_FF)]}

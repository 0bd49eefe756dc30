# RUN: %not %tlec --emit=ast %s 2>&1 | %filecheck --strict-whitespace %s

# CHECK: lex_number.py:[[@LINE+3]]:5: error[E0104]: malformed number '0b12': a digit is too large for the base
# CHECK-NEXT: {{^    }}a = 0b12 + 1
# CHECK-NEXT: {{^        }}^~~~{{$}}
a = 0b12 + 1
# CHECK: :[[@LINE+1]]:5: error[E0104]: malformed number '0x': expected digits of the base after the prefix
b = 0x
# CHECK: :[[@LINE+1]]:5: error[E0104]: malformed number '1__0': an underscore must stand between digits
c = 1__0
# CHECK: :[[@LINE+1]]:5: error[E0104]: malformed number '12ab': expected an operator or a space after the digits
d = 12ab
# CHECK: :[[@LINE+1]]:5: error[E0104]: malformed number '017': a decimal integer cannot begin with 0; octal is written 0o17
e = 017

# RUN: %not %tlec --emit=ast %s 2>&1 | %filecheck --strict-whitespace %s

# CHECK: lex_string.py:[[@LINE+3]]:5: error[E0102]: a string that begins here does not end: expected ', found the end of the line
# CHECK-NEXT: {{^    }}x = 'one
# CHECK-NEXT: {{^        }}^~~~{{$}}
x = 'one

# CHECK: lex_string.py:[[@LINE+1]]:5: error[E0102]: a string that begins here does not end: expected ", found the end of the line
y = f"{a + "b
z = 1

# CHECK: lex_string.py:[[@LINE+1]]:8: error[E0102]: a '}' that closes no field of the f-string; expected '}}'
y = f"a}"

# CHECK: lex_string.py:[[@LINE+1]]:7: error[E0102]: malformed escape: expected 2 hexadecimal digits, found 1
w = 'a\x4'

# CHECK: lex_string.py:[[@LINE+1]]:5: error[E0102]: a string that begins here does not end: expected """, found the end of the file
v = """to the
end

# RUN: %not %tlec --emit=ast %s 2>&1 | %filecheck --strict-whitespace %s

# CHECK: lex_char.py:[[@LINE+3]]:7: error[E0101]: character '$' (U+0024) cannot start a token
# CHECK-NEXT: {{^    }}x = 1 $ 2
# CHECK-NEXT: {{^          }}^{{$}}
x = 1 $ 2

# CHECK: lex_char.py:[[@LINE+3]]:5: error[E0101]: character '“' (U+201C) cannot start a token
# CHECK-NEXT: y = “quoted”
# CHECK-NEXT: {{^        }}^{{$}}
y = “quoted”

# CHECK: lex_char.py:[[@LINE+1]]:5: error[E0101]: expected the end of the line after a backslash that joins lines
z = \ 1

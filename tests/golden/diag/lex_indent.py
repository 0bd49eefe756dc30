# RUN: %not %tlec --emit=ast %s 2>&1 | %filecheck --strict-whitespace %s

if a:
        b = 1
# CHECK: lex_indent.py:[[@LINE+3]]:1: error[E0103]: indentation of 4 columns matches no enclosing block; expected 0
# CHECK-NEXT: {{^    }}    c = 2
# CHECK-NEXT: {{^    }}^~~~{{$}}
    c = 2

if a:
        b = 1
# CHECK: lex_indent.py:[[@LINE+1]]:1: error[E0103]: tabs and spaces are mixed so that the indentation depends on the width of a tab
	c = 2

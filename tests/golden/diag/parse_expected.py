# RUN: %not %tlec --emit=ast %s 2>&1 | %filecheck --strict-whitespace %s
# Several errors of one file are reported, each once, with what was found and what was expected.

# CHECK: parse_expected.py:[[@LINE+3]]:10: error[E0201]: expected ':' after the condition, found 'return'
# CHECK-NEXT: {{^    }}if a < b return
# CHECK-NEXT: {{^             }}^~~~~~{{$}}
if a < b return

# CHECK: :[[@LINE+1]]:5: error[E0201]: expected an expression, found '='
x = = 1

# CHECK: :[[@LINE+1]]:7: error[E0201]: expected 'in' after the loop variable, found '='
for i = range(3):
# CHECK: :[[@LINE+1]]:7: error[E0201]: expected the end of the statement, found 'b'
    a b

# CHECK: :[[@LINE+3]]:14: error[E0201]: expected ')' to close '(', found end of line
# CHECK: :[[@LINE+2]]:6: note: '(' opened here
# CHECK-NEXT: y = f(a, b[0]
y = f(a, b[0]
def g():
    # CHECK: :[[@LINE+1]]:14: error[E0201]: expected ')' to close '(', found ']'
    return (a]

if a:
# CHECK: :[[@LINE+1]]:1: error[E0201]: expected an indented block after 'if', found 'b'
b = 1

# CHECK: :[[@LINE+1]]:1: error[E0201]: cannot assign to this expression; expected a name, attribute, subscript or tuple of these
f() = 1
# CHECK: :[[@LINE+1]]:1: error[E0201]: cannot assign to this expression; expected a name, attribute or subscript
(a, b) += 1
# CHECK: :[[@LINE+1]]:8: error[E0201]: expected name=value after a keyword argument, found 'c'
f(b=1, c)
# CHECK: :[[@LINE+1]]:1: error[E0201]: expected a statement, found 'else'
else: pass
# CHECK: :[[@LINE+2]]:1: error[E0201]: expected 'def' or 'class' after the decorators, found 'x'
@triton.jit
x = 1

# RUN: %tlec --emit=ast %s | %filecheck %s
# Host code that the tree cannot express is opaque, but the functions in its blocks are kept.

# CHECK:      IMPORT_FROM "..a.b"
# CHECK-NEXT:   list ALIAS "c"
# CHECK-NEXT:     a NAME "d"
from ..a.b import (c as d,)

# CHECK:      OPAQUE_STMT "try"
# CHECK-NEXT:   list FUNCTION "one"
try:
    @triton.jit
    def one():
        pass
# CHECK:        list FUNCTION "two"
except (ImportError, OSError) as error:
    def two():
        # CHECK: list2 OPAQUE_STMT "yield"
        yield 1

# CHECK:      CLASS "Holder"
# CHECK-NEXT:   list NAME "Base"
# CHECK-NEXT:   list2 OPAQUE_STMT "async"
# CHECK-NEXT:     list FUNCTION "three"
class Holder(Base, metaclass=Meta):
    async def method(self):
        def three(): pass

# CHECK:      OPAQUE_STMT "match"
# CHECK-NEXT:   list FUNCTION "four"
# CHECK-NEXT:     list2 PASS
# CHECK-NEXT:   list PASS
match command.split():
    case [x, {"k": y}] if (lambda: x)():
        def four(): pass
    case _: pass

# CHECK-NEXT: list ASSIGN
# CHECK-NEXT:   a INT 1
# CHECK-NEXT:   list NAME "match"
match = 1
# CHECK-NEXT: list OPAQUE_STMT "del"
del match
# CHECK-NEXT: list OPAQUE_STMT "x"
x = (y := 2)
# CHECK-NEXT: list OPAQUE_STMT "big"
big = 1 << 99999999999999999999

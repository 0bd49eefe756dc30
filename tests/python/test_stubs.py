"""The typed stubs say what is there: the same names, the same arguments, the same members."""
import ast
import enum
import inspect

import pytest

import tle


def stub(root, name):
    return ast.parse((root / "python/tle" / name).read_text()).body


def public(body):
    return {node.name: node for node in body
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_")}


def arguments(node):
    """(name, keyword-only, has default) of each argument of a stub's function."""
    a = node.args
    plain = a.posonlyargs + a.args
    defaults = [False] * (len(plain) - len(a.defaults)) + [True] * len(a.defaults)
    found = [(arg.arg, False, d) for arg, d in zip(plain, defaults)]
    found += [(arg.arg, True, d is not None) for arg, d in zip(a.kwonlyargs, a.kw_defaults)]
    return found + [("*", a.vararg is not None, a.kwarg is not None)]


def real_arguments(function):
    found, kinds = [], []
    for p in inspect.signature(function).parameters.values():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            kinds.append(p.kind)
        else:
            found.append((p.name, p.kind == p.KEYWORD_ONLY, p.default is not p.empty))
    return found + [("*", inspect.Parameter.VAR_POSITIONAL in kinds, inspect.Parameter.VAR_KEYWORD in kinds)]


def test_names(root):
    assert sorted(public(stub(root, "__init__.pyi"))) == sorted(tle.__all__)


@pytest.mark.parametrize("name", [n for n in tle.__all__ if inspect.isfunction(getattr(tle, n))])
def test_functions(root, name):
    assert arguments(public(stub(root, "__init__.pyi"))[name]) == real_arguments(getattr(tle, name))


@pytest.mark.parametrize("name", [n for n in tle.__all__ if inspect.isclass(getattr(tle, n))])
def test_classes(root, name):
    node, real = public(stub(root, "__init__.pyi"))[name], getattr(tle, name)
    fields = [item.target.id for item in node.body if isinstance(item, ast.AnnAssign)]
    if issubclass(real, enum.Enum):
        values = {item.targets[0].id: item.value.value for item in node.body if isinstance(item, ast.Assign)}
        assert values == {name: int(value) for name, value in real.__members__.items()}
    elif issubclass(real, tuple):
        assert tuple(fields) == real._fields
    methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
    own = {n for n, value in vars(real).items() if inspect.isfunction(value) and not n.startswith("_")}
    properties = {n for n, value in vars(real).items() if isinstance(value, property)}
    if not issubclass(real, (tuple, enum.Enum)):
        assert {n for n in methods if not n.startswith("_")} == own | properties
    for n in own & methods.keys():
        assert arguments(methods[n]) == real_arguments(vars(real)[n])


def test_torch_names(root):
    source = ast.parse((root / "python/tle/torch.py").read_text()).body
    functions = {node.name: node for node in source
                 if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")}
    stubs = public(stub(root, "torch.pyi"))
    assert sorted(stubs) == sorted(functions)
    for name, node in functions.items():
        assert arguments(stubs[name]) == arguments(node)


def test_marker(root):
    assert (root / "python/tle/py.typed").read_bytes() == b""

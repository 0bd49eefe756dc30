"""The numbers and structs of the bindings, against what a C compiler makes of the headers."""
import ctypes
import os
import re
import subprocess

import pytest

from tle import _abi, _dlpack

CC = os.environ.get("CC", "cc")


def compiled(tmp_path, includes, lines, folders):
    """The numbers that a C program prints: {key: value} of lines 'key expression'."""
    body = "".join(f'    printf("%s %lld\\n", "{key}", (long long)({value}));\n' for key, value in lines)
    source = tmp_path / "numbers.c"
    source.write_text("#include <stddef.h>\n#include <stdio.h>\n"
                      + "".join(f"#include <{i}>\n" for i in includes)
                      + "int main(void) {\n" + body + "    return 0;\n}\n")
    program = tmp_path / "numbers"
    subprocess.run([CC, "-std=c11", *(f"-I{f}" for f in folders), str(source), "-o", str(program)], check=True)
    text = subprocess.run([str(program)], check=True, stdout=subprocess.PIPE, text=True).stdout
    return {key: int(value) for key, value in (line.rsplit(" ", 1) for line in text.splitlines())}


def enum_members(header, name):
    """The constants of one C enum, by the header's text."""
    body = re.search(rf"typedef enum {name} {{(.*?)}} {name};", header, re.S).group(1)
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    return [part.split("=")[0].strip() for part in re.split(r",(?![^(]*\))", body) if part.strip()]


ENUMS = [("tle_status", "TLE_STATUS_", _abi.Status), ("tle_dtype", "TLE_DTYPE_", _abi.DType),
         ("tle_device_kind", "TLE_DEVICE_", _abi.DeviceKind), ("tle_index_base", "TLE_INDEX_", _abi.IndexBase),
         ("tle_variant_part", "TLE_PART_", _abi.Part)]


@pytest.mark.parametrize("name,prefix,python", ENUMS)
def test_enums(tmp_path, root, name, prefix, python):
    members = enum_members((root / "include/tle/tle.h").read_text(), name)
    got = compiled(tmp_path, ["tle/tle.h"], [(m, m) for m in members], [root / "include"])
    assert {prefix + m.name: int(m) for m in python} == got


def test_macros(tmp_path, root):
    header = (root / "include/tle/tle.h").read_text()
    flags = re.findall(r"#define (TLE_LOG_[A-Z]+)\s+\d+u", header)
    launches = re.findall(r"#define (TLE_LAUNCH_[A-Z]+)\s+\d+u", header)
    others = ["TLE_BUILD_ID_SIZE", "TLE_VERSION_MAJOR", "TLE_VERSION_MINOR", "TLE_VERSION_PATCH"]
    got = compiled(tmp_path, ["tle/tle.h"], [(m, m) for m in flags + launches + others], [root / "include"])
    assert {f: got[f] for f in flags} == {
        "TLE_LOG_" + n: int(v) for n, v in _abi.LogFlag.__members__.items()}
    assert {f: got[f] for f in launches} == {
        "TLE_LAUNCH_" + n: int(v) for n, v in _abi.LaunchFlag.__members__.items()}
    assert got["TLE_BUILD_ID_SIZE"] == _abi.BUILD_ID_SIZE
    assert tuple(got[m] for m in others[1:]) == _abi.VERSION


def layout(structs):
    """The layout as ctypes has it, and the expressions that give it in C."""
    expected, lines = {}, []
    for struct, c_name in structs:
        expected[c_name] = ctypes.sizeof(struct)
        lines.append((c_name, f"sizeof({c_name})"))
        for name, kind, *_ in struct._fields_:
            at, size = f"{c_name}.{name}", f"{c_name}.{name}:size"
            expected[at], expected[size] = getattr(struct, name).offset, ctypes.sizeof(kind)
            lines += [(at, f"offsetof({c_name}, {name})"), (size, f"sizeof((({c_name} *)0)->{name})")]
    return expected, lines


def test_structs(tmp_path, root):
    expected, lines = layout([(s, s.C_NAME) for s in _abi.STRUCTS])
    assert compiled(tmp_path, ["tle/tle.h"], lines, [root / "include"]) == expected


def test_structs_name_every_field(root):
    header = re.sub(r"/\*.*?\*/", "", (root / "include/tle/tle.h").read_text(), flags=re.S)
    for struct in _abi.STRUCTS:
        body = re.search(rf"typedef struct {struct.C_NAME} {{(.*?)}}", header, re.S).group(1)
        names = [n for line in body.split(";") for n in re.findall(r"(\w+)\s*(?:\[\d+\])?\s*(?:,|$)", line)]
        assert names == [name for name, *_ in struct._fields_]


def test_every_function_is_bound(root):
    header = (root / "include/tle/tle.h").read_text()
    declared = re.findall(r"^TLE_API [\w\s*]*?\b(tle_\w+)\(", header, re.M)
    assert sorted(declared) == sorted(_abi.FUNCTIONS)


def test_number_of_arguments(root):
    header = re.sub(r"/\*.*?\*/", "", (root / "include/tle/tle.h").read_text(), flags=re.S)
    for name, arguments in re.findall(r"^TLE_API [\w\s*]*?\b(tle_\w+)\(([^)]*)\)", header, re.M):
        count = 0 if arguments.strip() == "void" else arguments.count(",") + 1
        assert count == len(_abi.FUNCTIONS[name][1]), name


def test_dlpack_structs(tmp_path, root):
    tagged = {"DLManagedTensorVersioned"}  # which the header gives no typedef
    expected, lines = layout([(s, "struct " * (s.__name__ in tagged) + s.__name__) for s in _dlpack.STRUCTS])
    numbers = {
        "kDLCPU": _dlpack.CPU, "kDLCUDA": _dlpack.CUDA, "kDLCUDAHost": _dlpack.CUDA_HOST,
        "kDLCUDAManaged": _dlpack.CUDA_MANAGED, "DLPACK_FLAG_BITMASK_READ_ONLY": _dlpack.READ_ONLY,
        "DLPACK_FLAG_BITMASK_IS_COPIED": _dlpack.IS_COPIED, "DLPACK_MAJOR_VERSION": _dlpack.MAX_VERSION[0],
        "DLPACK_MINOR_VERSION": _dlpack.MAX_VERSION[1],
    }
    got = compiled(tmp_path, ["dlpack/dlpack.h"], lines + [(n, n) for n in numbers], [root / "third_party"])
    assert got == {**expected, **numbers}

"""What a wheel must know of a shared library: the libraries it needs and the glibc it asks for.

Reads the dynamic section and the version requirements of 64-bit little-endian ELF files.
"""
import struct

SHT_STRTAB, SHT_DYNAMIC, SHT_GNU_VERNEED = 3, 6, 0x6FFFFFFE
DT_NEEDED, DT_SONAME = 1, 14
MACHINES = {62: "x86_64", 183: "aarch64"}


class ElfError(ValueError):
    """The file is no 64-bit little-endian ELF file."""


class Elf:
    """machine, needed (names), soname, versions ({library: {version, ...}})."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self._data = file.read()
        if self._data[:6] != b"\x7fELF\x02\x01":
            raise ElfError(f"{path}: not a 64-bit little-endian ELF file")
        number, = struct.unpack_from("<H", self._data, 18)
        self.machine = MACHINES.get(number, f"machine{number}")
        self.needed, self.soname, self.versions = [], None, {}
        self._sections = list(self._read_sections())
        for kind, offset, size, link, info in self._sections:
            if kind == SHT_DYNAMIC:
                self._read_dynamic(offset, size, self._sections[link][1])
            elif kind == SHT_GNU_VERNEED:
                self._read_versions(offset, info, self._sections[link][1])

    def _read_sections(self):
        table, = struct.unpack_from("<Q", self._data, 40)
        entry, count = struct.unpack_from("<HH", self._data, 58)
        for i in range(count):
            _, kind, _, _, offset, size, link, info = struct.unpack_from(
                "<IIQQQQII", self._data, table + i * entry)
            yield kind, offset, size, link, info

    def _text(self, strings, offset):
        begin = strings + offset
        return self._data[begin:self._data.index(b"\0", begin)].decode()

    def _read_dynamic(self, offset, size, strings):
        for at in range(offset, offset + size, 16):
            tag, value = struct.unpack_from("<qQ", self._data, at)
            if tag == DT_NEEDED:
                self.needed.append(self._text(strings, value))
            elif tag == DT_SONAME:
                self.soname = self._text(strings, value)

    def _read_versions(self, offset, count, strings):
        for _ in range(count):
            _, names, file, first, following = struct.unpack_from("<HHIII", self._data, offset)
            found = self.versions.setdefault(self._text(strings, file), set())
            at = offset + first
            for _ in range(names):
                _, _, _, name, step = struct.unpack_from("<IHHII", self._data, at)
                found.add(self._text(strings, name))
                at += step
            offset += following


def glibc_needed(elves):
    """The newest GLIBC_2.x that any of them asks for, as (2, x)."""
    newest = (2, 5)  # the oldest that a manylinux tag can name
    for elf in elves:
        for versions in elf.versions.values():
            for version in versions:
                numbers = version.removeprefix("GLIBC_").split(".")
                if version.startswith("GLIBC_") and all(n.isdecimal() for n in numbers):
                    newest = max(newest, tuple(map(int, numbers[:2])))
    return newest

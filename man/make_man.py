"""Makes a manual page in mdoc from its frame and the program's own help, so that no option can be missing.

Usage: make_man.py PROGRAM FRAME.1.in VERSION OUT.1
In a frame @commands@, @options@ and @environment@ stand for what `PROGRAM --help`, `PROGRAM COMMAND --help` and
`PROGRAM env` print.
"""
import pathlib
import re
import subprocess
import sys

OPTION = re.compile(r"^  (?:-(?P<letter>\w),|   )? *--(?P<name>[\w-]+)(?P<join>[ =]?)(?P<value>\S*) {2,}(?P<help>\S.*)$")
# A value so long that one space is left before the help.
TIGHT = re.compile(r"^  --(?P<name>[\w-]+)=(?P<value>\S+) (?P<help>\S.*)$")
# Without an operand the summary stands far to the right.
COMMAND = re.compile(r"^  (?P<name>[a-z]\w*)(?: {1,9}(?P<operand>\S+) +| {10,})(?P<help>\S.*)$")
VARIABLE = re.compile(r"^(TLE_\w+)=.*\n +(.*)$", re.M)


class HelpError(ValueError):
    """A line of the help that is not understood."""


def output(program, *words):
    return subprocess.run([program, *words], check=True, text=True, stdout=subprocess.PIPE).stdout


def options_of(text):
    """[(letter or None, name, separator, value, help)] of a help text."""
    found = []
    for line in text.splitlines():
        if not re.match(r"\s+-", line):
            continue
        match = OPTION.match(line) or TIGHT.match(line)
        if not match:
            raise HelpError(f"this line of the help is not understood: {line}")
        words = match.groupdict()
        join = words.get("join", "=") if words["value"] else ""
        found.append((words.get("letter"), words["name"], join, words["value"], words["help"]))
    return found


def text_line(text):
    """Text on a line of its own, so that no word of it is taken for a macro."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[0] in ".'" else text


def sentence(text):
    return text_line(text[0].upper() + text[1:] + ("" if text.endswith(".") else "."))


def option_item(letter, name, join, value):
    short = f"Fl {letter} , " if letter else ""
    equals = " Ns = Ns" if join == "=" else ""
    return f".It {short}Fl -{name}{equals}" + (f" Ar {value}" if value else "")


def option_list(options):
    lines = [".Bl -tag -width Ds"]
    for letter, name, join, value, text in options:
        lines += [option_item(letter, name, join, value), sentence(text)]
    return "\n".join(lines + [".El"])


def merged(lists):
    """Each different option once, in order; where meanings differ, each of them."""
    return list(dict.fromkeys(option for options in lists for option in options))


def commands(program):
    found = [m.groupdict() for m in map(COMMAND.match, output(program, "--help").splitlines()) if m]
    if not found:
        raise HelpError(f"{program} --help lists no commands")
    return {c["name"]: (c["operand"] or "", c["help"], options_of(output(program, c["name"], "--help")))
            for c in found}


def command_list(table):
    lines = [".Bl -tag -width Ds"]
    for name, (operand, text, options) in table.items():
        lines += [f".It Ic {name}" + (f" Ar {operand}" if operand else ""), sentence(text), "Options:"]
        names = [option[1] for option in options]
        lines += [f".Fl -{n}" + (" ," if n != names[-1] else " .") for n in names]
    return "\n".join(lines + [".El"])


def environment_list(program):
    lines = [".Bl -tag -width Ds"]
    for name, text in VARIABLE.findall(output(program, "env")):
        lines += [f".It Ev {name}", sentence(text)]
    return "\n".join(lines + [".El"])


def page(program, frame, version):
    parts = {"version": version}
    if "@commands@" in frame:
        table = commands(program)
        parts["commands"] = command_list(table)
        parts["options"] = option_list(merged(options for _, _, options in table.values()))
        parts["environment"] = environment_list(program)
    else:
        parts["options"] = option_list(options_of(output(program, "--help")))
    return re.sub(r"@(\w+)@", lambda m: parts[m.group(1)], frame)


def main():
    program, frame, version, out = sys.argv[1:]
    pathlib.Path(out).write_text(page(program, pathlib.Path(frame).read_text(encoding="utf-8"), version),
                                 encoding="utf-8")


if __name__ == "__main__":
    main()

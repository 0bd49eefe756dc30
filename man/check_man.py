"""Checks a manual page as it is rendered: nothing that the program's help names is missing, and groff has no
complaint. Usage: check_man.py GROFF PAGE.1 PROGRAM [COMMAND...]"""
import re
import subprocess
import sys


def output(*words):
    return subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def names_of(text):
    """Long options, letters, and variables of the environment."""
    return set(re.findall(r"(?<![\w-])(?:--[a-z][\w-]*|-[a-z](?=,))", text)) | set(re.findall(r"\bTLE_[A-Z_]+(?==)", text))


def main():
    groff, page, program, *commands = sys.argv[1:]
    complaints = subprocess.run([groff, "-mandoc", "-Tascii", "-ww", "-z", page], check=True, text=True,
                                stderr=subprocess.PIPE).stderr
    rendered = re.sub(r"\x1b\[[\d;]*m|.\x08", "", output(groff, "-mandoc", "-Tascii", "-P-c", page))
    expected = names_of(output(program, "--help"))
    for command in commands:
        expected |= names_of(output(program, command, "--help")) | {command}
    if commands:
        expected |= names_of(output(program, "env"))
    missing = sorted(name for name in expected if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", rendered))
    for name in missing:
        print(f"{page}: {name} is missing")
    print(complaints, end="")
    print(f"{page}: {len(expected)} names looked for")
    return 1 if missing or complaints or len(expected) < 5 else 0


if __name__ == "__main__":
    sys.exit(main())

"""Splits a test into files at lines `//--- name`: split.py FILE FOLDER."""
import os
import sys

source, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
out = None
with open(source, encoding="utf-8") as text:
    for line in text:
        if line.startswith("//--- "):
            out = open(os.path.join(folder, line.split()[1]), "w", encoding="utf-8")
        elif out and not line.split(":")[0].isupper():
            out.write(line)

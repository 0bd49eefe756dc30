#!/usr/bin/env bash
# Makes sure that there is a ptxas: nothing to do where the user names one or a CUDA toolkit has it, else
# it is unpacked from the PyPI wheel pinned in ptxas-requirements.txt into .cache/tools. Having none is no
# failure: the build then makes packs without cubins, and says so.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
target="${TLE_TOOL_CACHE:-$here/../.cache/tools}/ptxas"

[ -z "${TLE_PTXAS:-}" ] || exit 0
for candidate in "$(command -v ptxas || true)" /usr/local/cuda/bin/ptxas "$target/ptxas"; do
    [ ! -x "$candidate" ] || exit 0
done

give_up() {
    echo "No ptxas: $1. The build goes on with PTX alone, which the emulator runs and no GPU can load;" \
        "install a CUDA 13 toolkit or set TLE_PTXAS to change that."
    exit 0
}

python=/usr/bin/python3
[ -x "$python" ] || python=$(command -v python3) || give_up "there is no python3 to fetch it with"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "Fetching ptxas from the wheel named in tools/ptxas-requirements.txt"
"$python" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
    --only-binary :all: --retries 2 --timeout 30 --dest "$work" \
    --requirement "$here/ptxas-requirements.txt" >"$work/log" 2>&1 ||
    give_up "the pinned wheel could not be fetched ($(tail -n 1 "$work/log"))"

mkdir -p "$target"
"$python" - "$work"/*.whl "$target/ptxas" <<'PYTHON' || give_up "the wheel holds no ptxas"
import os
import sys
import zipfile

wheel, target = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    name = next(n for n in archive.namelist() if n.endswith("/bin/ptxas"))
    partial = target + ".partial"
    with open(partial, "wb") as out:
        out.write(archive.read(name))
os.chmod(partial, 0o755)
os.replace(partial, target)
PYTHON

#!/bin/bash
# Gives every planted fault and every twin to the tools of compute-sanitizer, and to the bare GPU.
#
# Usage: sanitize.sh PROGRAM OUT [CHUNKS]
#   PROGRAM  tle-gpu-faults
#   OUT      folder for the logs; faults_table.py makes a table of them
#   CHUNKS   runs of one tool at a time (4)
#
# A launch that breaks the context ends its run; the next starts behind it.
program=$1
out=$2
chunks=${3:-4}
mkdir -p "$out"
"$program" list >"$out/list.tsv" || exit 1
count=$(wc -l <"$out/list.tsv")

tool_command() {
    case $1 in
    plain) ;;
    racecheck) echo compute-sanitizer --tool racecheck --racecheck-report all --print-limit 2000 ;;
    *) echo compute-sanitizer --tool "$1" --print-limit 2000 ;;
    esac
}

# tool, faulty or fixed, first, end
chain() {
    local log="$out/$1.$2.$3.log" at=$3 next
    while [ "$at" -lt "$4" ]; do
        # shellcheck disable=SC2046
        timeout -k 3 40 $(tool_command "$1") "$program" run "$at" "$2" "$4" >"$log.part" 2>&1
        next=$(sed -n 's/^next //p' "$log.part" | tail -1)
        if [ -z "$next" ]; then # it was ended before it could say so
            next=$(($(sed -n 's/^case \([0-9]*\) .*/\1/p' "$log.part" | tail -1 || true) + 0))
            next=$((next >= at ? next + 2 : at + 1))
            echo "case $((next - 1)) $2 -2" >>"$log.part"
        fi
        cat "$log.part" >>"$log"
        at=$next
    done
    rm -f "$log.part"
}

for tool in plain memcheck racecheck initcheck synccheck; do
    for variant in faulty fixed; do
        parts=$chunks
        [ $variant = fixed ] && parts=1
        for ((k = 0; k < parts; k++)); do
            chain $tool $variant $((count * k / parts)) $((count * (k + 1) / parts)) &
        done
    done
done
wait

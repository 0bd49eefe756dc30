#!/usr/bin/env bash
# Proves the README's two commands on a bare machine: makes a minimal Debian 12 root with the security
# suite, copies the tree into it, and there runs `make demo` and `make test`, then both again, which must
# install nothing and rebuild nothing.
#
# Usage (as root; needs debootstrap): tools/chroot-test.sh FOLDER
# FOLDER keeps the bare root as base.tar for the next run, and the log of this one. Mirror, proxy and
# certificates are those of the machine's own apt and pip.
set -euo pipefail

[ $# -eq 1 ] || { sed -n '6,8p' "$0" >&2; exit 2; }
if [ "${TLE_CHROOT_UNSHARED:-}" != 1 ]; then
    mkdir -p "$1"
    # A mount namespace of its own: whatever happens, no mount is left behind.
    TLE_CHROOT_UNSHARED=1 exec unshare --mount "$0" "$(cd "$1" && pwd)"
fi

tree=$(cd "$(dirname "$0")/.." && pwd)
folder=$1
root=$folder/root
suite=bookworm

# The address of a suite's archive among apt's sources.
archive_of() {
    apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(RELEASE)' 'Created-By: Packages' |
        awk -v suite="$1" '$2 == suite || $3 == suite { print $1; exit }'
}

make_base() {
    local archive security
    archive=$(archive_of $suite)
    security=$(archive_of $suite-security)
    if [ -z "$archive" ] || [ -z "$security" ]; then
        echo "chroot-test: apt's sources must hold $suite and $suite-security" >&2
        exit 1
    fi
    rm -rf "$root"
    debootstrap --variant=minbase $suite "$root" "$archive"
    printf 'deb %s %s main\n' "$archive" $suite "$security" $suite-security \
        >"$root/etc/apt/sources.list"
    apt-config dump | grep -E '^Acquire::(http|https|Retries|Check)' \
        >"$root/etc/apt/apt.conf.d/90machine" || true
    tar -C "$root" -cf "$folder/base.tar.partial" .
    mv "$folder/base.tar.partial" "$folder/base.tar"
}

enter_base() {
    rm -rf "$root"
    mkdir -p "$root"
    tar -C "$root" -xf "$folder/base.tar"
    for file in resolv.conf hosts; do
        [ ! -e /etc/$file ] || cp -L /etc/$file "$root/etc/$file"
    done
    if [ -n "${PIP_CERT:-}" ]; then
        cp -L "$PIP_CERT" "$root/etc/machine-certificates.crt"
    fi
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mkdir -p "$root/src/libtle"
    tar -C "$tree" --exclude='./build*' --exclude=./.git --exclude=./.cache --exclude=./out \
        --exclude=__pycache__ -cf - . | tar -C "$root/src/libtle" -xf -
}

# Runs a command in the root, with a bare environment but for the proxies.
inside() {
    local certificate=()
    [ -z "${PIP_CERT:-}" ] || certificate=(PIP_CERT=/etc/machine-certificates.crt)
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb \
        ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
        ${no_proxy:+no_proxy="$no_proxy"} "${certificate[@]}" \
        chroot "$root" sh -c "cd /src/libtle && $1"
}

step() {
    echo "== $1"
    inside "$1"
}

# The same command again: ninja must have nothing to do, and apt must not have been asked.
step_again() {
    local log=$folder/again.log
    echo "== $1, again"
    inside "$1" >"$log" 2>&1 || { cat "$log"; exit 1; }
    if ! grep -q 'ninja: no work to do' "$log" || grep -q '^Installing' "$log"; then
        echo "chroot-test: a second '$1' was not idle:" >&2
        cat "$log" >&2
        exit 1
    fi
}

[ -e "$folder/base.tar" ] || make_base
enter_base
inside 'apt-get update && apt-get install -y --no-install-recommends make' >"$folder/apt.log" 2>&1 ||
    { cat "$folder/apt.log" >&2; exit 1; }
step 'make demo'
step 'make test'
step_again 'make demo'
step_again 'make test'
echo "chroot-test: passed"

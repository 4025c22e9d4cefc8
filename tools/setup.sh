# Sets slowhand up inside its own folder. Sourced by ./slowhand, ./test and tools/wheel with $root set.
# shellcheck shell=sh
#
#   .venv     Python and its packages, exactly those of python/run.lock (or python/test.lock)
#   target    what Cargo builds; the native module is linked from there into python/slowhand
#   .state    stamps that say what has been set up, the lock that keeps two set-ups apart, cargo-deny

state="${root:?}/.state"
venv="$root/.venv"
cargo_deny_version=0.20.2
cargo_deny="$state/cargo-deny-$cargo_deny_version/bin/cargo-deny"

say() { echo "slowhand: $*" >&2; }
die() { say "$*"; exit 2; }

# True if everything for the packages in $1 (run or test) is in place and no source is newer than the build.
is_set_up() {
    has_venv && have_packages "$1" && is_built && { [ "$1" = run ] || { [ -x "$cargo_deny" ] && can_compile_peers; }; }
}

# A virtual environment contains absolute paths: it does not work after a move.
has_venv() { [ -x "$venv/bin/python" ] && [ "$(cat "$state/root" 2>/dev/null)" = "$root" ]; }

# The test packages contain the run packages, so for run either stamp is enough.
have_packages() {
    cmp -s "$root/python/test.lock" "$state/test.lock" && return 0
    [ "$1" = run ] && cmp -s "$root/python/run.lock" "$state/run.lock"
}

# Compares directories too, so that a deleted file counts as a change.
is_built() {
    [ -e "$state/built" ] && [ -z "$(cd "$root" && find Cargo.toml Cargo.lock pyproject.toml \
        crates devices -newer "$state/built" -print -quit)" ]
}

# set_up run|test: does nothing, and touches no network, when nothing has changed.
set_up() {
    is_set_up "$1" && return
    mkdir -p "$state"
    exec 9>"$state/lock"
    flock -n 9 || { say "waiting for another set-up in $root"; flock 9; }
    if ! is_set_up "$1"; then # the other set-up may have done it
        find_cargo
        need python3-venv can_make_venv
        need "gcc libc6-dev" can_compile
        need perl can_configure
        [ "$1" = run ] || need tshark has command -v tshark
        [ "$1" = run ] || need iproute2 has command -v ip
        [ "$1" = run ] || need "$firmware_packages" can_build_firmware
        [ "$1" = run ] || need "libgnutls28-dev g++" can_compile_peers
        [ "$1" = run ] || need "chromium chromium-driver" can_browse
        [ "$1" = run ] || need "$peer_packages" has_programs
        make_venv "$1"
        build
        [ "$1" = run ] || make_cargo_deny
    fi
    exec 9>&-
}

has() { "$@" >/dev/null 2>&1; }
can_make_venv() { has python3 -c 'import ensurepip, venv'; }
can_compile() { echo '#include <stdio.h>' | has cc -x c -c - -o /dev/null; }

# firmware/measure: a compiler with the sources of `core`, two linkers and two emulators.
firmware_packages="rustc-web cargo-web rust-web-src binutils-arm-none-eabi qemu-system-arm gcc-avr avr-libc simavr"
can_build_firmware() {
    [ -e /usr/lib/rustlib/src/rust/library/core ] && has /usr/bin/cargo --version &&
        has command -v arm-none-eabi-ld && has command -v qemu-system-arm &&
        has command -v avr-gcc && has command -v simavr
}

# GnuTLS, and the C++ of BoringSSL: peers of lean-dtls in tests.
can_compile_peers() {
    echo '#include <gnutls/gnutls.h>' | has cc -x c -c - -o /dev/null &&
        { [ -z "${SLOWHAND_FULL-}" ] || echo '#include <utility>' | has c++ -x c++ -c - -o /dev/null; }
}

# The tests of pages.
can_browse() { has command -v chromium && has command -v chromedriver; }

# Programs whose sessions cross the emulated network in tests.
peer_packages="openssl gnutls-bin libcoap3-bin curl mosquitto mosquitto-clients"
has_programs() (
    PATH="$PATH:/usr/sbin" # mosquitto is there
    for program in openssl gnutls-serv gnutls-cli coap-server-openssl coap-server-gnutls curl \
        mosquitto mosquitto_pub; do
        has command -v "$program" || return
    done
)

can_configure() { has perl -MIPC::Cmd -e 1; } # OpenSSL's sources

# need PACKAGES CHECK...: if the check fails, installs the system packages as root, else says how.
need() {
    packages=$1
    shift
    "$@" && return
    if [ "$(id -u)" != 0 ] || ! has command -v apt-get; then
        die "a system package is missing: sudo apt-get install -y $packages"
    fi
    say "installing from the system's packages: $packages (about a minute)"
    { apt_install >"$state/apt.log" 2>&1 </dev/null && "$@"; } ||
        die "installing failed, see .state/apt.log: sudo apt-get install -y $packages"
}

apt_install() {
    apt-get -q update
    # shellcheck disable=SC2086 # one word a package
    DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 install -y \
        --no-install-recommends $packages
}

find_cargo() {
    least=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$root/Cargo.toml")
    # First rustup's: the packages for firmware/ have a cargo in /usr/bin.
    PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
    found=$(cargo --version 2>/dev/null | cut -d' ' -f2)
    [ -n "$found" ] || die "Rust $least or newer is missing: install it from https://rustup.rs," \
        "or run: rustup default stable"
    [ "$(printf '%s\n' "$least" "$found" | sort -V | head -n 1)" = "$least" ] ||
        die "Rust $found is too old, $least or newer is needed: rustup update stable"
}

make_venv() {
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        die "$(python3 --version) is too old, 3.11 or newer is needed: apt-get install python3"
    if ! has_venv; then
        rm -rf "$venv" "$state/run.lock" "$state/test.lock" "$state/built"
        python3 -m venv "$venv" || die "python3 -m venv failed"
        echo "$root" >"$state/root"
    fi
    have_packages "$1" && return
    say "installing Python packages into .venv (about half a minute)"
    "$venv/bin/python" -m pip install -q --disable-pip-version-check --only-binary :all: \
        -r "$root/python/$1.lock" >&2 || die "the packages of python/$1.lock could not be installed"
    cp "$root/python/$1.lock" "$state/$1.lock"
}

# Built without optimisation, because it runs for two seconds only and a release build takes much
# longer. Built without default features, which only its check of advisories needs.
make_cargo_deny() {
    [ -x "$cargo_deny" ] && return
    say "building cargo-deny, once (about a minute on two cores)"
    rm -rf "$state"/cargo-deny-*
    CARGO_PROFILE_DEV_DEBUG=false cargo install -q --locked --debug --no-default-features \
        --root "$state/cargo-deny-$cargo_deny_version" "cargo-deny@$cargo_deny_version" >&2 9>&- ||
        die "cargo-deny could not be built, see above"
}

# Builds in release mode and links the result into the virtual environment. The stamp has the time
# at which the build began: a file that changes during the build is built the next time.
build() {
    is_built && return
    if [ -e "$state/built" ]; then
        say "sources changed: building (seconds to two minutes)"
    else
        say "building the Rust and C code, once (about four minutes on two cores)"
    fi
    touch "$state/building"
    (cd "$root" && VIRTUAL_ENV="$venv" PIP_NO_INDEX=1 PIP_QUIET=1 \
        "$venv/bin/maturin" develop --release --locked >&2 9>&-) || die "the build failed, see above"
    mv "$state/building" "$state/built"
}

# Sets slowhand up inside its own folder. Sourced by ./slowhand, ./test and the scripts in tools/, with $root set.
# shellcheck shell=sh
#
#   .venv     Python and its packages, exactly those of python/run.lock (or python/test.lock)
#   target    what Cargo builds; python/slowhand/_native.abi3.so is the native module from there
#   .state    stamps that say what has been set up, the lock that keeps two set-ups apart, the logs of ./test
#
# SLOWHAND_PROFILE is the profile of Cargo for the native module: `release`, or `dev`, which ./test compiles once for all.

state="${root:?}/.state"
venv="$root/.venv"
module="$root/python/slowhand/_native.abi3.so"
profile=${SLOWHAND_PROFILE:-release}
built="$state/built-$profile"

# Python keeps what it has compiled beside the sources, also where this is switched off, as in many containers: without it each
# command compiles polars again, which takes longer than most commands.
unset PYTHONDONTWRITEBYTECODE

say() { echo "slowhand: $*" >&2; }
die() { say "$*"; exit 2; }

# True if everything for the packages in $1 (run or test) is in place and no source is newer than the build.
is_set_up() { has_venv && have_packages "$1" && is_built; }

# A virtual environment contains absolute paths: it does not work after a move.
has_venv() { [ -x "$venv/bin/python" ] && [ "$(cat "$state/root" 2>/dev/null)" = "$root" ]; }

# The test packages contain the run packages, so for run either stamp is enough.
have_packages() {
    cmp -s "$root/python/test.lock" "$state/test.lock" && return 0
    [ "$1" = run ] && cmp -s "$root/python/run.lock" "$state/run.lock"
}

# Compares directories too, so that a deleted file counts as a change. Tests are no part of it, and Python writes beside them.
is_built() {
    [ -e "$built" ] && [ -e "$module" ] && [ "$(cat "$state/module" 2>/dev/null)" = "$profile" ] &&
        [ -z "$(cd "$root" && find Cargo.toml Cargo.lock crates devices batteries -path 'crates/*/tests' -prune \
            -o -newer "$built" -print -quit)" ]
}

# set_up run|test: does nothing, and touches no network, when nothing has changed.
set_up() {
    is_set_up "$1" && return
    mkdir -p "$state"
    lock
    if ! is_set_up "$1"; then # the other set-up may have done it
        find_cargo
        install_needs run
        make_venv "$1"
        build
    fi
    exec 9>&-
}

# One set-up at a time. ./test keeps the lock until its end: the module under test stays the same.
lock() {
    [ -z "${SLOWHAND_IN_TEST-}" ] || die "sources have changed while ./test runs, which builds only once"
    exec 9>"$state/lock"
    flock -n 9 || { say "waiting for another set-up, or ./test, in $root"; flock 9; }
}

# install_needs WHEN...: installs, as root, the system packages of tools/needs.txt that are missing; else says how.
install_needs() {
    packages=$(missing_packages "$@")
    [ -n "$packages" ] || return 0
    if [ "$(id -u)" != 0 ] || ! has command -v apt-get; then
        die "system packages are missing: sudo apt-get install -y$packages"
    fi
    mkdir -p "$state"
    say "installing from the system's packages, up to two minutes:$packages"
    apt_install >"$state/apt.log" 2>&1 </dev/null && [ -z "$(missing_packages "$@")" ] ||
        die "installing failed, see .state/apt.log: sudo apt-get install -y$packages"
}

# The packages that are missing, each with a space before it.
missing_packages() {
    # shellcheck disable=SC2086 # one word a package
    while read -r when kind name packages; do
        case " $* " in *" $when "*) ;; *) continue ;; esac
        "has_$kind" "$name" || printf ' %s' $packages
    done <"$root/tools/needs.txt" | tr ' ' '\n' | awk 'NF && !seen[$1]++ { printf " %s", $1 }'
}

has() { "$@" >/dev/null 2>&1; }
has_program() { PATH="$PATH:/usr/sbin" has command -v "$1"; } # mosquitto is there
has_file() { [ -e "$1" ]; }
has_header() { echo "#include <$1>" | has cc -x c -c - -o /dev/null; }
has_perl() { has perl "-M$1" -e 1; } # OpenSSL's sources
has_python() { has python3 -c "import $1"; }

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

# make_venv run|test: Python with the packages of this lock. It finds slowhand in python/.
make_venv() {
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        die "$(python3 --version) is too old, 3.11 or newer is needed: apt-get install python3"
    mkdir -p "$state"
    if ! has_venv; then
        rm -rf "$venv" "$state/run.lock" "$state/test.lock"
        python3 -m venv "$venv" || die "python3 -m venv failed"
        echo "$root" >"$state/root"
    fi
    have_packages "$1" && return
    say "installing Python packages into .venv (about half a minute)"
    # Python compiles what it imports, when it imports it: a tenth of all.
    "$venv/bin/python" -m pip install -q --disable-pip-version-check --only-binary :all: --no-deps --no-compile \
        -r "$root/python/$1.lock" >&2 || die "the packages of python/$1.lock could not be installed"
    "$venv/bin/python" "$root/tools/register.py" || die "slowhand could not be registered in .venv"
    cp "$root/python/$1.lock" "$state/$1.lock"
}

# Compiles the native module. The stamp has the time at which the build began: a file that changes during the build is
# built the next time.
build() {
    is_built && return
    if [ -e "$built" ]; then
        say "sources changed: building (seconds to two minutes)"
    else
        say "building the Rust and C code, once (about three minutes on two cores)"
    fi
    mkdir -p "$state"
    touch "$state/building"
    (cd "$root" && cargo build --locked --profile "$profile" -p slowhand-py >&2 9>&-) ||
        die "the build failed, see above"
    link_module
}

# Compiles the native module, all tests, benchmarks and examples. With --full the module is the one that users have.
build_tests() {
    touch "$state/building"
    # shellcheck disable=SC2086 # one word an option
    "$root/tools/cargo-linted" build -q --locked ${PACKAGES:---workspace} --lib --tests --benches --examples || return
    case "${PACKAGES-}" in
    *lean-dtls*) # Its tests are left out. tests/test_settings_live.py runs this example all the same.
        "$root/tools/cargo-linted" build -q --locked --workspace --exclude slowhand-interop --example settings || return ;;
    esac
    if [ "$profile" = dev ]; then link_module; else build; fi
}

# The compiled module is the module from now on. It is one more name of the file, so that nothing is missing while Cargo
# writes the next one.
link_module() {
    case "$profile" in
    dev) folder=debug ;; # so Cargo calls it
    *) folder=$profile ;;
    esac
    library="$root/target/$folder/lib_native.so"
    if [ ! "$library" -ef "$module" ]; then
        ln -f "$library" "$module.new" || die "target/ and python/ are not on the same disk"
        mv "$module.new" "$module"
    fi
    echo "$profile" >"$state/module"
    mv "$state/building" "$built"
}

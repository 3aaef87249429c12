#!/bin/sh
# Make .venv ready, with one of pyproject.toml's extras:   sh tools/setup.sh demo
#
# It does only what is missing, so that every make target can call it first: a virtual environment,
# and `pip install -e .` with the extra. PYTHON=/path/to/python says what to build it with. If uv is
# here, it does both, in a fraction of the time.
set -eu

extra=$1
cd "$(dirname "$0")/.."
venv=.venv
python=$venv/bin/python

if command -v uv >/dev/null; then
    installer=uv
    make_venv() { uv venv --quiet --seed --python "$(command -v "$1")" $venv; }  # --seed: with pip
    install() { uv pip install --quiet --python "$python" "$@"; }
else
    installer=pip
    make_venv() { "$1" -m venv $venv; }
    # Compiling every file would take as long as installing it: Python compiles what is imported.
    install() { "$python" -m pip install --quiet --disable-pip-version-check --no-compile "$@"; }
fi

stop() {
    printf 'minigrad: %s\n' "$*" >&2
    exit 1
}

# Print the first Python that is new enough and can make virtual environments.
find_python() {
    seen='' bare=''
    for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.14 python}; do
        version=$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>&1) ||
            version=''
        if [ -z "$version" ]; then
            [ -z "${PYTHON:-}" ] || seen="$candidate does not run"
        elif ! "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
            seen=${seen:-"$candidate is Python $version"}
        elif [ $installer = pip ] && ! "$candidate" -c 'import ensurepip, venv' 2>/dev/null; then
            bare=${bare:-$version}
        else
            echo "$candidate"
            return
        fi
    done
    [ -z "$bare" ] || stop "Python $bare is here without its venv module: install it (Debian, Ubuntu: apt install python$bare-venv), then run make again."
    stop "Python 3.11 or newer is needed${seen:+ ($seen)}: install it, or say where it is: make PYTHON=/path/to/python3.11"
}

identity() { "$1" -c 'import sys; print(sys.version, sys.base_prefix)' 2>/dev/null; }

base=''
if ! "$python" -c 'import pip' 2>/dev/null; then
    base=$(find_python)
elif [ -n "${PYTHON:-}" ] && [ "$(identity "$PYTHON")" != "$(identity $python)" ]; then
    base=$(find_python)  # another one was asked for
fi
if [ -n "$base" ]; then
    echo "minigrad: making $venv with $("$base" --version)"
    rm -rf $venv
    make_venv "$base"
fi

# The folder counts too: the environment of a copied or moved clone would import the old one's files.
wants=$({ pwd; cat pyproject.toml setup.py; } | cksum | tr -s ' \t' '-')
if [ "$(cat $venv/has-"$extra" 2>/dev/null)" != "$wants" ]; then
    echo "minigrad: installing into $venv what \`$extra\` needs"
    # Of this name were editable installs before 0.2, and is another project: either is in the way.
    "$python" -m pip uninstall -qq --yes minigrad
    install --editable ".[$extra]" ||
        stop "$installer could not install what is needed: its message is above. It needs a network."
    echo "$wants" > $venv/has-"$extra"
fi

#!/bin/sh
# Make the virtual environment named by $1 with $PYTHON. Debian keeps the module for that in a package of its own: as root it is
# installed, otherwise the person is told its name.
set -eu
venv=$1
if ! "$PYTHON" -c 'import venv, ensurepip' 2>/dev/null; then
    package="python$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv"
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "Installing $package …"
        apt-get update -qq >/dev/null
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$package" >/dev/null
    else
        echo "$PYTHON cannot make virtual environments. On Debian or Ubuntu: sudo apt install $package" >&2
        exit 1
    fi
fi
rm -rf "$venv"
"$PYTHON" -m venv "$venv"

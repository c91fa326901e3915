#!/bin/sh
# Have a Chromium for the tests that drive the page, and a font with Chinese glyphs for their screenshots. Where neither is there nor
# can be installed, those tests are skipped and say so; with CI=true or STEWARD_REQUIRE_BROWSER=1 that is an error instead.
set -eu

have_browser() { command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || [ -n "${STEWARD_BROWSER:-}" ]; }
have_font() { command -v fc-list >/dev/null && [ -n "$(fc-list :lang=zh-cn 2>/dev/null)" ]; }

if have_browser && have_font; then exit 0; fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing Chromium and a Chinese font for the browser tests …"
    if apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium fontconfig fonts-wqy-zenhei >/dev/null; then
        exit 0
    fi
fi
if have_browser; then
    echo "No font with Chinese glyphs: screenshots will show boxes in their place."
elif [ "${CI:-}" = true ] || [ "${STEWARD_REQUIRE_BROWSER:-}" = 1 ]; then
    echo "The browser tests need Chromium, and it could not be installed." >&2
    exit 1
else
    echo "No Chromium here (on Debian: sudo apt install chromium): the browser tests will be skipped."
fi

#!/bin/sh
# architecture.sh SOURCE - docs/architecture.md has the layers, threads and steps of the sources.
set -eu
cd "$1"
tests/support/node scripts/architecture --check

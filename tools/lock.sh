#!/usr/bin/env bash
# Pin the dependency groups of pyproject.toml, with hashes, in requirements/*.txt.
# Run it after a change of a dependency, and with --upgrade to move to newer versions.
set -euo pipefail
cd "$(dirname "$0")/.."

"${PYTHON:-python3}" -m venv .venv-lock
.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check uv

UPGRADE=("$@")
lock() { # lock <file> <further arguments>
  local file="requirements/$1.txt"
  shift
  .venv-lock/bin/uv pip compile pyproject.toml --output-file "$file" --quiet ${UPGRADE[@]+"${UPGRADE[@]}"} \
    --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
    --no-emit-index-url --no-emit-find-links "$@"
}

lock dev --group dev
lock demo --group demo --constraints requirements/dev.txt
lock docs --group docs --constraints requirements/dev.txt
lock browser --group browser --constraints requirements/dev.txt --constraints requirements/docs.txt
lock peers --group peers
lock engines --group remote
lock server --group server # dp-accounting wants an older attrs
lock mbi --group mbi --constraints requirements/dev.txt
lock opendp --group opendp --constraints requirements/dev.txt
lock sklearn --group sklearn --constraints requirements/dev.txt
lock lowest --group test --resolution lowest-direct
lock lowest-engines --group remote --resolution lowest-direct

if grep -nE '://|file:' requirements/*.txt; then
  echo "requirements/ must name no host" >&2
  exit 1
fi

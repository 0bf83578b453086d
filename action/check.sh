#!/usr/bin/env bash
# What action.yml runs: annotations on standard output, SARIF in a file, the exit code of `lockgate check`.
set -euo pipefail

program=${LOCKGATE_PROGRAM:-lockgate}
sarif=${LOCKGATE_SARIF:-lockgate.sarif}

if ! command -v "$program" >/dev/null; then
  [ "$program" = lockgate ] || { echo "there is no program $program" >&2; exit 70; }
  cargo install --locked --quiet --path "${LOCKGATE_SOURCE:?the folder of lockgate\'s source}" --root "${RUNNER_TEMP:-/tmp}/lockgate"
  program=${RUNNER_TEMP:-/tmp}/lockgate/bin/lockgate
fi

root=${LOCKGATE_ROOT:-.}
base=${LOCKGATE_BASE:-}
# The first commit of a repository has no parent: all of its files are new. In a shallow clone, the parent is only absent.
rev_parse() { git -C "$root" rev-parse --quiet "$@" 2>/dev/null; }
if [ "$base" = HEAD~1 ] && [ "$(rev_parse --is-shallow-repository)" = false ] &&
  rev_parse --verify HEAD >/dev/null && ! rev_parse --verify HEAD~1 >/dev/null; then
  base=$(git -C "$root" hash-object -t tree /dev/null) # the empty tree
fi

arguments=(check "--root=$root" --format github "--sarif=$sarif")
[ -z "$base" ] || arguments+=("--base=$base")
[ "${LOCKGATE_TRUST:-false}" != true ] || arguments+=(--trust)
arguments+=(--)
while IFS= read -r path; do
  [ -z "$path" ] || arguments+=("$path")
done <<<"${LOCKGATE_PATHS:-}"

[ -z "${GITHUB_OUTPUT:-}" ] || printf 'sarif=%s\n' "${sarif//[$'\r\n']/ }" >>"$GITHUB_OUTPUT"
exec "$program" "${arguments[@]}"

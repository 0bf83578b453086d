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

arguments=(check "--root=${LOCKGATE_ROOT:-.}" --format github "--sarif=$sarif")
[ -z "${LOCKGATE_BASE:-}" ] || arguments+=("--base=$LOCKGATE_BASE")
[ "${LOCKGATE_TRUST:-false}" != true ] || arguments+=(--trust)
arguments+=(--)
while IFS= read -r path; do
  [ -z "$path" ] || arguments+=("$path")
done <<<"${LOCKGATE_PATHS:-}"

[ -z "${GITHUB_OUTPUT:-}" ] || printf 'sarif=%s\n' "${sarif//[$'\r\n']/ }" >>"$GITHUB_OUTPUT"
exec "$program" "${arguments[@]}"

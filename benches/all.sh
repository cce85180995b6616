#!/usr/bin/env bash
# Runs every benchmark, or those that are named, and puts their rows together: one Markdown table on standard output, and the
# same as JSON in target/bench.json. A benchmark that stops does not stop the others, but the exit code says so.
#
#   benches/all.sh                # all of them: an hour, most of it building
#   benches/all.sh tree rounds    # these two
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
rows=$(cd "$target" && pwd)/bench.jsonl
rm -f "$rows" "$target/bench.json"
named=()
for bench in "$@"; do named+=(--bench "$bench"); done

status=0
printed=$(GIT_PROOF_BENCH_JSON=$rows cargo bench --locked --no-fail-fast "${named[@]}" | tee >(cat >&2)) || status=$?

# What cargo says comes between the tables; each has its two lines of head.
printf '\n'
grep '^|' <<<"$printed" | awk 'NR <= 2 || !/^\| figure \||^\|---/' || true
if [[ -e $rows ]]; then
  { printf '[\n' && sed '$!s/$/,/' "$rows" && printf ']\n'; } >"$target/bench.json"
  printf '\nThe same as JSON: %s\n' "$target/bench.json" >&2
fi
exit "$status"

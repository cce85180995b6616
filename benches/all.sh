#!/usr/bin/env bash
# Runs every benchmark, or those that are named, and puts their rows together: one Markdown table on standard output, and the
# same as JSON in target/bench.json. A benchmark that stops does not stop the others, but the exit code says so.
#
#   benches/all.sh                # all of them: most of an hour, half of it building
#   benches/all.sh tree rounds    # these two
#   benches/all.sh page           # the page of a report in Chromium, which .ci/run installs
#   benches/all.sh --long         # all, with 100,000 commits to verify, and growth up to 100,000 of everything
set -euo pipefail
cd "$(dirname "$0")/.."

long=
if [[ ${1:-} == --long ]]; then
  long=yes
  shift
fi
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
rows=$(cd "$target" && pwd)/bench.jsonl
rm -f "$rows" "$target/bench.json"
export GIT_PROOF_BENCH_JSON=$rows
asked=" $* " named=()
for bench in "$@"; do [[ $bench == page ]] || named+=(--bench "$bench"); done
wanted() { [[ -z ${asked// /} || $asked == *" $1 "* ]]; }

if wanted tree && [[ -z ${GIT_PROOF_PEERS:-} ]]; then
  GIT_PROOF_PEERS=$(benches/peers.sh) && export GIT_PROOF_PEERS ||
    printf 'merkletreejs and pymerkle cannot be had here, and are left out\n' >&2
fi
[[ -z $long ]] || export GIT_PROOF_GROWTH=100000

status=0
bench() { cargo bench --locked --no-fail-fast "$@" | tee >(cat >&2) || status=$?; }
page() {
  local modules=${GIT_PROOF_BROWSER:-target/ci-browser}
  if [[ ! -d $modules/node_modules/playwright-core ]] || ! command -v "${CHROMIUM:-chromium}" >/dev/null; then
    printf 'Chromium or playwright-core is not here, and the page is left out\n' >&2
    return
  fi
  cargo build --locked --release --quiet &&
    ONLY='first paint of 200' node tests/browser/run.mjs "$target/release/git-proof" "$modules" | tee >(cat >&2) || status=$?
}
printed=$(
  [[ $asked == ' page ' ]] || bench "${named[@]}"
  if wanted page; then page; fi
  if [[ -n $long ]] && wanted verify; then COMMITS=100000 bench --bench verify; fi
  exit "$status"
) || status=$?

# What cargo says comes between the tables; each has its two lines of head.
printf '\n'
grep '^|' <<<"$printed" | awk 'NR <= 2 || !/^\| figure \||^\|---/' || true
if [[ -e $rows ]]; then
  { printf '[\n' && sed '$!s/$/,/' "$rows" && printf ']\n'; } >"$target/bench.json"
  printf '\nThe same as JSON: %s\n' "$target/bench.json" >&2
fi
exit "$status"

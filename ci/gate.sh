#!/bin/sh
# The gate in a CI run: finds out what is to be judged, fetches what a checkout leaves out, and judges it.
#
# A checkout of a forge is shallow, has no proof refs, and for a pull request is of a merge that nobody has made. So this
# fetches refs/notes/proof and refs/proof/* (git proof sync --fetch-only), deepens the history until the whole range is there, and judges the head of
# the pull request against the tip of its base. It only ever fetches: a read-only token will do.
#
# All input comes from the environment, so that no name of a branch is ever part of a script's text:
#
#   GIT_PROOF_BASE, GIT_PROOF_HEAD   commit ids or branches of the remote, instead of what the event says
#   GIT_PROOF_FORMAT                 as of git proof gate --format                       [human]
#   GIT_PROOF_OUTPUT                 a file for the answer                               [standard output]
#   GIT_PROOF_REQUIRE_POLICY         true: a base without .proof/policy.toml is refused
#   GIT_PROOF_ADVISORY               true: the verdict is shown, and nothing is refused
#   GIT_PROOF_PROOFS                 other repositories whose proofs are judged too, one a line
#   GIT_PROOF_REMOTE                 the remote                                          [origin]
#   GIT_PROOF_BIN                    the program                                         [git-proof]
#
# The event: action.yml sets GIT_PROOF_EVENT and what belongs to it; in GitLab the CI_* variables are there. If a pull request
# comes from a fork, the proofs of the fork are judged too. Nothing of them is kept.
#
# Exit codes are those of git proof gate: 0 accepted, 1 refused, 2 wrong usage, 3 could not check.
set -eu
export LC_ALL=C GIT_TERMINAL_PROMPT=0

remote=${GIT_PROOF_REMOTE:-origin}
format=${GIT_PROOF_FORMAT:-human}

# Says why it ends. Nothing that a stranger has named is repeated here: a log may take it for a command.
stop() {
  code=$1
  shift
  if [ "$format" = github ]; then echo "::error title=git proof gate::$*" >&2; else echo "git proof gate: $*" >&2; fi
  exit "$code"
}

is_id() {
  case $1 in *[!0-9a-f]*) return 1 ;; esac
  [ ${#1} -eq 40 ] || [ ${#1} -eq 64 ]
}

is_nothing() {
  case $1 in *[!0]*) return 1 ;; esac
}

is_shallow() { [ "$(git rev-parse --is-shallow-repository)" = true ]; }

fetch() { git -c gc.auto=0 -c maintenance.auto=false fetch --quiet --no-tags --no-recurse-submodules "$@"; }

# What is to be judged.
base='' head='' spare='' branch='' default='' fork=''
if [ -n "${GIT_PROOF_EVENT:-}" ]; then
  default=${GIT_PROOF_DEFAULT_BRANCH:-}
  case $GIT_PROOF_EVENT in
    pull_request | pull_request_target)
      base=${GIT_PROOF_PR_BASE:-} head=${GIT_PROOF_PR_HEAD:-}
      spare=refs/pull/${GIT_PROOF_PR_NUMBER:-0}/head
      fork=${GIT_PROOF_PR_FORK:-}
      ;;
    merge_group) base=${GIT_PROOF_QUEUE_BASE:-} head=${GIT_PROOF_QUEUE_HEAD:-} ;;
    push) base=${GIT_PROOF_BEFORE:-} head=${GIT_PROOF_AFTER:-} branch=${GIT_PROOF_BRANCH:-} ;;
  esac
elif [ -n "${CI_MERGE_REQUEST_IID:-}" ]; then
  base=${CI_MERGE_REQUEST_TARGET_BRANCH_NAME:-}
  head=${CI_MERGE_REQUEST_SOURCE_BRANCH_SHA:-${CI_COMMIT_SHA:-}}
  spare=refs/merge-requests/$CI_MERGE_REQUEST_IID/head
  if [ "${CI_MERGE_REQUEST_SOURCE_PROJECT_ID:-}" != "${CI_MERGE_REQUEST_PROJECT_ID:-}" ]; then
    fork=${CI_MERGE_REQUEST_SOURCE_PROJECT_URL:+$CI_MERGE_REQUEST_SOURCE_PROJECT_URL.git}
    # What the job may read of the fork, it reads with its own token. The token is offered to this server alone.
    if [ -n "${CI_JOB_TOKEN:-}" ] && [ -n "${CI_SERVER_URL:-}" ] && [ -z "${GIT_CONFIG_COUNT:-}" ]; then
      export GIT_CONFIG_COUNT=1 "GIT_CONFIG_KEY_0=credential.$CI_SERVER_URL.helper"
      # shellcheck disable=SC2016 # git expands it
      export GIT_CONFIG_VALUE_0='!f() { echo username=gitlab-ci-token; echo "password=$CI_JOB_TOKEN"; }; f'
    fi
  fi
elif [ -n "${GITLAB_CI:-}" ]; then
  base=${CI_COMMIT_BEFORE_SHA:-} head=${CI_COMMIT_SHA:-}
  branch=${CI_COMMIT_BRANCH:-} default=${CI_DEFAULT_BRANCH:-}
fi
base=${GIT_PROOF_BASE:-$base} head=${GIT_PROOF_HEAD:-$head}
[ -n "$base" ] || stop 2 "there is no base: the event has none, and the input base is not set"
[ -n "$head" ] || stop 2 "there is no head: the event has none, and the input head is not set"
if is_nothing "$head"; then
  echo "git proof gate: the branch is being deleted; there is nothing to judge."
  exit 0
fi

# The commit that a branch of the remote is at, or none.
tip_of() {
  git check-ref-format "refs/heads/$1" || stop 2 "a name that was given is neither a commit id nor a branch"
  git ls-remote -- "$remote" "refs/heads/$1" >"$refs" || stop 3 "the remote cannot be read"
  # The pattern also matches longer names that end in this one.
  while read -r id name; do
    if [ "$name" = "refs/heads/$1" ]; then echo "$id"; fi
  done <"$refs"
}

has() { git cat-file -e "$1^{commit}" 2>/dev/null; }

# Brings a commit, at first without its history where the clone is shallow.
bring() {
  has "$1" && return
  depth=''
  if is_shallow; then depth=--depth=1; fi
  fetch $depth -- "$remote" "$1" 2>/dev/null && has "$1" && return
  [ -n "$2" ] && fetch $depth -- "$remote" "$2" 2>/dev/null && has "$1"
}

refs=$(mktemp)
trap 'rm -f "$refs"' EXIT

if ! is_id "$head"; then head=$(tip_of "$head"); fi
[ -n "$head" ] || stop 3 "the head is a branch that the remote does not have"
bring "$head" "$spare" || stop 3 "the head cannot be fetched"

if is_id "$base" && { is_nothing "$base" || ! bring "$base" ''; }; then
  # A new branch, or one whose old tip is gone after a forced push: what it adds to the main one is judged.
  if [ -n "$default" ] && [ "$branch" != "$default" ] && [ -z "${GIT_PROOF_BASE:-}" ]; then
    base=$default
  elif ! is_nothing "$base"; then
    stop 3 "the base cannot be fetched; after a forced push the input base may name another one"
  fi
fi
if is_nothing "$base"; then
  base=$(printf '%s' "$head" | tr 0-9a-f 0)
elif ! is_id "$base"; then
  base=$(tip_of "$base")
  [ -n "$base" ] || stop 3 "the base is a branch that the remote does not have"
  bring "$base" '' || stop 3 "the base cannot be fetched"
fi

# Whether the range is here to its end: its two sides meet, and git cuts nothing off in it.
whole() {
  is_shallow || return 0
  is_nothing "$base" && return 1
  git merge-base "$base" "$head" >/dev/null || return 1
  git rev-list "$head" "^$base" >"$refs" || return 1
  ! grep -qxF -f "$(git rev-parse --git-path shallow)" "$refs"
}
for more in 50 200 1000 5000; do
  if is_nothing "$base" || whole; then break; fi
  fetch --deepen="$more" -- "$remote" "$base" "$head" || stop 3 "the history cannot be fetched"
done
if ! whole; then
  fetch --unshallow -- "$remote" "$head" || stop 3 "the history cannot be fetched"
fi

# The proof refs that the remote has, and which of them it does not have: only then is a proof that is not here missing.
proof() { "${GIT_PROOF_BIN:-git-proof}" "$@"; }
code=0
proof sync --fetch-only "$remote" >"$refs" || code=$?
case $code in
  0) ;;
  # Rounds that do not hold are not taken over by a sync. The gate has to see them, and says what is wrong.
  1) fetch -- "$remote" refs/proof/rounds:refs/proof/rounds || stop 3 "the rounds were wound back since the last run" ;;
  *) stop 3 "the proof refs cannot be fetched" ;;
esac

set -- gate "--base=$base" "--head=$head"
if [ "${GIT_PROOF_REQUIRE_POLICY:-}" = true ]; then set -- "$@" --require-policy; fi
if [ "${GIT_PROOF_ADVISORY:-}" = true ]; then set -- "$@" --advisory; fi
printf '%s\n' "$fork" "${GIT_PROOF_PROOFS:-}" >"$refs"
while IFS= read -r source; do
  if [ -n "$source" ]; then set -- "$@" "--proofs=$source"; fi
done <"$refs"
judge() {
  if [ -n "${GIT_PROOF_OUTPUT:-}" ]; then
    code=0
    proof "$@" "--format=$format" >"$GIT_PROOF_OUTPUT" || code=$?
    # The verdict belongs into the log, too, also that of an advisory policy: not everyone opens the file.
    proof "$@" --format=human 2>/dev/null || :
    return "$code"
  else
    proof "$@" "--format=$format"
  fi
}
# Whether a change was undone before may need more of the history than the range itself. It is fetched only then.
if is_shallow; then proof "$@" --format=json >"$refs" 2>/dev/null || :; fi
if is_shallow && grep -q '"severity":"unchecked"' "$refs"; then
  fetch --unshallow -- "$remote" "$head" || stop 3 "the history cannot be fetched"
fi
judge "$@"

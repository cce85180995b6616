#!/bin/sh
# sh check-evidence.sh FILE ROOT COUNT: do the lines of a v1 session add up to this root and count?
set -f; root=$2 count=$3 known='' leaves=''; join() { printf %s "$1$2" | xxd -r -p | sha256sum | cut -c1-64; }
while IFS= read -r line; do
  hash=$(printf %s "$line" | sha256sum | cut -c1-64); prev=${line##*'"prev_hash":"'}; prev=${prev%%'"'*}
  case $known$line in '{"caller":'*'"scheme":"v1","session_id":'*) known=" $hash "; continue ;; esac
  case $line in '{"prev_hash":"'"$prev"'","withheld":"'*'"}') hash=${line#*'"withheld":"'}; hash=${hash%'"}'} ;; esac
  case ${#hash}/$hash/$known in 64/*[!0-9a-f]*/*) exit 1 ;; 64/*" $prev "*) ;; *) exit 1 ;; esac
  known="$known$(join "$hash" "$prev") " leaves="$leaves $hash"
done <"$1"; set -- $leaves; [ $# -eq "$count" ] || exit 1
while [ $# -gt 1 ]; do up=''; while [ $# -gt 0 ]; do up="$up $(join "$1" "${2:-$1}")"; shift ${2:+2}; done; set -- $up; done
[ "$1" = "$root" ]

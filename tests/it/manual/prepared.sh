# A repository in which the command lines of the manual make sense: names, files and branches are those that they use.
# It runs in an empty directory, with HOME in it, and leaves in `values` what cannot be chosen: ids and hashes.
set -euo pipefail
git init --quiet --bare --initial-branch=main remote.git
mkdir -p home/.ssh home/.zfunc home/.local/share home/src
git init --quiet home/src/importer
ssh-keygen -q -t ed25519 -N '' -C ada@example.org -f home/.ssh/id

git init --quiet --initial-branch=main place
cd place
git remote add origin ../remote.git
git remote add upstream ../remote.git
git config gpg.format ssh
git config user.signingkey '~/.ssh/id.pub'
for step in 1 2 3 4; do
  echo "step $step" >>importer.txt
  git add importer.txt
  git commit --quiet -m "Importer: step $step"
done

# Two notes that are packed, and two that are left behind.
notes() {
  git proof memory put --key flaky --text "the importer test fails once in ten runs"
  git proof memory put --key todo --text-file notes.md
  git proof memory pack
  git proof memory put --text "left behind"
  git proof memory put --text "and another one"
}

# A session that explains what is staged: record, commit, reflect, finalize.
explain() { # SESSION SUBJECT
  git proof start --session-id "$1" --task "${1%-*}" --intent "fix the login loop"
  git proof record --type plan --content "Look at the write-ahead log first."
  [ "$1" != t-89-login ] || notes
  git proof record --type decision --content "WAL; rejected: rollback journal, readers would wait"
  git commit --quiet -m "$2"
  git proof record --type reflection --content "Idempotent now. Unsure about network file systems."
  git proof finalize
}

# The policy and who may sign, on main.
git proof init --policy
echo "ada@example.org $(cut -d' ' -f1,2 ../home/.ssh/id.pub)" >.proof/allowed_signers
git add .proof
explain t-88-policy "Policy"
git proof seal
git push --quiet --set-upstream origin main

echo "look at the second caller" >notes.md

# Three proven commits on a branch; the middle one has been reworded since.
git checkout --quiet -b feature
for session in t-89-login t-90-retry t-91-limits; do
  echo "$session" >>importer.txt
  git add importer.txt
  explain "$session" "Importer: $session"
  # Two rounds are sealed; the last two sessions are left for a third.
  [ "$session" != t-89-login ] || git proof seal
done
git update-ref ORIG_HEAD HEAD
git commit --quiet --amend -m "Importer: t-91-limits, reworded"
git push --quiet --set-upstream origin feature

# A squash that git could not make: main had changed the line beside it, and a person has merged the two.
git checkout --quiet -b squashed main
sed -i 's/^step 4$/step four/' importer.txt
git commit --quiet --all -m "Importer: step four"
git show feature:importer.txt | sed 's/^step 4$/step four/' >importer.txt
git add importer.txt
git commit --quiet -m "Importer, squashed (#7)" -m "Proof-Grade: true"
git checkout --quiet feature

# An open session that could be closed, and changes that could be committed.
git proof start --session-id current --intent "make the importer idempotent"
git proof record --type decision --content "first try" --json >../first
git proof memory put --text "the fifth note"
git proof record --type reflection --content "Done, as far as I can see."
echo "not committed yet" >>importer.txt
echo "what was found" >findings.md
echo "a report" >report.pdf
ssh-keygen -q -t ed25519 -N '' -C checkpoint -f checkpoint.key
git proof rounds prove --from 1 --to 2 >consistency.json
git proof prove --round --session t-89-login >sealed.json

# What is named by an id or a hash.
field() { sed "s/.*\"$1\":\"\{0,1\}\([^\",]*\).*/\1/"; }
root=$(git proof root --session t-89-login --json | field root)
count=$(git proof root --session t-89-login --json | field count)
git cat-file blob "refs/proof/evidence:${root:0:2}/$root.jsonl" >session.jsonl
record=$(sed -n '/"type":"decision"/p' session.jsonl | field id)
git proof prove --record "$record" >proof.json
printf '%s\n' "$record" "$root" "$count" "$(field id <../first)" >../values

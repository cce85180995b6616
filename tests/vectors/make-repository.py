#!/usr/bin/env python3
"""Makes repository.bundle and verdicts.json: a small repository, and the verdict of each of its commits.

    tests/vectors/make-repository.py PROGRAM [FOLDER]

PROGRAM is git-proof. Sessions are recorded, anchored, signed and sealed with it; what nobody honest would write is put
there with git's plumbing. What is expected of each commit is written down here by hand, and the program must agree, or
nothing is written.

Dates of commits are fixed. The ids of entries are random and keys are made anew, as the program demands, so that each run
gives other hashes; the expectations stay the same.
"""
import base64, hashlib, json, os, pathlib, shutil, subprocess, sys, tempfile

PROGRAM = os.path.abspath(sys.argv[1])
OUT = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else os.path.dirname(os.path.abspath(__file__)))
TEMP = pathlib.Path(tempfile.mkdtemp())
NOTES, EVIDENCE, CHANGES, ROUNDS = "refs/notes/proof", "refs/proof/evidence", "refs/proof/changes", "refs/proof/rounds"
ENV = {
    "PATH": os.environ["PATH"], "HOME": str(TEMP), "LC_ALL": "C", "TZ": "UTC", "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.com",
}
clock = 1_772_000_000


def run(*args, at=None, stdin=b"", codes=(0,)):
    global clock
    clock += 60
    date = f"{clock} +0000"
    env = {**ENV, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    done = subprocess.run(args, cwd=at or WORK, env=env, input=stdin, capture_output=True)
    if done.returncode not in codes:
        sys.exit(f"{args}: {done.returncode}\n{done.stdout.decode()}{done.stderr.decode()}")
    return done.stdout


WORK = TEMP / "work"
WORK.mkdir()


def git(*args, stdin=b""):
    return run("git", *args, stdin=stdin).decode().strip()


def proof(*args):
    return json.loads(run(PROGRAM, "--json", *args))


def write(path, text):
    (WORK / path).parent.mkdir(parents=True, exist_ok=True)
    (WORK / path).write_text(text)


def commit(message, files=None, *more):
    for path, text in (files or {}).items():
        write(path, text)
    git("add", "--all")
    git("commit", "--quiet", "--cleanup=verbatim", "-F", "-", *more, stdin=message.encode())
    return git("rev-parse", "HEAD")


def blob(content):
    return git("hash-object", "-w", "--stdin", stdin=content if isinstance(content, bytes) else content.encode())


def note(of):
    return run("git", "cat-file", "blob", git("notes", f"--ref={NOTES}", "list", of)).decode()


def set_note(of, text):
    git("notes", f"--ref={NOTES}", "add", "--force", "--allow-empty", "-C", blob(text), of)


def put(ref, path, content):
    """Puts a file into the tree of a ref; None takes it away."""
    index = {"GIT_INDEX_FILE": str(TEMP / "index")}
    ENV.update(index)
    (TEMP / "index").unlink(missing_ok=True)
    old = run("git", "rev-parse", "--verify", "--quiet", ref, codes=(0, 1)).decode().strip()
    if old:
        git("read-tree", ref)
    if content is None:
        git("update-index", "--force-remove", path)
    else:
        git("update-index", "--add", "--cacheinfo", f"100644,{blob(content)},{path}")
    tree = git("write-tree")
    ENV.pop("GIT_INDEX_FILE")
    git("update-ref", ref, git("commit-tree", tree, *(["-p", old] if old else []), "-m", "put"))


def change_ids(base, head):
    """The change id and the bare change id, by the shell command of the specification."""
    diff = "git --attr-source=$(git hash-object -t tree /dev/null) diff-tree -p -r --root --no-commit-id --full-index " \
        "--no-renames --no-ext-diff --no-textconv --no-color --diff-algorithm=myers --indent-heuristic -U%d " \
        f"--ignore-submodules=none --src-prefix=a/ --dst-prefix=b/ {base} {head}"
    cut = r"""LC_ALL=C awk '/^index /{h=$0;next} h!=""{if(/^Binary files /)print h;h=""} {sub(/^@@ .*/,"@@")} 1' """
    return [hashlib.sha256(run("sh", "-c", f"{diff % width} | {cut}")).hexdigest() for width in (3, 0)]


def index(base, head, line):
    """Writes down where the change from base to head was seen."""
    for change in change_ids(base, head):
        path = f"{change[:2]}/{change}"
        old = run("git", "cat-file", "blob", f"{CHANGES}:{path}", codes=(0, 128))
        put(CHANGES, path, old + json.dumps(line, separators=(",", ":")).encode() + b"\n")


def seen(original):
    index(f"{original}^", original, {"commit": original})


def session(name, *options, intent="Try it", reflection="It is done.", middle=(), anchor=True, make=None, sign=False):
    """A session from its opening to its anchor; `make` commits something while it is open."""
    proof("start", "--intent", intent, "--session-id", name, *options)
    proof("record", "--type", "decision", "--content", f"What {name} decided.")
    made = make() if make else None
    if made:
        run(PROGRAM, "hook", "post-commit")
    for step in middle:
        proof(*step)
    if reflection:
        proof("record", "--type", "reflection", "--content", reflection)
    root = proof("finalize")
    if anchor and made:
        proof("anchor", *(["--sign"] if sign else ["--no-sign"]))
    return made, root


def proven(name, message=None, files=None, *options, **more):
    message = message or f"{name}: a change\n\nProof-Session: {name}\n"
    return session(name, *options, make=lambda: commit(message, files or {f"{name}.txt": f"{name}\n"}), **more)[0]


def sign(anchor, key, over=None):
    """The line of an anchor with a signature of a key."""
    text = over or canonical(anchor)
    armour = run("ssh-keygen", "-q", "-Y", "sign", "-n", "git-proof", "-f", str(TEMP / key), stdin=text.encode())
    lines = armour.decode().split("\n")
    return canonical({"anchor": anchor, "signature": "".join(lines[1:lines.index("-----END SSH SIGNATURE-----")])}) + "\n"


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def anchor_of(commit, at=0):
    return json.loads(note(commit).splitlines()[at])["anchor"]


# --- what is expected -------------------------------------------------------------------------------------------------

views, judgements = {}, []


def view(name, rules="refs/heads/rules/default", refs=None, without=None):
    views[name] = {"rules": rules, "refs": refs or {}, "without": without or []}


def expect(what, commit, verdict, findings="", binding=None, view="plain"):
    """`findings` are codes; one with ! is an error, one with ? is unchecked, any other a warning."""
    kinds = {"!": "error", "?": "unchecked"}
    read = {code.rstrip("!?"): kinds.get(code[-1], "warning") for code in findings.split()}
    judgements.append({"view": view, "commit": commit, "what": what, "verdict": verdict, "binding": binding,
                       "findings": read})


# --- the repository ---------------------------------------------------------------------------------------------------

git("init", "--quiet", "--initial-branch=main")
for name in ("ada", "bob", "eve", "grace"):
    run("ssh-keygen", "-q", "-N", "", "-C", "", "-t", "ed25519", "-f", str(TEMP / name))
keys = {name: (TEMP / f"{name}.pub").read_text().strip() for name in ("ada", "bob", "eve", "grace")}
git("config", "gpg.format", "ssh")
git("config", "user.signingkey", str(TEMP / "ada"))

FORTY = "".join(f"line {number}\n" for number in range(1, 41))
root = commit("Begin\n", {"README": "A repository of cases.\n", "text.txt": FORTY, "twice.txt": "a\nb\nc\nd\ne\nf\ng\n" * 2})
expect("nothing asks for a proof", root, "exempt")

rules = {}


def ruled(name, policy, signers=None):
    git("checkout", "--quiet", "-b", f"rules/{name}", root)
    files = {".proof/policy.toml": policy} if policy is not None else {}
    if signers:
        files[".proof/allowed_signers"] = signers
    if files:
        rules[name] = commit(f"Rules: {name}\n", files)
        expect(f"the rules of {name}: whatever touches .proof needs a proof", rules[name], "missing", "ANCHOR_MISSING!")
    git("checkout", "--quiet", "main")
    view(name, f"refs/heads/rules/{name}")


SIGNERS = (f'ada@example.com namespaces="git-proof" {keys["ada"]}\n'
           f'bob@example.com namespaces="git-proof",valid-before="20200101Z" {keys["bob"]}\n'
           f'grace@example.com namespaces="git-proof" {keys["grace"]}\n')
ruled("default", None)
ruled("stated", '[proof]\nreflection = "stated"\n')
view("plain")
ruled("signed", "[proof]\nsignatures = 1\n", SIGNERS)
ruled("sealed", '[proof]\nsealed = true\nsealers = ["ada@example.com"]\n', SIGNERS)
ruled("strict", '[proof]\nbinding = "reworded"\n')
ruled("loose", '[proof]\nrooted = false\nevidence = "optional"\n')
ruled("guarded", '[proof_grade]\npaths = ["src/**"]\n')
ruled("all", '[proof_grade]\nrequire = "all"\nmerges = true\n')
ruled("none", '[proof_grade]\nrequire = "none"\n')
ruled("vouching", '[proof]\nvouchers = ["grace@example.com"]\n', SIGNERS)
ruled("pinned", f'[proof]\npin = "1:{"0" * 64}"\n')
ruled("unreadable", "[proof]\nrouted = true\n")

# Bindings.
exact = proven("s-exact")
expect("attested by its id", exact, "pass", binding="exact")
expect("attested by its id", exact, "pass", binding="exact", view="strict")
expect("attested by its id", exact, "pass", binding="exact", view="all")
expect("attested by its id", exact, "pass", binding="exact", view="none")

proof("start", "--intent", "Staged", "--session-id", "s-staged")
proof("record", "--type", "plan", "--content", "Write it.")
write("staged.txt", "staged\n")
git("add", "--all")
proof("record", "--type", "reflection", "--content", "It is written.")
row = proof("finalize")
trailer = f"Proof-Root: s-staged:v1:{row['root']}:{row['record_count']}"
staged = commit(f"Staged\n\n{trailer}\n")
run(PROGRAM, "hook", "post-commit")
expect("attested as staged, named by Proof-Root", staged, "pass", binding="exact")

git("checkout", "--quiet", "--detach", staged)
reworded = commit(f"Staged, in other words\n\n{trailer}\n", None, "--amend")
git("branch", "reworded")
set_note(reworded, note(staged))
expect("an amended message, with the note of the original: what was staged is this tree and change too", reworded, "pass",
       binding="exact")
git("checkout", "--quiet", "main")

other = proven("s-named")
row = proof("root", "--session", "s-named")
git("checkout", "--quiet", "--detach", other)
named = commit(f"s-named, reworded\n\nProof-Root: s-named:v1:{row['root']}:{row['record_count']}\n", None, "--amend")
git("branch", "named")
expect("reworded; found by the root that the message names, without a note", named, "pass", binding="reworded")
expect("reworded is taken", named, "pass", binding="reworded", view="strict")
git("checkout", "--quiet", "main")
expect("the original of it", other, "pass", binding="exact")

changed = FORTY.replace("line 5\n", "line five\n")
moving = proven("s-moving", files={"text.txt": changed})
expect("the original of what is moved", moving, "pass", binding="exact")
seen(moving)
git("checkout", "--quiet", "-b", "moved", root)
onto = commit("Other lines of the same file\n", {"text.txt": FORTY.replace("line 30\n", "line thirty\nand more\n")})
expect("a person's change", onto, "exempt")
git("cherry-pick", moving)
moved = git("rev-parse", "HEAD")
expect("moved; found by the change index", moved, "pass", binding="moved")
expect("moved is less than the policy takes", moved, "fail", "BINDING_TOO_WEAK!", view="strict")
git("checkout", "--quiet", "main")

git("checkout", "--quiet", "-b", "topic", root)
one = proven("s-topic-1", files={"topic.txt": "one\n"})
two = proven("s-topic-2", files={"topic.txt": "one\ntwo\n"})
expect("the first of a topic", one, "pass", binding="exact")
expect("the second of a topic", two, "pass", binding="exact")
git("checkout", "--quiet", "-b", "squashed", onto)
git("merge", "--squash", "--quiet", "topic")
squashed = commit("Topic\n\nAssisted-by: an agent\n")
index(onto, squashed, {"base": root, "head": two})
expect("a squash of two proven commits", squashed, "pass", binding="squashed")
git("checkout", "--quiet", "-b", "told", onto)
git("merge", "--squash", "--quiet", "topic")
told = commit("Topic (#1)\n\n* One\n\nProof-Session: s-one\n\n* Two\n\nProof-Root: here\n\nand the end.\n\nAssisted-by: an agent\n")
expect("a squash whose message has those of its commits", told, "pass", binding="squashed")
expect("a squash, where the policy takes none", squashed, "missing", "ANCHOR_MISSING!", view="strict")

git("checkout", "--quiet", "-b", "half-topic", root)
half = proven("s-half", files={"half.txt": "one\n"})
lacks = commit("More of it\n\nProof-Grade: true\n", {"half.txt": "one\ntwo\n"})
expect("the proven half", half, "pass", binding="exact")
expect("Proof-Grade asks for a proof, and there is none", lacks, "missing", "ANCHOR_MISSING!")
git("checkout", "--quiet", "-b", "half", onto)
git("merge", "--squash", "--quiet", "half-topic")
half_squash = commit("Half\n\nAssisted-by: an agent\n")
index(onto, half_squash, {"base": root, "head": lacks})
expect("a squash with a part that lacks its proof", half_squash, "missing", "ANCHOR_MISSING!")

git("checkout", "--quiet", "-b", "plain-topic", root)
commit("By hand\n", {"hand.txt": "one\n"})
by_hand = commit("By hand again\n", {"hand.txt": "one\ntwo\n"})
expect("a person's commit", git("rev-parse", "HEAD^"), "exempt")
expect("a person's commit", by_hand, "exempt")
git("checkout", "--quiet", "-b", "hand", onto)
git("merge", "--squash", "--quiet", "plain-topic")
hand_squash = commit("Hand\n\nAssisted-by: an agent\n")
index(onto, hand_squash, {"base": root, "head": by_hand})
expect("a squash of commits that need no proof, which needs one", hand_squash, "missing", "ANCHOR_MISSING!")

git("checkout", "--quiet", "-b", "far-topic", git("commit-tree", f"{root}^{{tree}}", "-m", "A base of its own"))
expect("a commit without parents", git("rev-parse", "HEAD"), "exempt")
far = commit("Far\n\nAssisted-by: an agent\n", {"far.txt": "far\n"})
proof("cover", far, "--reflection", "Covered afterwards.")
expect("covered after it was made", far, "pass", binding="exact")
git("checkout", "--quiet", "main")

# What is missing or broken.
missing = commit("An agent helped\n\nAssisted-by: an agent\n", {"missing.txt": "1\n"})
expect("a mark of an AI tool, and no proof", missing, "missing", "ANCHOR_MISSING!")
expect("no commit needs a proof", missing, "exempt", view="none")

open_session = commit("Still open\n\nProof-Session: s-open\n", {"open.txt": "1\n"})
expect("Proof-Session alone proves nothing", open_session, "missing", "ANCHOR_MISSING!")

junk = commit("Junk\n\nProof-Grade: true\n", {"junk.txt": "1\n"})
set_note(junk, "junk\n")
expect("a malformed line where a proof is needed", junk, "fail", "ANCHOR_MALFORMED!")

quiet = commit("Nobody asks\n", {"quiet.txt": "1\n"})
set_note(quiet, "junk\n\n" + note(exact))
expect("junk and another's anchor, where no proof is needed", quiet, "exempt", "ANCHOR_MALFORMED BINDING_MISMATCH")

beside = proven("s-beside")
set_note(beside, note(beside) + "junk\n" + note(exact))
expect("junk and another's anchor beside one that holds", beside, "pass", "ANCHOR_MALFORMED BINDING_MISMATCH", "exact")

later = commit("A later version\n\nProof-Grade: true\n", {"later.txt": "1\n"})
set_note(later, '{"statement":{"type":"example.org/statement@7"}}\n')
expect("a line of a type that is not known is no answer", later, "missing", "ANCHOR_MALFORMED ANCHOR_MISSING!")

copied = commit("A copied note\n\nProof-Grade: true\n", {"copied.txt": "1\n"})
set_note(copied, note(exact))
expect("the note of another commit", copied, "fail", "BINDING_MISMATCH!")

lent = commit("A root that is lent\n\nProof-Grade: true\n", {"lent.txt": "1\n"})
session("s-lent", anchor=False, middle=[("attest", "something else was done")])
proof("anchor", "--session", "s-lent", "--commit", lent, "--no-sign")
expect("a session that does not name the commit", lent, "fail", "NOT_ROOTED!")
expect("rooted is not asked for", lent, "pass", "NOT_ROOTED", "exact", view="loose")

applied = proven("s-applied", files={"applied.txt": "applied\n"})
seen(applied)
expect("a change that will be undone", applied, "pass", binding="exact")
git("revert", "--no-edit", "HEAD")
expect("the person who undoes it", git("rev-parse", "HEAD"), "exempt")
git("cherry-pick", applied)
replayed = git("rev-parse", "HEAD")
expect("it comes back without a new decision", replayed, "fail", "REPLAYED!")

gone_text = (WORK / "text.txt").read_text()
at = git("rev-parse", "HEAD")
gone = proven("s-gone", files={"text.txt": gone_text.replace("line 20\n", "line twenty\n")})
gone_note = note(gone)
git("reset", "--quiet", "--hard", at)
again = commit("s-gone: a change\n\nProof-Session: s-gone\n", {"between.txt": "1\n"})
expect("named, and the session is for another commit", again, "missing", "ANCHOR_MISSING!")
rule_three = commit("s-gone, after the rewrite\n\nProof-Session: s-gone\n",
                    {"text.txt": gone_text.replace("line 20\n", "line twenty\n")})
set_note(rule_three, gone_note)
expect("the original is not at hand, and there is one place for it", rule_three, "pass", binding="moved")

at = git("rev-parse", "HEAD")
twice = (WORK / "twice.txt").read_text()
lost = proven("s-twice", files={"twice.txt": "a\nb\nc\nD\n" + twice[8:]})
lost_note = note(lost)
git("reset", "--quiet", "--hard", at)
ambiguous = commit("s-twice at the other place\n\nProof-Session: s-twice\n", {"twice.txt": twice[:14] + "a\nb\nc\nD\n" + twice[22:]})
set_note(ambiguous, lost_note)
expect("the original is not at hand, and there are two places", ambiguous, "fail", "PLACE_AMBIGUOUS!")

at = git("rev-parse", "HEAD")
added_note = note(proven("s-added", files={"added.txt": "1\n"}))
git("reset", "--quiet", "--hard", at)
added = commit("s-added in other words\n\nProof-Session: s-added\n", {"added.txt": "1\n"})
set_note(added, added_note)
expect("the original is not at hand, and its tree is this one", added, "pass", binding="moved")

broken_trailer = commit(f"A root that nobody has\n\nProof-Root: s-none:v1:{'0' * 64}:3\n", {"trailer.txt": "1\n"})
expect("Proof-Root names what is nowhere", broken_trailer, "fail", "TRAILER_MISMATCH!")
expect("even where no commit needs a proof", broken_trailer, "fail", "TRAILER_MISMATCH!", view="none")
unread = proven("s-unread", "A value that cannot be read\n\nProof-Root: s-unread\n")
expect("a trailer of ours that does not parse, beside a proof", unread, "fail", "TRAILER_MISMATCH!")
stray = proven("s-stray", "A line outside\n\nProof-Root: here\n\nand the end.\n\nProof-Other: 1\nProof-Session: s-stray\n")
expect("a line outside the block, and an unknown key, beside a proof", stray, "pass", "TRAILER_MISMATCH", "exact")


def evidence_path(commit):
    root = anchor_of(commit)["root"]
    return f"{root[:2]}/{root}.jsonl"


def evidence_of(commit):
    return run("git", "cat-file", "blob", f"{EVIDENCE}:{evidence_path(commit)}").decode()


tampered = {}
for name in ("absent", "edited", "cut"):
    tampered[name] = proven(f"s-{name}")
put(EVIDENCE, evidence_path(tampered["absent"]), None)
put(EVIDENCE, evidence_path(tampered["edited"]), evidence_of(tampered["edited"]).replace("decided", "denied"))
put(EVIDENCE, evidence_path(tampered["cut"]), "".join(evidence_of(tampered["cut"]).splitlines(True)[:-1]))
expect("no evidence", tampered["absent"], "fail", "EVIDENCE_MISSING!")
expect("no evidence, which the policy does not need", tampered["absent"], "pass", "EVIDENCE_MISSING NOT_ROOTED", "exact", view="loose")
expect("evidence with another word in it", tampered["edited"], "fail", "CHAIN_BROKEN!")
expect("evidence that lacks its last line", tampered["cut"], "fail", "CHAIN_BROKEN! ROOT_MISMATCH! REFLECTION_MISSING!")

bare = proven("s-bare", None, None, "--not-proof-grade", reflection=None)
expect("a session without a reflection, where a proof is needed", bare, "fail", "REFLECTION_MISSING!")
calm = proven("s-calm", "Nobody asks for this one\n", None, "--not-proof-grade", reflection=None)
expect("the same where none is needed", calm, "pass", binding="exact")


def by_agent(name):
    """A commit of an agent that calls no tool of ours: its last message closes the session."""
    def event(kind, **fields):
        run(PROGRAM, "hook", "claude-code", stdin=json.dumps({"hook_event_name": kind, "session_id": name, **fields}).encode())

    event("SessionStart")
    made = commit(f"{name}: a change\n\nProof-Grade: true\n", {f"{name}.txt": f"{name}\n"})
    ENV["CLAUDE_CODE_SESSION_ID"] = name
    run(PROGRAM, "hook", "post-commit")
    del ENV["CLAUDE_CODE_SESSION_ID"]
    event("Stop", last_assistant_message="It is changed.", background_tasks=[])
    event("SessionEnd", reason="other")
    return made


watched = by_agent("s-observed")
expect("a session that the agent's last message closes", watched, "pass", binding="exact")
expect("the same where the agent must state a reflection", watched, "fail", "REFLECTION_NOT_STATED!", view="stated")
sorted_ = proven("s-sorted", None, None, "--not-proof-grade", "--scheme", "v1-sorted")
expect("a scheme that covers less", sorted_, "fail", "SCHEME_NOT_ALLOWED! NOT_ROOTED! REFLECTION_MISSING!")
rfc = proven("s-rfc", None, None, "--scheme", "v1-rfc9162")
expect("the other scheme that covers everything", rfc, "pass", binding="exact")
half = commit("Anchors of two others\n\nProof-Grade: true\n", {"half.txt": "1\n"})
set_note(half, note(exact) + note(rfc))
expect("the notes of two other commits", half, "fail", "BINDING_MISMATCH!")
withheld = proven("s-withheld", middle=[("record", "--type", "analysis", "--content", "Not for you.", "--private")])
expect("a line is withheld", withheld, "pass", "EVIDENCE_WITHHELD", "exact")
empty = session("s-empty", make=lambda: commit("Nothing changes\n\nProof-Session: s-empty\n", None, "--allow-empty"))[0]
expect("an empty change", empty, "pass", binding="exact")
crowd = proven("s-crowd")
set_note(crowd, "\n" * 5000 + note(crowd))
expect("a note of more lines than are read", crowd, "unchecked", "LIMIT_REACHED?")

guarded = commit("A guarded path\n", {"src/lib.c": "int x;\n"})
expect("no rule asks for it", guarded, "exempt")
expect("a path that the policy guards", guarded, "missing", "ANCHOR_MISSING!", view="guarded")
expect("all commits need a proof", guarded, "missing", "ANCHOR_MISSING!", view="all")

# Merges.
git("checkout", "--quiet", "-b", "side", "HEAD^")
expect("a side branch", commit("Beside\n", {"side.txt": "side\n"}), "exempt")
git("checkout", "--quiet", "main")
git("merge", "--quiet", "--no-ff", "-m", "Merge side\n\nAssisted-by: an agent", "side")
merge = git("rev-parse", "HEAD")
expect("what git makes of its parents needs no proof", merge, "exempt")
expect("merges need one, too", merge, "missing", "ANCHOR_MISSING!", view="all")
git("checkout", "--quiet", "-b", "side-2", "HEAD")
expect("another side branch", commit("Beside again\n", {"side.txt": "side\n2\n"}), "exempt")
git("checkout", "--quiet", "main")
git("merge", "--quiet", "--no-ff", "--no-commit", "side-2")
evil = commit("Merge side-2, and more\n\nAssisted-by: an agent\n", {"evil.txt": "evil\n"})
expect("a merge with content of its own", evil, "missing", "ANCHOR_MISSING!")

# What was done by hand in a merge, and undone, comes back with a copy of that merge.
git("checkout", "--quiet", "-b", "side-3", "HEAD")
expect("one more side branch", commit("Beside once more\n", {"side.txt": "side\n3\n"}), "exempt")
git("checkout", "--quiet", "main")
expect("main goes on", commit("Meanwhile\n", {"meanwhile.txt": "1\n"}), "exempt")
git("merge", "--quiet", "--no-ff", "--no-commit", "side-3")
by_hand = proven("s-hand", files={"README": "A repository of cases. By hand.\n"})
expect("a merge with content of its own, and a proof", by_hand, "pass", binding="exact")
undone = commit("By hand no more\n", {"README": "A repository of cases.\n"})
expect("the person who undoes what was done by hand", undone, "exempt")
parents = ("-p", f"{by_hand}^1", "-p", f"{by_hand}^2")
again = git("commit-tree", f"{by_hand}^{{tree}}", *parents, "-m", "Merge side-3 again\n\nAssisted-by: an agent")
set_note(again, note(by_hand))
expect("a copy of the merge, with its note", again, "pass", binding="reworded")
git("checkout", "--quiet", "-b", "side-4", again)
newer = proven("s-newer")
expect("something new on top of the copy", newer, "pass", binding="exact")
tree = git("merge-tree", "--write-tree", undone, newer)
for number, (other, merged) in enumerate(((again, git("merge-tree", "--write-tree", undone, again)), (newer, tree))):
    back = git("commit-tree", merged, "-p", undone, "-p", other, "-m", "Merge it\n\nAssisted-by: an agent")
    git("branch", f"back-{number}", back)
    expect("a merge brings back what was done by hand", back, "missing", "ANCHOR_MISSING! REPLAYED")
range_ = git("commit-tree", tree, "-p", undone, "-m", "Squash it\n\nAssisted-by: an agent")
git("branch", "back-squashed", range_)
index(undone, range_, {"base": git("rev-parse", f"{by_hand}^1"), "head": newer})
expect("a squash brings back what was done by hand", range_, "fail", "REPLAYED!")
git("checkout", "--quiet", "main")

# A file is renamed, a change of it lands under the new name and is undone, and git carries it there when it merges the branch.
git("checkout", "--quiet", "--detach", undone)
seven = FORTY.replace("line 7\n", "LINE 7\n")
expect("a file to rename", commit("Something to rename\n", {"old-name.txt": FORTY}), "exempt")
apart = proven("apart", files={"old-name.txt": seven})
newer = proven("apart-too", files={"old-name.txt": seven.replace("line 9\n", "LINE 9\n")})
expect("a change of that file", apart, "pass", binding="exact")
expect("another one", newer, "pass", binding="exact")
git("checkout", "--quiet", "--detach", f"{apart}^")
git("mv", "old-name.txt", "new-name.txt")
expect("it is renamed", commit("Rename it\n", {}), "exempt")
expect("the change lands under the new name", commit("Land it\n", {"new-name.txt": seven}), "exempt")
taken_back = commit("Undo it\n", {"new-name.txt": FORTY})
expect("and is undone", taken_back, "exempt")
for other in (apart, newer):
    for parents in ((taken_back, other), (other, taken_back)):
        back = git("commit-tree", git("merge-tree", "--write-tree", *parents), *(f"-p{parent}" for parent in parents),
                   "-m", "Merge it\n\nAssisted-by: an agent")
        git("branch", f"back-{back[:12]}", back)
        expect("a rename brings back what was undone", back, "missing", "ANCHOR_MISSING! REPLAYED")
git("checkout", "--quiet", "main")

# Signatures.
signed = proven("s-signed", sign=True)
unknown, expired, forged = (proven(f"s-{name}") for name in ("unknown", "expired", "forged"))
late = {unknown: sign(anchor_of(unknown), "eve"), expired: sign(anchor_of(expired), "bob"),
        forged: sign(anchor_of(forged), "ada", canonical(anchor_of(signed)))}
for what, commit_, codes in (("unsigned", rfc, ""), ("an unknown signer", unknown, "SIGNER_UNKNOWN!"),
                             ("an expired signer", expired, "SIGNER_EXPIRED!"), ("a signature of something else", forged, "SIGNATURE_INVALID!")):
    expect(what, commit_, "fail", f"SIGNATURE_MISSING! {codes}", view="signed")
expect("signed by one who may", signed, "pass", binding="exact", view="signed")
expect("nobody is listed here", signed, "pass", "SIGNER_UNKNOWN", "exact")
expect("nobody is listed here", unknown, "pass", "SIGNER_UNKNOWN", "exact")
expect("nobody is listed here", expired, "pass", "SIGNER_UNKNOWN", "exact")
expect("nobody is listed here", forged, "pass", "SIGNER_UNKNOWN", "exact")
expect("nobody has to sign, and a listed key is claimed falsely", forged, "fail", "SIGNATURE_INVALID!", view="vouching")

# Seals.
proof("seal", "--sign")
sealed = proven("s-later")
seals = git("rev-parse", ROUNDS)
expect("anchored after the seal", sealed, "pass", binding="exact")
expect("no seal has it", sealed, "fail", "SEAL_MISSING!", view="sealed")
expect("a seal of a listed sealer has it", exact, "pass", binding="exact", view="sealed")
expect("the pinned seal is not in the chain", exact, "fail", "ROUNDS_ROLLED_BACK!", view="pinned")
seal = json.loads(run("git", "cat-file", "blob", f"{ROUNDS}:seal.json"))
seal["round"] = 2
tree = git("mktree", stdin=f"100644 blob {blob(canonical(seal))}\tseal.json\n".encode())
git("update-ref", "refs/cases/rounds-broken", git("commit-tree", tree, "-m", "broken"))
view("rounds-broken", refs={ROUNDS: "refs/cases/rounds-broken"})
expect("the chain of seals does not hold", exact, "fail", "SEAL_BROKEN!", view="rounds-broken")
expect("what needs no proof needs no seals", guarded, "exempt", view="rounds-broken")
view("no-rounds", "refs/heads/rules/sealed", {ROUNDS: None})
expect("a seal is asked for, and there are none here", exact, "unchecked", "SEAL_MISSING?", view="no-rounds")

# Deleted.
whole = git("rev-parse", NOTES)
git("notes", f"--ref={NOTES}", "remove", exact, calm)
git("notes", f"--ref={NOTES}", "remove", quiet, copied, half)
git("notes", f"--ref={NOTES}", "remove", beside)
git("update-ref", "refs/cases/notes-deleted", NOTES)
git("update-ref", NOTES, whole)
view("notes-deleted", refs={NOTES: "refs/cases/notes-deleted"})
expect("a seal lists its anchor, and no note has it", exact, "fail", "ANCHOR_DELETED! ANCHOR_MISSING!", view="notes-deleted")
expect("the same where no proof is needed", calm, "exempt", "ANCHOR_DELETED", view="notes-deleted")
expect("not touched by that", rfc, "pass", binding="exact", view="notes-deleted")

# Not fetched, not at hand.
view("no-notes", refs={NOTES: None, EVIDENCE: None, CHANGES: None, ROUNDS: None})
expect("no notes were fetched", missing, "unchecked", "REF_NOT_FETCHED?", view="no-notes")
expect("no notes were fetched", broken_trailer, "unchecked", "REF_NOT_FETCHED?", view="no-notes")
expect("what needs no proof needs no notes", guarded, "exempt", view="no-notes")
view("no-evidence", refs={EVIDENCE: None})
expect("no evidence was fetched", exact, "unchecked", "REF_NOT_FETCHED?", view="no-evidence")
expect("the same, and the message names the root", staged, "unchecked", "REF_NOT_FETCHED?", view="no-evidence")
expect("the same, and only the evidence would lead to the anchor", named, "unchecked", "REF_NOT_FETCHED?", view="no-evidence")
expect("another's anchor: the evidence might attest this commit too", copied, "unchecked", "BINDING_MISMATCH? REF_NOT_FETCHED?",
       view="no-evidence")
expect("no anchor at all needs no evidence", open_session, "missing", "ANCHOR_MISSING!", view="no-evidence")
view("no-changes", refs={CHANGES: None})
expect("the index would lead to its anchor", moved, "unchecked", "REF_NOT_FETCHED?", view="no-changes")
expect("the index might lead to an anchor", open_session, "unchecked", "REF_NOT_FETCHED?", view="no-changes")
expect("its own note is enough", exact, "pass", binding="exact", view="no-changes")
view("blob-missing", without=[git("rev-parse", f"{EVIDENCE}:{evidence_path(exact)}")])
expect("its evidence is not at hand", exact, "unchecked", "OBJECT_MISSING?", view="blob-missing")
expect("another's is", rfc, "pass", binding="exact", view="blob-missing")
expect("one anchor fails, and one could not be checked", half, "unchecked", "BINDING_MISMATCH? OBJECT_MISSING?",
       view="blob-missing")

# Words of people.
git("config", "user.signingkey", str(TEMP / "grace"))
proof("vouch", missing, "--reason", "I have read it.")
expect("a person whom the policy lists vouches for it", missing, "vouched", "VOUCHED ANCHOR_MISSING", view="vouching")
judgements[:] = [said for said in judgements if not (said["commit"] == missing and said["view"] in ("plain", "none", "no-notes"))]
expect("nobody's word is taken", missing, "missing", "ANCHOR_MISSING! WORD_NOT_TAKEN")
expect("no proof is needed, and no word", missing, "exempt", "WORD_NOT_TAKEN", view="none")
expect("no notes were fetched", missing, "unchecked", "REF_NOT_FETCHED?", view="no-notes")
expect("the chain of seals does not hold", missing, "fail", "SEAL_BROKEN! ANCHOR_MISSING! WORD_NOT_TAKEN", view="rounds-broken")
proof("vouch", junk, "--reason", "I have read it.")
expect("a word does not make up for a malformed line", junk, "fail", "ANCHOR_MALFORMED! WORD_NOT_TAKEN", view="vouching")
judgements[:] = [said for said in judgements if not (said["commit"] == junk and said["view"] == "plain")]
expect("a malformed line where a proof is needed", junk, "fail", "ANCHOR_MALFORMED! WORD_NOT_TAKEN")

# Overwritten notes come last: the program puts back lines that it wrote and that are gone. These two were never sealed.
misstated, counted = (proven(f"s-{name}") for name in ("misstated", "counted"))
late[misstated] = canonical({"anchor": {**anchor_of(misstated), "tree": git("rev-parse", f"{root}^{{tree}}")}}) + "\n"
late[counted] = canonical({"anchor": {**anchor_of(counted), "count": anchor_of(counted)["count"] + 1}}) + "\n"
expect("the anchor names another tree than its own commit has", misstated, "fail", "BINDING_MISMATCH!")
expect("the same without evidence: that much is certain", misstated, "fail", "BINDING_MISMATCH! REF_NOT_FETCHED?", view="no-evidence")
expect("an anchor with another count", counted, "fail", "ROOT_MISMATCH!")
for of, text in late.items():
    set_note(of, text)
put(EVIDENCE, evidence_path(tampered["absent"]), None)  # once more: the program puts back what it had published

# --- held against the program -----------------------------------------------------------------------------------------

CANNOT = {
    "KNOWN_ONLY_HERE": "a verdict of the clone that has the store of the session; one from refs alone never has it",
    "ROUNDS_FORKED": "found by whoever compares the chains of two remotes; a repository has one",
    "POLICY_UNREADABLE": "an error of the whole question and no finding of a commit: judge anything in the view unreadable",
}
git("checkout", "--quiet", "main")
bundle = OUT / "repository.bundle"
git("update-ref", "refs/heads/cases/staged", staged)
names = [name for name in git("for-each-ref", "--format=%(refname)").split() if not name.startswith(("refs/notes/proof-why", "refs/proof/remote"))]
made = TEMP / "repository.bundle"
run("git", "repack", "-adq")
run("git", "bundle", "create", "--quiet", str(made), *names)

all_codes = set()
listed = {said["commit"] for said in judgements if said["view"] == "plain"}
problems = []
for commit_ in git("rev-list", "--glob=refs/heads/*", "--branches").split():
    if commit_ not in listed:
        problems.append(f"nothing is expected of {commit_} {git('log', '-1', '--format=%s', commit_)}")
for name, value in views.items():
    if name == "unreadable":
        continue
    clone = TEMP / f"view-{name}"
    run("git", "clone", "--quiet", "--mirror", str(made), str(clone))
    for ref, to in value["refs"].items():
        run("git", *(["update-ref", ref, to] if to else ["update-ref", "-d", ref]), at=clone)
    if value["without"]:
        packs = list((clone / "objects/pack").glob("*.pack"))
        for pack in packs:
            pack.rename(TEMP / pack.name)
            run("git", "unpack-objects", "-q", at=clone, stdin=(TEMP / pack.name).read_bytes())
        for old in (clone / "objects/pack").iterdir():
            old.unlink()
        for oid in value["without"]:
            (clone / "objects" / oid[:2] / oid[2:]).unlink()
    for said in (said for said in judgements if said["view"] == name):
        answer = json.loads(run(PROGRAM, "--json", "verify", "--rules", value["rules"], said["commit"], at=clone, codes=(0, 1, 3)))
        got = answer["commits"][0]
        order = ["warning", "unchecked", "error"]
        codes = {}
        for finding in got["findings"]:
            codes[finding["code"]] = max(finding["severity"], codes.get(finding["code"], "warning"), key=order.index)
        all_codes |= set(codes)
        if (got["verdict"], got["binding"], codes) != (said["verdict"], said["binding"], said["findings"]):
            problems.append(f"{name}: {said['what']}: {said['verdict']} {said['binding']} {said['findings']} expected, "
                            f"{got['verdict']} {got['binding']} {codes} found\n    " + "\n    ".join(f["message"] for f in got["findings"]))
known = set(__import__("re").findall(r'^    [A-Z]\w+ "([A-Z_]+)"$', (pathlib.Path(__file__).parent / "../../src/proof/finding.rs").read_text(), 8))
problems += [f"no commit shows {code}" for code in sorted(known - all_codes - set(CANNOT))]
if problems:
    print("\n".join(problems))
    print(TEMP)
    sys.exit(1)
shutil.copy(made, bundle)
judgements.sort(key=lambda said: list(views).index(said["view"]))
with open(OUT / "verdicts.json", "w") as out:
    out.write('{"bundle":"repository.bundle",\n"cannot":' + json.dumps(CANNOT) + ',\n"views":{\n')
    out.write(",\n".join(f"{json.dumps(name)}:{json.dumps(value)}" for name, value in views.items()))
    out.write('},\n"judgements":[\n' + ",\n".join(map(json.dumps, judgements)) + "]}\n")
shutil.rmtree(TEMP)
print(f"{len(listed)} commits, {len(judgements)} judgements, {bundle.stat().st_size} bytes")

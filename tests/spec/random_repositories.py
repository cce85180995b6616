#!/usr/bin/env python3
"""Holds the program against the second implementation: the repository of the vectors with random damage, judged by both.

    tests/spec/random_repositories.py PROGRAM [ROUNDS [SEED]]

Each round clones the bundle, swaps, copies, cuts and forges notes, evidence and lines of the change index, takes refs away,
appends seals, picks rules, and compares verdict, binding and finding codes of every commit. Prints how often each verdict occurred.
"""
import collections, json, os, pathlib, random, shutil, subprocess, sys, tempfile

PROGRAM = os.path.abspath(sys.argv[1])
ROUNDS_, SEED = (int(value) for value in (sys.argv[2:] + ["10", "1"][len(sys.argv) - 2:]))
sys.argv = sys.argv[:1]
import verdict  # noqa: E402
from proofbytes import Rounds, canonical, sha, tree  # noqa: E402
from verdict import CHANGES, EVIDENCE, NOTES, ROUNDS  # noqa: E402

VECTORS = json.loads(verdict.VECTORS.read_text())
COMMITS = sorted({said["commit"] for said in VECTORS["judgements"] if said["view"] == "plain"})
RULES = sorted({view["rules"] for name, view in VECTORS["views"].items() if name != "unreadable"})
RANK = ["warning", "unchecked", "error"].index
verdict.ENV.update({f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")})


class Damaged:
    """A clone to which things are done."""

    def __init__(self, place, chance):
        self.place, self.chance = place, chance
        self.repo = verdict.clone(verdict.VECTORS.parent / VECTORS["bundle"], place, {"refs": {}, "without": []})

    def git(self, *args, stdin=b"", codes=(0,)):
        return self.repo.git(*args, stdin=stdin, codes=codes)

    def blob(self, content):
        return self.git("hash-object", "-w", "--stdin", stdin=content).decode().strip()

    def note(self, commit):
        return self.git("notes", f"--ref={NOTES}", "show", commit, codes=(0, 1))

    def set_note(self, commit, text):
        self.git("notes", f"--ref={NOTES}", "add", "--force", "--allow-empty", "-C", self.blob(text), commit)

    def put(self, ref, path, content):
        """Puts a file into a ref's tree; None takes it away."""
        verdict.ENV["GIT_INDEX_FILE"] = f"{self.place}.index"
        self.git("read-tree", ref)
        entry = f"100644 {self.blob(content)}" if content is not None else f"0 {'0' * 40}"
        self.git("update-index", "--index-info", stdin=f"{entry}\t{path}\n".encode())
        tree = self.git("write-tree").decode().strip()
        del verdict.ENV["GIT_INDEX_FILE"]
        self.git("update-ref", ref, self.git("commit-tree", tree, "-m", "put").decode().strip())

    def step(self):
        pick, one, two = self.chance.choice, self.chance.choice(COMMITS), self.chance.choice(COMMITS)
        what = pick(["swap", "append", "remove", "remove", "cut", "forge", "evidence", "evidence", "commit", "commit", "range", "range", "seal", "seal"])
        first, second = self.note(one), self.note(two)
        if what == "swap":
            self.set_note(one, second)
            self.set_note(two, first)
        elif what == "append":
            self.set_note(one, first + second)
        elif what == "remove":
            self.git("notes", f"--ref={NOTES}", "remove", "--ignore-missing", one)
        elif what == "cut" and first:
            lines = first.splitlines(True)
            lines.pop(self.chance.randrange(len(lines)))
            self.set_note(one, b"".join(lines))
        elif what == "forge" and first.startswith(b'{"anchor"'):
            anchor = json.loads(first.splitlines()[0])["anchor"]
            lies = {"commit": two, "tree": self.repo.commit(two)["tree"], "change_id": (self.repo.change_ids(two) or [None])[0],
                    "count": anchor["count"] + 1, "session_id": "x"}
            name = pick(sorted(lies))
            self.set_note(one, first + canonical({"anchor": {**anchor, name: lies[name]}}).encode() + b"\n")
        elif what == "evidence":
            path = pick(self.git("ls-tree", "-r", "--name-only", EVIDENCE).decode().split())
            lines = self.git("cat-file", "blob", f"{EVIDENCE}:{path}").splitlines(True)
            self.put(EVIDENCE, path, pick([None, b"".join(lines[:-1])]))
        elif what in ("commit", "range") and self.repo.change_ids(one):
            base = pick(sorted(self.repo.ancestors(two))) if self.chance.random() < 0.6 else pick(COMMITS)
            line = {"commit": two} if what == "commit" else {"base": base, "head": two}
            change = pick(self.repo.change_ids(one))
            path = f"{change[:2]}/{change}"
            old = self.git("cat-file", "blob", f"{CHANGES}:{path}", codes=(0, 128))
            self.put(CHANGES, path, old + canonical(line).encode() + b"\n")
        elif what == "seal":
            self.seal()

    def seal(self):
        """Somebody seals some anchors, most of them once more, under sessions and roots of their choice."""
        rounds, listed = Rounds(), []
        for oid in self.git("rev-list", "--reverse", ROUNDS).decode().split():
            listed += rounds.push(self.git("cat-file", "blob", f"{oid}:seal.json"))["sessions"]
        one, two = self.chance.choice(listed), self.chance.choice(listed)
        path = self.chance.choice(self.git("ls-tree", "-r", "--name-only", EVIDENCE).decode().split())
        session = {**one, "anchors": sorted({*two["anchors"], sha(path.encode()).hex()}), "session_id": f"again-{len(listed)}"}
        if self.chance.random() < 0.5:
            session["root"] = path[3:-len(".jsonl")]
        parents = [{"root": s["root"], "session_id": s["session_id"]} for s in rounds.last["sessions"]]
        head = {"parents": parents, "previous": rounds.hash, "round": rounds.last["round"] + 1}
        leaves = rounds.leaves + [sha(b"\0", canonical(session).encode())]
        seal = canonical({
            **head, "genesis": sha(canonical(head).encode()).hex(), "root": session["root"], "sessions": [session],
            "log": {"root": tree("v1-rfc9162", leaves).hex(), "size": len(leaves)}, "type": "git-proof/seal@1",
            "opened_at": rounds.last["sealed_at"], "sealed_at": rounds.last["sealed_at"],
        }).encode()
        rounds.push(seal)
        made = self.git("mktree", stdin=f"100644 blob {self.blob(seal)}\tseal.json\n".encode()).decode().strip()
        self.git("update-ref", ROUNDS, self.git("commit-tree", made, "-p", ROUNDS, "-m", "seal").decode().strip())


def worst(findings):
    codes = {}
    for code, severity in findings:
        codes[code] = max(severity, codes.get(code, "warning"), key=RANK)
    return codes


def main():
    wrong, seen = 0, collections.Counter()
    for number in range(ROUNDS_):
        chance = random.Random(f"{SEED} {number}")
        temp = pathlib.Path(tempfile.mkdtemp())
        damaged = Damaged(temp / "clone", chance)
        for _ in range(chance.randint(1, 12)):
            damaged.step()
        for ref in (NOTES, EVIDENCE, CHANGES, ROUNDS):
            if chance.random() < 0.08:
                damaged.git("update-ref", "-d", ref)
        if chance.random() < 0.1:
            damaged.git("update-ref", ROUNDS, "refs/cases/rounds-broken")
        rules, repo = chance.choice(RULES), verdict.Repository(temp / "clone")
        judge = verdict.Judge(repo, verdict.Rules(repo, repo.ref(rules)))
        ran = subprocess.run([PROGRAM, "--json", "verify", "--rules", rules, *COMMITS], cwd=temp / "clone", env=verdict.ENV,
                             capture_output=True)
        answers = {said["commit"]: said for said in json.loads(ran.stdout)["commits"]}
        for commit in COMMITS:
            mine, said = judge.judge(commit), answers[commit]
            seen[said["verdict"]] += 1
            page = mine["verdict"], mine["binding"], worst(mine["found"])
            program = said["verdict"], said["binding"], worst((found["code"], found["severity"]) for found in said["findings"])
            if page != program:
                wrong += 1
                print(f"seed {SEED}, round {number}, {rules}, {commit}\n  the page says    {page}\n  the program says {program}")
        for opened in (repo, damaged.repo):
            opened.batch.stdin.close()
            opened.batch.wait()
        shutil.rmtree(temp)
    print(f"{sum(seen.values())} judgements, {wrong} not alike; {dict(seen)}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()

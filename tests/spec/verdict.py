#!/usr/bin/env python3
"""A second implementation of the verdict, made from FORMAT.md and FORMAT-GIT.md alone: a check of those pages.

    tests/spec/verdict.py [VERDICTS.json]

Clones the bundle beside the file, brings each clone into the state that a view asks for, judges every commit that is named,
and compares verdict, binding and findings. Needs git 2.41, ssh-keygen and Python 3.11 (tomllib).

Left out, because no commit of the bundle needs it: limits other than the lines of a note and of Proof- lines; revoked keys;
principals with patterns and people with several keys; a head of the rounds seen before; binary files in rule 3.
"""
import base64, datetime, functools, json, os, pathlib, re, shutil, subprocess, sys, tempfile, tomllib

from proofbytes import (Evidence, Malformed, Rounds, canonical, message_lines, note_line, sha, trailers)

HERE = pathlib.Path(__file__).resolve().parent
VECTORS = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else HERE / "../vectors/verdicts.json"
NOTES, EVIDENCE, CHANGES, ROUNDS = "refs/notes/proof", "refs/proof/evidence", "refs/proof/changes", "refs/proof/rounds"
BINDINGS = ["squashed", "moved", "reworded", "exact"]
VERDICTS = ["exempt", "pass", "vouched", "unchecked", "missing", "fail"]
ERROR, UNCHECKED, WARNING = "error", "unchecked", "warning"
ENV = {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
       "HOME": "/nonexistent", "GIT_NO_REPLACE_OBJECTS": "1"}
MARKS = json.loads((HERE / "../vectors/marks.json").read_text())


class Missing(Exception):
    """An object is not at hand."""


def run(*args, at=None, stdin=b"", codes=(0,)):
    done = subprocess.run(args, cwd=at, env=ENV, input=stdin, capture_output=True)
    if done.returncode not in codes:
        raise RuntimeError(f"{args}: {done.stderr.decode()}")
    return done


def worse(*verdicts):
    return max(verdicts, key=VERDICTS.index)


class Repository:
    def __init__(self, place):
        self.place, self.temp = place, pathlib.Path(tempfile.mkdtemp(dir=place.parent))
        self.batch = subprocess.Popen(["git", "cat-file", "--batch"], cwd=place, env=ENV, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE)

    def git(self, *args, stdin=b"", codes=(0,)):
        return run("git", *args, at=self.place, stdin=stdin, codes=codes).stdout

    @functools.cache
    def object(self, oid):
        self.batch.stdin.write(oid.encode() + b"\n")
        self.batch.stdin.flush()
        head = self.batch.stdout.readline().split()
        if len(head) != 3:
            raise Missing(oid)
        content = self.batch.stdout.read(int(head[2]))
        self.batch.stdout.read(1)
        return content

    @functools.cache
    def ref(self, name):
        found = self.git("rev-parse", "--verify", "--quiet", name + "^{commit}", codes=(0, 1)).decode().strip()
        return found or None

    @functools.cache
    def commit(self, oid):
        head, _, message = self.object(oid).partition(b"\n\n")
        lines = re.sub(rb"\n .*", b"", head).split(b"\n")
        get = lambda key: [line.split(b" ", 1)[1] for line in lines if line.startswith(key + b" ")]
        author = re.match(rb".*>", get(b"author")[0]).group(0).decode(errors="replace")
        return {"id": oid, "tree": get(b"tree")[0].decode(), "parents": [p.decode() for p in get(b"parent")],
                "author": author, "message": message}

    @functools.cache
    def tree(self, oid):
        if oid is None:
            return {}
        raw, at, found = self.object(oid), 0, {}
        while at < len(raw):
            space, nul = raw.index(b" ", at), raw.index(b"\0", at)
            bits = int(raw[at:space], 8)
            mode = {0o100000: "program" if bits & 0o100 else "file", 0o120000: "link", 0o040000: "tree"}.get(bits & 0o170000, "submodule")
            found[raw[space + 1:nul].decode("utf-8", "surrogateescape")] = (mode, raw[nul + 1:nul + 21].hex())
            at = nul + 21
        return found

    def entry(self, tree, path):
        """What stands at a path of a tree; a directory is none."""
        for name in path.split("/")[:-1]:
            mode, oid = self.tree(tree).get(name, (None, None))
            if mode != "tree":
                return None
            tree = oid
        found = self.tree(tree).get(path.split("/")[-1])
        return None if found and found[0] == "tree" else found

    def tree_of(self, ref):
        return self.commit(self.ref(ref))["tree"] if self.ref(ref) else None

    @functools.cache
    def diff(self, old, new, prefix=""):
        """{path: (old entry, new entry)} of what differs between two trees."""
        if old == new:
            return {}
        before, after, found = self.tree(old), self.tree(new), {}
        for name in sorted(set(before) | set(after)):
            one, two = before.get(name), after.get(name)
            if one == two:
                continue
            folders = [entry[1] if entry and entry[0] == "tree" else None for entry in (one, two)]
            files = tuple(entry if entry and entry[0] != "tree" else None for entry in (one, two))
            if files != (None, None):
                found[prefix + name] = files
            if folders != [None, None]:
                found.update(self.diff(*folders, prefix + name + "/"))
        return found

    def change(self, x):
        """The diff of a commit to its first parent."""
        return self.diff(self.parent_tree(x), x["tree"])

    def parent_tree(self, x):
        return self.commit(x["parents"][0])["tree"] if x["parents"] else None

    def renames(self, old, new):
        """{old name: new name} of the files that git finds renamed between two trees."""
        fields = self.git("diff-tree", "-r", "-z", "-M", "-l7000", "--diff-filter=R", "--name-status", "--no-ext-diff", old, new)
        fields = [field.decode("utf-8", "surrogateescape") for field in fields.split(b"\0")[:-1]]
        return dict(zip(fields[1::3], fields[2::3]))

    def diff_text(self, old, new, width):
        empty = self.git("hash-object", "-t", "tree", "-w", "--stdin").decode().strip()
        return self.git("-c", "core.quotePath=true", "-c", "diff.suppressBlankEmpty=false", f"--attr-source={empty}",
                        "diff-tree", "-p", "-r", "--no-commit-id", "--full-index", "--no-renames", "--no-ext-diff",
                        "--no-textconv", "--no-color", "--diff-algorithm=myers", "--indent-heuristic", f"-U{width}",
                        "--ignore-submodules=none", "--src-prefix=a/", "--dst-prefix=b/", old or empty, new)

    @functools.cache
    def change_ids(self, oid):
        """(change id, bare change id) of a commit, or None."""
        x = self.commit(oid)
        if len(x["parents"]) > 1 or not self.change(x):
            return None
        found = []
        for width in (3, 0):
            lines, text = self.diff_text(self.parent_tree(x), x["tree"], width).split(b"\n"), b""
            for at, line in enumerate(lines[:-1]):
                if not line.startswith(b"index ") or lines[at + 1].startswith(b"Binary files "):
                    text += (b"@@" if line.startswith(b"@@ ") else line) + b"\n"
            found.append(sha(text).hex())
        return tuple(found)

    @functools.cache
    def ancestors(self, oid):
        """A commit and all that it reaches."""
        seen, queue = set(), [oid]
        while queue:
            at = queue.pop()
            if at not in seen:
                seen.add(at)
                queue += self.commit(at)["parents"]
        return seen

    # --- rule 1 -------------------------------------------------------------------------------------------------------

    def merge_entry(self, base, ours, theirs):
        """The merge of one path; raises ValueError for a conflict."""
        if ours == theirs or base == theirs:
            return ours
        if base == ours:
            return theirs
        if None in (base, ours, theirs) or any(entry[0] not in ("file", "program") for entry in (base, ours, theirs)):
            raise ValueError
        mode = theirs[0] if base[0] == ours[0] else ours[0]
        if ours[1] == theirs[1] or base[1] == theirs[1]:
            return mode, ours[1]
        if base[1] == ours[1]:
            return mode, theirs[1]
        texts = [self.object(entry[1]) for entry in (ours, base, theirs)]
        if any(b"\0" in text[:8000] for text in texts):
            raise ValueError
        for name, text in zip("abc", texts):
            (self.temp / name).write_bytes(text)
        merged = run("git", "merge-file", "-p", "a", "b", "c", at=self.temp, codes=range(256))
        if merged.returncode:
            raise ValueError
        return mode, self.git("hash-object", "-w", "--stdin", stdin=merged.stdout).decode().strip()

    def is_merge(self, change, ours, tree, same_blob=True):
        """Whether `tree` is the clean merge of a change into the tree `ours`."""
        made = self.diff(ours, tree)
        if not set(made) <= set(change):
            return False
        for path, (old, new) in change.items():
            before = self.entry(ours, path)
            pairs = [(old, new), made.get(path, (None, None))]
            mode_alone = any(one and other and one[1] == other[1] for one, other in pairs)
            if same_blob and mode_alone and (before or (0, 0))[1] != (new or (0, 0))[1]:
                return False
            try:
                if self.merge_entry(old, before, new) != self.entry(tree, path):
                    return False
            except ValueError:
                return False
        return True

    def has(self, tree, change):
        """Whether a tree has a change: merging it in is clean and alters nothing."""
        for path, (old, new) in change.items():
            entry = self.entry(tree, path)
            try:
                if self.merge_entry(old, entry, new) != entry:
                    return False
            except ValueError:
                return False
        return True


class Rules:
    def __init__(self, repo, commit):
        tree = repo.commit(commit)["tree"]
        read = lambda name: repo.object(found[1]).decode() if (found := repo.entry(tree, f".proof/{name}")) else ""
        policy = tomllib.loads(read("policy.toml"))
        self.commit = commit
        self.grade = {"require": "marked", "trailers": MARKS, "authors": [], "paths": [], "merges": False, **policy.get("proof_grade", {})}
        self.proof = {"schemes": ["v1", "v1-rfc9162"], "binding": "squashed", "evidence": "required", "rooted": True, "reflection": "observed",
                      "signatures": 0, "vouchers": [], "sealed": False, "sealers": [], "pin": "", **policy.get("proof", {})}
        self.signers = {}
        for line in read("allowed_signers").splitlines():
            name, options, kind, key = re.match(r"(\S+) (\S+=\S+ )?(\S+) (\S+)", line).groups()
            before = re.search(r'valid-before="(\d+)Z"', options or "")
            self.signers[key] = (name, before and before.group(1), line)
        self.needs_evidence = self.proof["evidence"] == "required" or self.proof["rooted"]

    def guards(self, path):
        return self.grade["require"] == "marked" and any(glob(pattern, path) for pattern in self.grade["paths"])

    def signer(self, repo, signature, text, time):
        """The principal of a signature that counts, or the code of why it does not."""
        blob = base64.b64decode(signature)
        if len(blob) > 8192 or blob[:6] != b"SSHSIG":
            return None, "SIGNATURE_INVALID"
        size = int.from_bytes(blob[10:14], "big")
        key = base64.b64encode(blob[14:14 + size]).decode()
        if key not in self.signers:
            return None, "SIGNER_UNKNOWN"
        name, before, line = self.signers[key]
        if before and time >= before.ljust(14, "0"):
            return None, "SIGNER_EXPIRED"
        (repo.temp / "signers").write_text(re.sub(r',?valid-before="[^"]*"', "", line) + "\n")
        armour = "-----BEGIN SSH SIGNATURE-----\n" + "\n".join(re.findall(".{1,70}", signature)) + "\n-----END SSH SIGNATURE-----\n"
        (repo.temp / "sig").write_text(armour)
        good = run("ssh-keygen", "-Y", "verify", "-f", "signers", "-I", name, "-n", "git-proof", "-s", "sig", at=repo.temp,
                   stdin=text.encode(), codes=range(256)).returncode == 0
        return (name, None) if good else (None, "SIGNATURE_INVALID")


def glob(pattern, path):
    pattern += "**" if pattern.endswith("/") else ""
    pattern += "/*" if pattern.endswith("**") else ""
    regex = "".join("(?:[^/]+/)*" if part == "**" else "".join({"?": "[^/]", "*": "[^/]*"}.get(c, re.escape(c)) for c in part) + "/"
                    for part in pattern.split("/"))
    return re.fullmatch(regex, path + "/") is not None


class Findings(list):
    def add(self, code, severity=ERROR):
        self.append((code, severity))

    def worst(self):
        return max((severity for _, severity in self), key=[WARNING, UNCHECKED, ERROR].index, default=WARNING)

    def softened(self):
        return Findings((code, WARNING) for code, _ in self)

    def verdict(self, holds):
        severe = [(code, severity) for code, severity in self if severity != WARNING]
        if any(code == "LIMIT_REACHED" for code, _ in severe):
            return "unchecked"
        errors = [code for code, severity in severe if severity == ERROR]
        if any(code != "ANCHOR_MISSING" for code in errors):
            return "fail"
        return "missing" if errors else "unchecked" if severe else "pass" if holds else "exempt"


class Anchor:
    """An anchor that was weighed for a commit."""

    def __init__(self, anchor, signatures):
        self.anchor, self.signatures, self.id = anchor, signatures, sha(canonical(anchor).encode()).hex()
        self.binding, self.rooted, self.misstated, self.findings = None, False, False, Findings()

    @property
    def holds(self):
        return self.binding is not None and self.findings.worst() == WARNING

    def is_named(self, value):
        return value == ":".join(str(self.anchor[name]) for name in ("session_id", "scheme", "root", "count"))


class Judge:
    def __init__(self, repo, rules, has_remote=True):
        self.repo, self.rules, self.under = repo, rules, []
        self.again = set()  # merges that bring something back
        absent = [name for name in (NOTES, CHANGES) if repo.ref(name) is None]
        self.notes_known = not (has_remote and absent)
        self.has_remote = has_remote
        self.now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%d%H%M%S")
        self.read_seals()

    # --- what git has -------------------------------------------------------------------------------------------------

    @functools.cache
    def note(self, oid):
        """(anchors, words, findings)"""
        tree, rest, blobs = self.repo.tree_of(NOTES), oid, []
        anchors, words, findings = {}, [], Findings()
        while tree and rest:
            mode, found = self.repo.tree(tree).get(rest, (None, None))
            if mode in ("file", "program"):
                blobs.append(found)
            mode, found = self.repo.tree(tree).get(rest[:2], (None, None))
            tree, rest = (found if mode == "tree" else None), rest[2:]
        if len(blobs) > 1:
            findings.add("ANCHOR_MALFORMED")
        for blob in blobs:
            for at, line in enumerate(self.repo.object(blob).split(b"\n")):
                if at > 4096:
                    findings.add("LIMIT_REACHED", UNCHECKED)
                    break
                try:
                    kind, value = note_line(line)
                except Malformed:
                    findings.add("ANCHOR_MALFORMED")
                    continue
                if kind == "anchor":
                    anchors.setdefault(canonical(value["anchor"]), (value["anchor"], []))[1].append(value.get("signature"))
                elif kind == "word":
                    words.append(value)
                elif kind != "blank":
                    findings.add("ANCHOR_MALFORMED", WARNING)
        return list(anchors.values()), words, findings

    @functools.cache
    def evidence(self, root):
        """Evidence that holds by itself, or a code: REF_NOT_FETCHED, EVIDENCE_MISSING, OBJECT_MISSING, CHAIN_BROKEN."""
        tree = self.repo.tree_of(EVIDENCE)
        if tree is None:
            return "REF_NOT_FETCHED" if self.has_remote else "EVIDENCE_MISSING"
        try:
            found = self.repo.entry(tree, f"{root[:2]}/{root}.jsonl")
            return Evidence(self.repo.object(found[1])) if found and found[0] == "file" else "EVIDENCE_MISSING"
        except Missing:
            return "OBJECT_MISSING"
        except Malformed:
            return "CHAIN_BROKEN"

    def index(self, ids):
        """The lines of the change index under two ids."""
        tree, found = self.repo.tree_of(CHANGES), []
        for change in ids or ():
            entry = self.repo.entry(tree, f"{change[:2]}/{change}") if tree else None
            for line in self.repo.object(entry[1]).split(b"\n") if entry else ():
                value = json.loads(line) if line else None
                if value and value not in found:
                    found.append(value)
        return found

    # --- seals --------------------------------------------------------------------------------------------------------

    def read_seals(self):
        self.sealed, self.listed, self.counting, self.seal_findings = {}, [], [], Findings()
        tip, chain, signed, hashes = self.repo.ref(ROUNDS), [], [], []
        pin = self.rules.proof["pin"]
        if tip is None:
            if pin:
                self.seal_findings.add("REF_NOT_FETCHED", UNCHECKED)
            return
        try:
            while tip:
                commit = self.repo.commit(tip)
                if list(self.repo.tree(commit["tree"])) != ["seal.json"] or len(commit["parents"]) > 1:
                    raise Malformed("not a seal")
                chain.append((tip, self.repo.object(self.repo.entry(commit["tree"], "seal.json")[1])))
                tip = commit["parents"][0] if commit["parents"] else None
            rounds = Rounds()
            for oid, text in reversed(chain):
                seal = rounds.push(text)
                hashes.append(rounds.hash)
                for session in seal["sessions"]:
                    for anchor in session["anchors"]:
                        self.sealed.setdefault(anchor, seal["round"])
                        self.listed.append((anchor, seal["round"], session))
                signed.append((re.sub(r"\D", "", seal["sealed_at"])[:14], self.seal_lines(oid, rounds.hash), text.decode()))
        except Malformed:
            self.seal_findings.add("SEAL_BROKEN")
        except Missing:
            self.seal_findings.add("OBJECT_MISSING", UNCHECKED)
        time = self.now
        for number in range(len(signed), 0, -1):
            at, signatures, text = signed[number - 1]
            who = [self.rules.signer(self.repo, signature, text, time)[0] for signature in signatures]
            if set(who) & set(self.rules.proof["sealers"]):
                time = min(time, at)
                self.counting.append((number, time))
        if pin:
            number, seal = pin.split(":")
            there = hashes[int(number) - 1:int(number)]
            if there != [seal] and (there or not self.seal_findings):
                self.seal_findings.add("ROUNDS_ROLLED_BACK")

    def seal_lines(self, oid, seal):
        tree, found = self.repo.tree_of(NOTES), []
        blob = self.repo.git("notes", f"--ref={NOTES}", "list", oid, codes=(0, 1)).decode().strip() if tree else ""
        for line in self.repo.object(blob).split(b"\n") if blob else ():
            try:
                kind, value = note_line(line)
            except Malformed:
                continue
            if kind == "seal" and value["seal"] == seal:
                found.append(value["signature"])
        return found

    def covering(self, anchor):
        """The time of the seal that counts and covers an anchor, or None."""
        if anchor.id not in self.sealed:
            return None
        return self.covered_at(self.sealed[anchor.id])

    def covered_at(self, number):
        """The time of the seal that counts and covers a round, or None."""
        return next((time for counting, time in reversed(self.counting) if counting >= number), None)

    # --- binding ------------------------------------------------------------------------------------------------------

    def bind(self, a, x):
        anchor, repo, ids = a.anchor, self.repo, self.repo.change_ids(x["id"])
        wide = ids and ids[0]
        evidence = self.evidence(anchor["root"])
        attested = evidence.attested if isinstance(evidence, Evidence) and anchor["scheme"] in ("v1", "v1-rfc9162") else []
        if anchor["commit"] == x["id"] and anchor["tree"] != x["tree"]:
            a.misstated = True
            a.findings.add("BINDING_MISMATCH")
        if any(said["commit"] == x["id"] and said["tree"] == x["tree"] for said in attested):
            a.binding, a.rooted = "exact", True
            return
        originals, refused = [], Findings()
        for said in attested:
            if said["commit"] not in (None, x["id"]):
                originals.append((said["commit"], said["tree"], said["change_id"]))
            elif said["commit"] is None and said["tree"] == x["tree"] and wide and said["change_id"] == wide:
                if not self.replays_itself(x, said["onto"]):
                    a.binding, a.rooted = "exact", True
                    return
                refused.add("REPLAYED")
            elif said["commit"] is None and (said["tree"], said["change_id"]) == (anchor["tree"], anchor["change_id"]) \
                    and anchor["commit"] != x["id"]:
                originals.append((anchor["commit"], said["tree"], said["change_id"]))
        self.try_originals(a, x, originals, True, refused)
        if a.binding:
            return
        if not refused:
            if anchor["commit"] == x["id"]:
                if anchor["change_id"] == wide:
                    a.binding = "exact"
                elif not a.misstated:
                    a.misstated = True
                    a.findings.add("BINDING_MISMATCH")
            elif self.tree_at(anchor["commit"]) not in (None, anchor["tree"]):
                a.misstated = True
                a.findings.add("BINDING_MISMATCH")
            else:
                self.try_originals(a, x, [(anchor["commit"], anchor["tree"], anchor["change_id"])], False, refused)
        if not a.binding:
            a.findings += refused
            if not a.findings:
                a.findings.add("BINDING_MISMATCH")

    def tree_at(self, oid):
        try:
            return self.repo.commit(oid)["tree"]
        except Missing:
            return None

    def try_originals(self, a, x, originals, rooted, refused):
        repo = self.repo
        for oid, tree, change in originals:
            if oid in self.under:
                continue
            try:
                own = repo.commit(oid)
            except Missing:
                binding, code = self.place(x, tree, change)
            else:
                ids = repo.change_ids(oid)
                if own["tree"] != tree or rooted and change != (ids and ids[0]):
                    continue
                binding, code = None, None
                trees = [[repo.commit(parent)["tree"] for parent in c["parents"]] for c in (own, x)]
                if own["tree"] == x["tree"] and trees[0] == trees[1]:
                    binding = "reworded"
                elif len(own["parents"]) <= 1 and len(x["parents"]) <= 1 and repo.change(own) and repo.change(x) \
                        and repo.is_merge(repo.change(own), repo.parent_tree(x), x["tree"]):
                    binding = "moved"
                if binding and any(self.applied_before(repo.change(own), oid, parent) for parent in x["parents"]):
                    binding, code = None, "REPLAYED"
            if code:
                refused.add(code)
            if binding and (a.binding is None or BINDINGS.index(a.binding) < BINDINGS.index(binding)):
                a.binding, a.rooted = binding, rooted

    def place(self, x, tree, change):
        """Rule 3: (binding, code)"""
        repo, ids = self.repo, self.repo.change_ids(x["id"])
        if not ids or ids[0] != change:
            return None, None
        for path, (old, new) in repo.change(x).items() if x["tree"] != tree else ():
            if not old or not new or {old[0], new[0]} - {"file", "program"} or old[1] == new[1]:
                return None, "PLACE_AMBIGUOUS"
            file = b"\n" + repo.object(old[1])
            diff = repo.diff_text(repo.parent_tree(x), x["tree"], 3)
            for hunk in re.split(rb"(?m)^@@ .*\n", diff.split(b"\n+++ b/" + path.encode() + b"\n")[1].split(b"\ndiff --git ")[0])[1:]:
                lines = b"\n" + b"".join(line[1:] + b"\n" for line in hunk.split(b"\n") if line[:1] in (b" ", b"-"))
                if len(re.findall(b"(?=" + re.escape(lines) + b")", file)) != 1:
                    return None, "PLACE_AMBIGUOUS"
        for parent in x["parents"][:1]:
            among = repo.ancestors(parent)
            if self.contained(repo.change(x), parent, among) or any((repo.change_ids(k) or [0])[0] == ids[0] for k in among):
                return None, "REPLAYED"
        return "moved", None

    def contained(self, change, parent, among):
        repo = self.repo
        if repo.has(repo.commit(parent)["tree"], change):
            return False
        for k in among:
            node = repo.commit(k)
            befores = [repo.commit(p)["tree"] for p in node["parents"]] or [None]
            if repo.has(node["tree"], change) and not all(repo.has(before, change) for before in befores):
                return True
        return False

    def replays_itself(self, x, onto):
        known = self.repo.ancestors(onto) if onto and self.tree_at(onto) else set()
        among = lambda parent: self.repo.ancestors(parent) - known
        return any(self.contained(self.repo.change(x), parent, among(parent)) for parent in x["parents"])

    def applied_before(self, change, head, parent):
        """Rule 2, for a change that was made in `head`."""
        repo = self.repo
        if head in repo.ancestors(parent):
            return True
        if not change or repo.has(repo.commit(parent)["tree"], change):
            return False
        among = repo.ancestors(parent) - repo.ancestors(head)
        if self.contained(change, parent, among):
            return True
        for k in among:
            node = repo.commit(k)
            if len(node["parents"]) != 1 or not set(repo.change(node)) & set(change):
                continue
            replaced = repo.is_merge(change, repo.parent_tree(node), node["tree"]) or any(
                "base" in line and self.is_squash(node, line["base"], line["head"]) and head in repo.ancestors(line["head"])
                and head not in repo.ancestors(line["base"]) for line in self.index(repo.change_ids(k)))
            if replaced and not repo.has(repo.commit(parent)["tree"], repo.change(node)):
                return True
        return False

    # --- squashes and merges ------------------------------------------------------------------------------------------

    def is_squash(self, x, base, head):
        repo = self.repo
        if base == head or len(x["parents"]) > 1 or base not in repo.ancestors(head):
            return False
        change = repo.diff(repo.commit(base)["tree"], repo.commit(head)["tree"])
        return bool(change and repo.change(x)) and repo.is_merge(change, repo.parent_tree(x), x["tree"])

    def squash(self, x, base, head, depth):
        """(verdict, findings, anchors) of a range, or None where the line leads nowhere."""
        repo = self.repo
        if head in self.under or not self.is_squash(x, base, head):
            return None
        commits = repo.ancestors(head) - repo.ancestors(base)
        if commits & set(self.under):
            return None
        parent, findings, anchors, verdict = x["parents"][0] if x["parents"] else None, Findings(), [], "exempt"
        plain = [c for c in map(repo.commit, commits) if len(c["parents"]) < 2]
        whole = repo.diff(repo.commit(base)["tree"], repo.commit(head)["tree"])
        again = lambda change, original: set(change) & set(repo.change(x)) and self.applied_before(change, original, parent)
        if parent and (commits & repo.ancestors(parent) or self.applied_before(whole, head, parent)
                       or any(self.applied_before(repo.change(c), c["id"], parent) for c in plain)
                       or any(self.hand_applied_before(repo.commit(oid), again) for oid in commits)):
            findings.add("REPLAYED")
            return "fail", findings, anchors
        proven, exact = set(), []
        for oid in commits:
            part = self.judge(oid, depth + 1)
            verdict = worse(verdict, part["verdict"])
            findings += part["found"]
            anchors += part["anchors"]
            if part["verdict"] == "pass":
                proven |= set(repo.change(repo.commit(oid)))
                if part["binding"] == "exact" and any(a.holds and a.rooted for a in part["anchors"]):
                    exact.append(oid)
        if verdict == "exempt":
            findings.add("ANCHOR_MISSING")
            return "missing", findings, anchors
        guarded = [path for path in repo.change(x) if self.rules.guards(path) or path.split("/")[0] == ".proof"]
        if verdict == "pass" and not set(guarded) <= proven:
            findings.add("ANCHOR_MISSING")
            verdict = "missing"
        if verdict == "pass" and not any(base in repo.ancestors(tip) for tip in [*x["parents"], *exact, self.rules.commit]):
            findings.add("PLACE_AMBIGUOUS")
            verdict = "fail"
        return verdict, findings, anchors

    def bases(self, one, two):
        return self.repo.git("merge-base", "--all", one, two, codes=(0, 1)).decode().split()

    def done_by_hand(self, n):
        """The paths where a merge is not what rule 1 makes of its parents."""
        repo, trees = self.repo, [self.repo.commit(parent)["tree"] for parent in n["parents"]]
        bases = self.bases(*n["parents"]) if len(trees) == 2 else []
        if not bases:
            return {path for tree in trees for path in repo.diff(tree, n["tree"])}
        found, made = set(), repo.diff(trees[0], n["tree"])
        for base in bases:
            theirs = repo.diff(repo.commit(base)["tree"], trees[1])
            found |= set(made) - set(theirs)
            for path, (old, new) in theirs.items():
                try:
                    if repo.merge_entry(old, repo.entry(trees[0], path), new) != repo.entry(n["tree"], path):
                        found.add(path)
                except ValueError:
                    found.add(path)
        return found

    def hand_applied_before(self, n, again):
        """The paths of what was done by hand in a merge, brought back by `again`; None if that is not so."""
        if len(n["parents"]) < 2:
            return None
        own = self.done_by_hand(n)
        for before in n["parents"]:
            whole = self.repo.diff(self.repo.commit(before)["tree"], n["tree"])
            change = {path: entries for path, entries in whole.items() if path in own}
            if again(change, n["id"]):
                return set(change)
        return None

    def brought_back(self, x, bases, parent, other):
        """Paths of changes that merging `other` brings back to `parent`, one set for each change."""
        repo, trees = self.repo, [self.repo.commit(oid)["tree"] for oid in (parent, other)]
        made, others = repo.diff(trees[0], x["tree"]), repo.ancestors(other) - repo.ancestors(parent)
        renamed = any(new and new != repo.entry(trees[1], path) and None in (old, repo.entry(trees[1], path))
                      for path, (old, new) in made.items())

        def brings(change):
            return any(path in made or renamed and new and not repo.entry(x["tree"], path) for path, (_, new) in change.items())

        names = {}
        for base in bases if renamed else ():
            for tree in trees:
                names |= repo.renames(repo.commit(base)["tree"], tree)

        def under_new_names(change):
            found = {}
            for path, (old, new) in change.items():
                before = found.get(names.get(path, path), (None, None))
                found[names.get(path, path)] = (before[0] or old, before[1] or new)
            return {path: entries for path, entries in found.items() if entries[0] != entries[1]}

        def again(change, head):
            if not brings(change):
                return False
            return self.applied_before(change, head, parent) or (
                any(path in names for path in change) and self.applied_before(under_new_names(change), head, parent))

        for base in bases if others else ():
            whole = repo.diff(repo.commit(base)["tree"], trees[1])
            if again(whole, other):
                yield set(whole)
        for n in map(repo.commit, others):
            if len(n["parents"]) > 1:
                if paths := self.hand_applied_before(n, again):
                    yield paths
            elif again(repo.change(n), n["id"]):
                yield set(repo.change(n))

    def merged_by_hand(self, x):
        """The paths by which a merge is judged; None if it is automatic."""
        repo, (one, two, *more) = self.repo, x["parents"]
        sides = [repo.diff(repo.commit(parent)["tree"], x["tree"]) for parent in x["parents"]]
        if more:
            return set().union(*sides)
        first, second = repo.commit(one)["tree"], repo.commit(two)["tree"]
        bases, by_hand, clean = self.bases(one, two), set(), True
        if len(bases) != 1 or not repo.is_merge(repo.diff(repo.commit(bases[0])["tree"], second), first, x["tree"], False):
            merged = run("git", "merge-tree", "--write-tree", one, two, at=repo.place, codes=range(256))
            if merged.returncode > 1:
                return set().union(*sides)
            clean = merged.returncode == 0
            by_hand = set(repo.diff(merged.stdout.decode().split()[0], x["tree"]))
            guarded = lambda path: self.rules.guards(path) or path.split("/")[0] == ".proof"
            by_hand |= {path for path, (old, new) in sides[0].items()
                        if new and guarded(path) and path in sides[1] and None in (old, sides[1][path][0])}
        automatic = clean and not by_hand
        if automatic or not self.asks(x, by_hand):
            for parent, other in ((one, two), (two, one)):
                for paths in self.brought_back(x, bases, parent, other):
                    if self.asks(x, paths):
                        self.again.add(x["id"])
                        return paths
        return None if automatic else by_hand

    # --- the algorithm ------------------------------------------------------------------------------------------------

    def asks(self, x, paths):
        """Whether a merge that was made by hand at these paths is proof-grade."""
        return self.is_graded(x, *trailers(x["message"]), paths, any(path.split("/")[0] == ".proof" for path in paths))

    def is_proof_grade(self, x, found, strays):
        repo, grade = self.repo, self.rules.grade
        if len(x["parents"]) > 1:
            paths = self.merged_by_hand(x)
            if paths is None and not grade["merges"]:
                return False
            paths = paths or set()
            settings = any(path.split("/")[0] == ".proof" for path in paths)
        else:
            paths = repo.change(x)
            settings = repo.tree(repo.parent_tree(x)).get(".proof") != repo.tree(x["tree"]).get(".proof")
        return self.is_graded(x, found, strays, paths, settings)

    def is_graded(self, x, found, strays, paths, settings):
        grade = self.rules.grade
        if settings:
            return True
        if grade["require"] != "marked":
            return grade["require"] == "all"
        matches = lambda patterns, text: any(re.fullmatch(pattern, text, re.I) for pattern in patterns)
        return bool(found or strays or any(matches(grade["trailers"], line) for line in message_lines(x["message"]))
                    or matches(grade["authors"], x["author"]) or any(self.rules.guards(path) for path in paths))

    def weigh(self, anchor, signatures, x, proof_grade):
        a, proof = Anchor(anchor, signatures), self.rules.proof
        self.bind(a, x)
        if a.binding and BINDINGS.index(a.binding) < BINDINGS.index(proof["binding"]):
            a.findings.add("BINDING_TOO_WEAK")
        evidence = self.evidence(anchor["root"])
        absent = evidence in ("REF_NOT_FETCHED", "OBJECT_MISSING")
        if self.rules.needs_evidence and absent and not a.misstated:
            a.findings[:] = [(code, UNCHECKED if severity == ERROR else severity) for code, severity in a.findings]
        if anchor["scheme"] not in proof["schemes"]:
            a.findings.add("SCHEME_NOT_ALLOWED")
        if isinstance(evidence, Evidence):
            opening = evidence.opening
            if (evidence.root, evidence.count) != (anchor["root"], anchor["count"]):
                a.findings.add("ROOT_MISMATCH")
            if any(anchor[name] != value for name, value in (
                    ("scheme", evidence.scheme), ("genesis", evidence.genesis), ("head", evidence.head),
                    ("session_id", opening["session_id"]), ("task_id", opening["task_id"]))):
                a.findings.add("CHAIN_BROKEN")
            if (proof_grade or opening["proof_grade"]) and not evidence.reflection:
                a.findings.add("REFLECTION_MISSING")
            if (proof_grade or opening["proof_grade"]) and evidence.reflection == "observed" and proof["reflection"] == "stated":
                a.findings.add("REFLECTION_NOT_STATED")
            if evidence.withheld:
                a.findings.add("EVIDENCE_WITHHELD", WARNING)
        elif evidence == "CHAIN_BROKEN":
            a.findings.add(evidence)
        else:
            a.findings.add(evidence, WARNING if not self.rules.needs_evidence else UNCHECKED if absent else ERROR)
        if a.binding and not a.rooted and (isinstance(evidence, Evidence) or not proof["rooted"]):
            a.findings.add("NOT_ROOTED", ERROR if proof["rooted"] else WARNING)
        time = self.covering(a)
        self.signatures(a, time or self.now)
        if proof["sealed"] and time is None:
            a.findings.add("SEAL_MISSING", ERROR if self.repo.ref(ROUNDS) else UNCHECKED)
        return a

    def signatures(self, a, time):
        people, codes, needed = set(), Findings(), self.rules.proof["signatures"]
        for signature in filter(None, a.signatures):
            who, code = self.rules.signer(self.repo, signature, canonical(a.anchor), time)
            people |= {who} - {None}
            if code:
                codes.add(code)
        enough = len(people) >= needed if needed else None in a.signatures or people or any(code != "SIGNATURE_INVALID" for code, _ in codes)
        a.findings += codes.softened() if enough else codes
        if len(people) < needed:
            a.findings.add("SIGNATURE_MISSING")

    def judge(self, oid, depth=0):
        self.under.append(oid)
        try:
            return self.steps(oid, depth)
        finally:
            self.under.pop()

    def steps(self, oid, depth):
        repo, rules = self.repo, self.rules
        # 3
        try:
            x = repo.commit(oid)
        except Missing:
            return {"verdict": "unchecked", "binding": None, "found": Findings([("OBJECT_MISSING", UNCHECKED)]), "anchors": []}
        found, strays = trailers(x["message"])
        roots = [value for name, value in found if name == "root"]
        proof_grade = self.is_proof_grade(x, found, strays)
        asks = proof_grade or bool(roots)
        remarks = lambda strays: Findings({"malformed": ("TRAILER_MISMATCH", ERROR)}.get(kind, ("TRAILER_MISMATCH", WARNING)) for kind, _ in strays)
        said = remarks(strays)
        # 4
        anchors, words, others = self.note(oid)
        kept = [self.weigh(anchor, signatures, x, proof_grade) for anchor, signatures in anchors]

        def satisfied():
            return any(a.holds for a in kept) and all(any(a.holds and a.is_named(root) for a in kept) for root in roots)

        def add(source):
            for anchor, signatures in source:
                if all(a.anchor != anchor for a in kept):
                    a = self.weigh(anchor, signatures, x, proof_grade)
                    if a.holds or asks and all(code != "BINDING_MISMATCH" for code, _ in a.findings):
                        kept.append(a)

        # 5
        if not satisfied():
            for root in roots:
                evidence = self.evidence(root.split(":")[2])
                for attested in evidence.attested if isinstance(evidence, Evidence) else ():
                    if attested["commit"] not in (None, oid):
                        add(pair for pair in self.note(attested["commit"])[0] if pair[0]["root"] == root.split(":")[2])
        # 6
        lines = [] if satisfied() else self.index(repo.change_ids(oid))
        for line in lines:
            if "commit" in line and line["commit"] not in self.under:
                add(self.note(line["commit"])[0])
        # 7
        taken = None
        if not satisfied() and depth < 3 and rules.proof["binding"] == "squashed":
            ranges = [self.squash(x, line["base"], line["head"], depth) for line in lines if "base" in line]
            ranges = [judged for judged in ranges if judged]
            taken = next((judged for judged in ranges if judged[0] == "pass"), None)
            if not taken and asks and not kept and not others:
                taken = next(iter(ranges), None)
        if taken:
            verdict, findings, holding = taken[0], Findings(taken[1]), taken[2]
            findings += Findings(finding for a in kept for finding in a.findings).softened() + others.softened()
            # A forge puts the messages of the commits that it squashed into the new one.
            if verdict == "pass":
                said = remarks(stray for stray in strays if stray[0] != "outside")
            findings += said
            if any(severity == ERROR for _, severity in said):
                verdict = "fail"
            for root in roots:
                if verdict != "unchecked" and not any(a.holds and a.is_named(root) for a in holding):
                    findings.add("TRAILER_MISMATCH")
                    verdict = "fail"
            binding, kept = "squashed" if verdict == "pass" else None, holding
        else:
            # 8
            holding = [a for a in kept if a.holds]
            undecided = asks and not holding and any(a.findings.worst() == UNCHECKED for a in kept)
            harmless = bool(holding) or undecided or not asks
            findings = Findings()
            for a in kept:
                open_ = a.findings.worst() == UNCHECKED and (undecided or any(map(a.is_named, roots)))
                findings += a.findings.softened() if harmless and not a.holds and not open_ else a.findings
            findings += others.softened() if harmless else others
            for root in roots:
                named = [a for a in kept if a.is_named(root)]
                if any(a.holds or a.findings.worst() == UNCHECKED for a in named):
                    continue
                absent = self.evidence(root.split(":")[2]) in ("REF_NOT_FETCHED", "OBJECT_MISSING")
                if not named and (not self.notes_known or absent):
                    findings.add("REF_NOT_FETCHED", UNCHECKED)
                else:
                    findings.add("TRAILER_MISMATCH")
            findings += said
            if proof_grade and not roots and not kept and others.worst() == WARNING:
                findings.add(*(("ANCHOR_MISSING",) if self.notes_known else ("REF_NOT_FETCHED", UNCHECKED)))
            verdict = findings.verdict(holding)
            binding = max((a.binding for a in holding), key=BINDINGS.index) if verdict == "pass" else None
        if oid in self.again:
            findings.add("REPLAYED", WARNING)
        # 9
        gone = None
        if not any(a.holds for a in kept) and all(code != "LIMIT_REACHED" for code, _ in others):
            gone = self.deleted_from(x, roots)
        if gone is not None:
            fails = asks or self.rules.proof["sealers"] and self.covered_at(gone) is not None
            findings.add("ANCHOR_DELETED", ERROR if fails else WARNING)
            verdict = "fail" if fails else verdict
        # 10
        if depth == 0 and words and verdict != "pass":
            verdict, findings = self.words(x, words, verdict, findings, kept, roots, strays, taken, asks, proof_grade)
        # 11
        if depth == 0 and verdict != "exempt" and self.seal_findings:
            verdict = worse(verdict, "fail" if self.seal_findings.worst() == ERROR else "unchecked")
            binding, findings = None, Findings(findings + self.seal_findings)
        return {"verdict": verdict, "binding": binding, "found": findings, "anchors": kept}

    @functools.cached_property
    def noted(self):
        """The ids of all anchors in all notes."""
        found = set()
        for line in self.repo.git("notes", f"--ref={NOTES}", "list").decode().splitlines():
            found |= {Anchor(anchor, []).id for anchor, _ in self.note(line.split()[1])[0]}
        return found

    def deleted_from(self, x, roots):
        """The first round that lists an anchor of X which no note has, or None."""
        if self.repo.ref(NOTES) is None:
            return None
        ids = self.repo.change_ids(x["id"])
        for anchor, number, session in self.listed:
            if anchor in self.noted:
                continue
            evidence = self.evidence(session["root"])
            for said in evidence.attested if isinstance(evidence, Evidence) else ():
                if said["commit"] == x["id"] or ids and said["change_id"] == ids[0]:
                    return number
            if any(root.split(":")[0::2] == [session["session_id"], session["root"]] for root in roots):
                return number
        return None

    def words(self, x, words, verdict, findings, kept, roots, strays, taken, asks, proof_grade):
        proof, counted = self.rules.proof, []
        for line in words:
            word = line["word"]
            who, _ = self.rules.signer(self.repo, line["signature"], canonical(word), self.now)
            if word["commit"] == x["id"] and word["tree"] == x["tree"] and who in proof["vouchers"]:
                counted.append((who, word))
            else:
                findings.add("WORD_NOT_TAKEN", WARNING)
        if not counted:
            return verdict, findings
        stands_in = {"ANCHOR_MISSING", "BINDING_MISMATCH", "BINDING_TOO_WEAK", "REPLAYED", "PLACE_AMBIGUOUS", "NOT_ROOTED", "TRAILER_MISMATCH"}
        severe = lambda found: {code for code, severity in found if severity != WARNING}
        unbound = lambda a: not a.misstated and severe(a.findings) <= stands_in - {"ANCHOR_MISSING", "TRAILER_MISMATCH"} \
            and ("NOT_ROOTED" not in severe(a.findings) or a.binding is None)
        named = {(item["root"], item["count"]) for _, word in counted for item in word["sessions"]}
        if not (len({who for who, _ in counted}) >= max(1, proof["signatures"]) and asks
                and not any(a.holds for a in kept) and severe(findings) <= stands_in
                and (severe(taken[1]) <= {"ANCHOR_MISSING"} if taken else all(map(unbound, kept)))
                and not any(kind == "malformed" for kind, _ in strays)
                and all((root.split(":")[2], int(root.split(":")[3])) in named
                        and not any(a.anchor["session_id"] == root.split(":")[0] and a.anchor["root"] != root.split(":")[2] for a in kept)
                        for root in roots)):
            findings.add("WORD_NOT_TAKEN", WARNING)
            return verdict, findings
        about = Findings()
        for root, count in named:
            evidence = self.evidence(root)
            if not isinstance(evidence, Evidence):
                absent = evidence in ("REF_NOT_FETCHED", "OBJECT_MISSING")
                about.add(evidence, ERROR if evidence == "CHAIN_BROKEN" else WARNING if not self.rules.needs_evidence else UNCHECKED if absent else ERROR)
                continue
            if (evidence.root, evidence.count) != (root, count):
                about.add("ROOT_MISMATCH")
            if evidence.scheme not in proof["schemes"]:
                about.add("SCHEME_NOT_ALLOWED")
            if (proof_grade or evidence.opening["proof_grade"]) and not evidence.reflection:
                about.add("REFLECTION_MISSING")
            if (proof_grade or evidence.opening["proof_grade"]) and evidence.reflection == "observed" and proof["reflection"] == "stated":
                about.add("REFLECTION_NOT_STATED")
        if about.worst() == ERROR:
            return "fail", Findings(findings + about)
        findings = Findings((code, WARNING if code in stands_in else severity) for code, severity in findings + about)
        if about.worst() == UNCHECKED:
            return "unchecked", findings
        return "vouched", Findings(findings + [("VOUCHED", WARNING)] * len(counted))


# --- the views of a bundle --------------------------------------------------------------------------------------------

def clone(bundle, place, view):
    run("git", "clone", "--quiet", "--mirror", str(bundle), str(place))
    for ref, to in view["refs"].items():
        run("git", "update-ref", *([ref, to] if to else ["-d", ref]), at=place)
    if view["without"]:
        for pack in list((place / "objects/pack").glob("*.pack")):
            content = pack.read_bytes()
            for file in pack.parent.glob(pack.stem + ".*"):
                file.unlink()
            run("git", "unpack-objects", "-q", at=place, stdin=content)
        for oid in view["without"]:
            (place / "objects" / oid[:2] / oid[2:]).unlink()
    return Repository(place)


def main():
    vectors = json.loads(VECTORS.read_text())
    temp, wrong = pathlib.Path(tempfile.mkdtemp()), 0
    for name, view in vectors["views"].items():
        judgements = [said for said in vectors["judgements"] if said["view"] == name]
        if not judgements:
            continue
        repo = clone(VECTORS.parent / vectors["bundle"], temp / name, view)
        judge = Judge(repo, Rules(repo, repo.ref(view["rules"])))
        for said in judgements:
            got, codes = judge.judge(said["commit"]), {}
            for code, severity in got["found"]:
                codes[code] = max(severity, codes.get(code, WARNING), key=[WARNING, UNCHECKED, ERROR].index)
            if (got["verdict"], got["binding"], codes) != (said["verdict"], said["binding"], said["findings"]):
                wrong += 1
                print(f"{name} {said['commit'][:12]} {said['what']}\n  expected {said['verdict']} {said['binding']} {said['findings']}"
                      f"\n  found    {got['verdict']} {got['binding']} {codes}")
        repo.batch.stdin.close()
        repo.batch.wait()
    shutil.rmtree(temp)
    print(f"{len(vectors['judgements'])} judgements, {wrong} of them not as expected")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()

"""The bytes of FORMAT.md, part 1, from its text alone: canonical JSON, evidence, note lines, seals, logs, trailers.

Left out: inclusion proofs (tests/vectors/proofs.json has those), memory attestations, checkpoints.
"""
import base64, hashlib, json, re

MAX = 2**53 - 1


class Malformed(Exception):
    pass


def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


# --- canonical JSON ---------------------------------------------------------------------------------------------------

def number(value):
    """ECMAScript's Number::toString. Python's repr has the shortest digits, and of those the closest."""
    if isinstance(value, int):
        text = str(value)
    else:
        if value != value or value in (float("inf"), float("-inf")):
            raise Malformed("no number")
        sign, (digits, exponent) = "-" if value < 0 else "", _digits(repr(abs(value)))
        n, k = len(digits), len(digits) + exponent
        if digits == "0":
            return "0"
        if n <= k <= 21:
            text = sign + digits + "0" * (k - n)
        elif 0 < k < n:
            text = sign + digits[:k] + "." + digits[k:]
        elif -6 < k <= 0:
            text = sign + "0." + "0" * -k + digits
        else:
            text = sign + digits[0] + ("." + digits[1:] if n > 1 else "") + "e" + ("+" if k > 0 else "-") + str(abs(k - 1))
    if re.fullmatch(r"-?\d+", text) and abs(int(text)) > MAX:
        raise Malformed("an integer beyond 2^53-1")
    return text


def _digits(text):
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits, exponent = whole + fraction, int(exponent or 0) - len(fraction)
    stripped = digits.rstrip("0")
    exponent += len(digits) - len(stripped)
    return stripped.lstrip("0") or "0", exponent


ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def string(text):
    return '"' + "".join(ESCAPES.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in text) + '"'


def canonical(value, depth=1):
    if isinstance(value, (dict, list)) and depth > 64:
        raise Malformed("deeper than 64")
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(string(key) + ":" + canonical(value[key], depth + 1) for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical(item, depth + 1) for item in value) + "]"
    if isinstance(value, str):
        return string(value)
    return {None: "null", True: "true", False: "false"}[value] if value is None or isinstance(value, bool) else number(value)


def strict(line):
    """Reads bytes that must be their own canonical form."""
    def once(pairs):
        if len({key for key, _ in pairs}) != len(pairs):
            raise Malformed("a key twice")
        return dict(pairs)

    def refuse(_):
        raise Malformed("no JSON")

    try:
        value = json.loads(line.decode("utf-8"), object_pairs_hook=once, parse_constant=refuse)
        if canonical(value).encode("utf-8") != line:
            raise Malformed("not canonical")
    except (ValueError, RecursionError) as error:
        raise Malformed(str(error)) from None
    return value


# --- fields -----------------------------------------------------------------------------------------------------------

DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]


def is_text(value):
    return isinstance(value, str) and value != "" and "\0" not in value


def is_text_or_null(value):
    return value is None or is_text(value)


def is_digest(value):
    return isinstance(value, str) and bool(re.fullmatch("[0-9a-f]{64}", value))


def is_digest_or_null(value):
    return value is None or is_digest(value)


def is_oid(value):
    return isinstance(value, str) and bool(re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", value))


def is_oid_or_null(value):
    return value is None or is_oid(value)


def is_id(value):
    return isinstance(value, str) and bool(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", value))


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_one_up(value):
    return is_count(value) and value > 0


def is_scheme(value):
    return value in ("v1", "v1-sorted", "v1-rfc9162", "ams-v0")


def is_time(value):
    match = isinstance(value, str) and re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.\d{3}Z", value, re.A)
    if not match:
        return False
    year, month, day, hour, minute, second = map(int, match.groups())
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return (1 <= month <= 12 and 1 <= day <= DAYS[month - 1] - (month == 2 and not leap)
            and hour < 24 and minute < 60 and second < 60)


def fields(value, **rules):
    """An object with exactly these fields."""
    if not isinstance(value, dict) or set(value) != set(rules):
        raise Malformed("other fields")
    for name, rule in rules.items():
        if not rule(value[name]):
            raise Malformed(name)
    return value


# --- evidence ---------------------------------------------------------------------------------------------------------

def leaf(scheme, content):
    return sha(b"\0", content) if scheme == "v1-rfc9162" else content


def node(scheme, left, right):
    if scheme == "v1-rfc9162":
        return sha(b"\1", left, right)
    if scheme == "ams-v0":
        return sha(left.hex().encode(), right.hex().encode())
    return sha(*sorted([left, right])) if scheme == "v1-sorted" else sha(left, right)


def tree(scheme, level):
    level = sorted(level) if scheme == "v1-sorted" else list(level)
    while len(level) > 1:
        last = [] if len(level) % 2 == 0 else [level[-1]] if scheme == "v1-rfc9162" else [node(scheme, level[-1], level[-1])]
        level = [node(scheme, level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)] + last
    return level[0]


class Evidence:
    """A file that holds by itself (steps 1 to 3)."""

    def __init__(self, text):
        if not text.endswith(b"\n"):
            raise Malformed("no newline at the end")
        first, *lines = text[:-1].split(b"\n")
        if not lines or any(len(line) > 8 << 20 for line in (first, *lines)):
            raise Malformed("no entries, or a line too long")
        self.opening = fields(strict(first), caller=is_text, intent=is_text, proof_grade=lambda b: isinstance(b, bool),
                              scheme=is_scheme, session_id=is_id, started_at=is_time, task_id=is_text_or_null)
        scheme = self.scheme = self.opening["scheme"]
        self.genesis = bytes(32) if scheme == "ams-v0" else sha(first)
        known, leaves, self.attested, self.withheld = {self.genesis}, [], [], 0
        covers = scheme in ("v1", "v1-rfc9162")
        for line in lines:
            entry, last = self.entry(line), None
            prev = bytes.fromhex(entry["prev_hash"])
            if prev not in known:
                raise Malformed("an entry that hangs on nothing")
            if "withheld" in entry:
                content, self.withheld = bytes.fromhex(entry["withheld"]), self.withheld + 1
            else:
                last, said = entry.get("type"), observed(entry)
                text = entry.get("content") or entry.get("attest")
                content = sha(text.encode()) if scheme == "ams-v0" else sha(line)
            self.head = sha(content.hex().encode(), prev.hex().encode()) if scheme == "ams-v0" else sha(content, prev)
            known.add(self.head)
            leaves.append(leaf(scheme, content))
            if "attest" in entry and covers:
                onto = entry.get("metadata", {}).get("onto")
                onto = onto if isinstance(onto, str) and re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", onto) else None
                self.attested += [said | {"onto": onto} for said in filter(None, [attestation(entry["attest"])])]
        self.count, self.root, self.reflection = len(leaves), tree(scheme, leaves).hex(), last == "reflection" and covers and said
        self.head, self.genesis = self.head.hex(), self.genesis.hex()

    @staticmethod
    def entry(line):
        entry = strict(line)
        if not isinstance(entry, dict):
            raise Malformed("no object")
        if "withheld" in entry:
            return fields(entry, prev_hash=is_digest, withheld=is_digest)
        rules = {"id": is_id, "prev_hash": is_digest, "timestamp": is_time}
        if "metadata" in entry:
            rules["metadata"] = lambda value: isinstance(value, dict) and value != {}
        if "attest" in entry:
            return fields(entry, attest=is_text, **rules)
        kinds = ("plan", "analysis", "decision", "reflection")
        return fields(entry, content=is_text, task_id=is_text_or_null, type=lambda kind: kind in kinds, **rules)


def observed(entry):
    """Whether an entry is stated or observed, by its metadata. A value of another shape counts as absent."""
    mark = entry.get("metadata", {}).get("observed")
    event = mark.get("event") if isinstance(mark, dict) and len(mark) == 1 else None
    return "observed" if event in ("prompt", "final_message", "commit_message") else "stated"


def attestation(text):
    try:
        value = fields(strict(text.encode()), git=lambda value: isinstance(value, dict))["git"]
        return fields(value, change_id=is_digest_or_null, commit=is_oid_or_null, tree=is_oid)
    except Malformed:
        return None


# --- note lines -------------------------------------------------------------------------------------------------------

ANCHOR = dict(anchored_at=is_time, change_id=is_digest_or_null, commit=is_oid, count=is_one_up, genesis=is_digest,
              head=is_digest, root=is_digest, scheme=is_scheme, session_id=is_id, task_id=is_text_or_null, tree=is_oid,
              type=lambda value: value == "git-proof/anchor@1")
WORD = dict(base=is_oid_or_null, commit=is_oid, head=is_oid_or_null, said_at=is_time, tree=is_oid,
            reason=lambda value: is_text(value) and len(value.encode()) <= 4096,
            sessions=lambda value: isinstance(value, list), type=lambda value: value == "git-proof/word@1")


def is_signature(value):
    try:
        return isinstance(value, str) and value != "" and base64.b64encode(base64.b64decode(value, validate=True)).decode() == value
    except ValueError:
        return False


def note_line(line):
    """(kind, object): blank, anchor, word, seal, unknown. Raises what is malformed."""
    if not line.strip(b" \t\n\f\r"):
        return "blank", None
    if len(line) > 1 << 20:
        raise Malformed("longer than 1 MiB")
    value = strict(line)
    try:
        if not isinstance(value, dict):
            raise Malformed("no object")
        rules = {"signature": is_signature} if "signature" in value else {}
        if "anchor" in value:
            fields(value, anchor=lambda anchor: isinstance(anchor, dict), **rules)
            if len(fields(value["anchor"], **ANCHOR)["tree"]) != len(value["anchor"]["commit"]):
                raise Malformed("ids of two lengths")
            return "anchor", value
        if "seal" in value:
            return "seal", fields(value, seal=is_digest, signature=is_signature)
        fields(value, word=lambda word: isinstance(word, dict), signature=is_signature)
        word = fields(value["word"], **WORD)
        named = [fields(item, count=is_one_up, root=is_digest) for item in word["sessions"]]
        ids = [word[name] for name in ("base", "commit", "head", "tree") if word[name] is not None]
        order = [(item["root"], item["count"]) for item in named]
        if (word["base"] is None) != (word["head"] is None) or len({len(oid) for oid in ids}) > 1 \
                or order != sorted(set(order)):
            raise Malformed("word")
        return "word", value
    except Malformed:
        statements = [key for key in value if key != "signature"] if isinstance(value, dict) else []
        kind = value[statements[0]].get("type") if len(statements) == 1 and isinstance(value[statements[0]], dict) else None
        known = ("git-proof/anchor@1", "git-proof/word@1")
        if isinstance(kind, str) and re.fullmatch(r"[A-Za-z0-9/.-]*/[A-Za-z0-9/.-]*@[0-9]{1,9}", kind) and kind not in known:
            return "unknown", value
        raise


# --- seals and their log ----------------------------------------------------------------------------------------------

def read_seal(text):
    seal = fields(strict(text), genesis=is_digest, log=lambda v: bool(fields(v, root=is_digest, size=is_count)),
                  opened_at=is_time, parents=lambda v: isinstance(v, list), previous=is_digest_or_null, root=is_digest,
                  round=is_one_up, sealed_at=is_time, sessions=lambda v: isinstance(v, list) and v != [],
                  type=lambda v: v == "git-proof/seal@1")
    for parent in seal["parents"]:
        fields(parent, root=is_digest, session_id=is_id)
    for session in seal["sessions"]:
        sealed_session(session)
    return seal


def sealed_session(session):
    return fields(session, anchors=lambda v: isinstance(v, list) and v != [] and all(map(is_digest, v)) and v == sorted(set(v)),
                  count=is_one_up, root=is_digest, scheme=is_scheme, session_id=is_id)


class Rounds:
    """The chain of seals, as far as it holds."""

    def __init__(self):
        self.last, self.hash, self.leaves, self.sealed = None, None, [], set()

    def push(self, text):
        seal, last = read_seal(text), self.last
        ids = [session["session_id"] for session in seal["sessions"]]
        parents = [{"root": s["root"], "session_id": s["session_id"]} for s in last["sessions"]] if last else []
        head = {"parents": parents, "previous": self.hash, "round": last["round"] + 1 if last else 1}
        leaves = self.leaves + [sha(b"\0", canonical(session).encode()) for session in seal["sessions"]]
        roots = [bytes.fromhex(session["root"]) for session in seal["sessions"]]
        pairs = {(session["session_id"], session["root"]) for session in seal["sessions"]}
        for why, right in (
            ("a session twice", len(set(ids)) == len(ids)),
            ("head", all(seal[name] == value for name, value in head.items())),
            ("genesis", seal["genesis"] == sha(canonical(head).encode()).hex()),
            ("root", seal["root"] == tree("v1", roots).hex()),
            ("log", seal["log"] == {"root": tree("v1-rfc9162", leaves).hex(), "size": len(leaves)}),
            ("sealed_at", last is None or seal["sealed_at"] >= last["sealed_at"]),
            ("sealed before", not pairs & self.sealed),
        ):
            if not right:
                raise Malformed(why)
        self.last, self.hash, self.leaves, self.sealed = seal, sha(text).hex(), leaves, self.sealed | pairs
        return seal


def consistency(leaves, m):
    """The proof that the log of these leaves begins with its first m."""
    a, b, noted = 0, len(leaves), []
    while b != m:
        s = a + (1 << (b - a - 1).bit_length() - 1)
        if m <= s:
            noted, b = noted + [tree("v1-rfc9162", leaves[s:b])], s
        else:
            noted, a = noted + [tree("v1-rfc9162", leaves[a:s])], s
    return (noted + [tree("v1-rfc9162", leaves[a:b])] if a else noted)[::-1]


def path(leaves, index):
    """The hashes of an inclusion proof in v1-rfc9162."""
    level, steps = leaves, []
    while len(level) > 1:
        if index % 2:
            steps.append(level[index - 1])
        elif index + 1 < len(level):
            steps.append(level[index + 1])
        last = [level[-1]] if len(level) % 2 else []
        level = [node("v1-rfc9162", level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)] + last
        index //= 2
    return steps


# --- trailers ---------------------------------------------------------------------------------------------------------

SPACE = b" \t\n\r"
SCISSORS = b"# " + b"-" * 24 + b" >8 " + b"-" * 24 + b"\n"


def key_of(line):
    match = re.match(rb"([A-Za-z0-9-]+)[ \t]*:", line)
    return match and match.group(1)


def ours(line):
    return line.strip(b" \t\n\r\f\v")[:6].lower() == b"proof-"


def text_of(message):
    """The lines that are read: before a NUL, scissors, and the tail that says nothing."""
    lines = [line for line in re.split(rb"(?<=\n)", message.split(b"\0")[0]) if line]
    if SCISSORS in lines:
        lines = lines[:lines.index(SCISSORS)]
    tail, within = None, False
    for at, line in enumerate(lines):
        conflicts = line.rstrip(b"\n") == b"Conflicts:"
        within = within or conflicts
        if conflicts or line.startswith(b"#") or line == b"\n":
            tail = at if tail is None and at > 0 else tail
        elif not (within and line.startswith(b"\t")) and tail is not None:
            tail, within = None, False
    return lines[:tail]


def block_of(lines):
    """Where the trailer block begins; the number of lines if there is none."""
    blank = lambda line: not line.strip(SPACE)
    title = next((at for at, line in enumerate(lines) if blank(line) and not line.startswith(b"#")), len(lines))
    trailers = others = pending = 0
    known, only_blank = False, True
    for at in range(len(lines) - 1, title - 1, -1):
        line = lines[at]
        if line.startswith(b"#"):
            others, pending = others + pending, 0
        elif blank(line):
            if only_blank:
                continue
            others += pending
            return at + 1 if trailers and not others or known and trailers * 3 >= others else len(lines)
        else:
            only_blank = False
            if line.startswith((b"Signed-off-by: ", b"(cherry picked from commit ")):
                trailers, pending, known = trailers + 1, 0, True
            elif line[:1] in (b" ", b"\t", b"\r"):
                pending += 1
            elif key_of(line):
                trailers, pending, known = trailers + 1, 0, known or ours(line)
            else:
                others, pending = others + 1 + pending, 0
    return len(lines)


def folded(lines):
    """Trailers with their continuation lines as (key, value), other lines as (None, line)."""
    found, open_ = [], False
    for line in lines:
        if line[:1] in (b" ", b"\t", b"\r", b"\n") and open_:
            found[-1][1] += line
        else:
            key = key_of(line)
            open_ = bool(key)
            found.append([key, line.split(b":", 1)[1] if key else line])
    unfold = lambda value: re.sub(rb"\n[ \t\r\n]*", b" ", value.strip(SPACE))
    return [(key, unfold(value) if key else value) for key, value in found]


def trailers(message):
    """({root: [...], session: [...], grade: n}, strays): strays are (kind, text)."""
    lines = text_of(message)
    at = block_of(lines)
    before, block, after = lines[:at], lines[at:], message[sum(map(len, lines)):]
    unread = [line for line in block if line[:1] in (b" ", b"\t", b"\r", b"\n") or not key_of(line)]
    strays = [("outside", shown(line)) for line in before + unread + re.split(rb"[\0\n]", after) if ours(line)]
    found = []
    for key, value in folded(block):
        if key is None or not key.lower().startswith(b"proof-"):
            continue
        key, value = key.decode(), value.decode(errors="replace")
        name = key.lower()[6:]
        if name == "root":
            parts = value.split(":")
            good = len(parts) == 4 and is_id(parts[0]) and is_scheme(parts[1]) and is_digest(parts[2]) \
                and re.fullmatch("[1-9][0-9]*", parts[3]) and int(parts[3]) <= MAX
        elif name in ("session", "grade"):
            good = is_id(value) if name == "session" else value == "true"
        else:
            strays.append(("unknown key", key))
            continue
        if good:
            found.append((name, value))
        else:
            strays.append(("malformed", f"{key}: {value}"))
    return found, strays


def shown(line):
    return line.strip(SPACE).decode(errors="replace")


def message_lines(message):
    """The lines that proof_grade.trailers is held against."""
    shown_ = [line for line in re.split(rb"(?<=\n)", message.split(b"\0")[0]) if line]
    for key, value in folded(shown_):
        text = value.rstrip().decode(errors="replace")
        yield f"{key.decode()}: {text}" if key else text

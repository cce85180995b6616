#!/usr/bin/env python3
"""Makes numbers.json, notes.json, trailers.json, logs.json and seals.json with the second implementation (tests/spec), so that
two programs have to agree on each of them. Gives the same bytes every time.

    tests/vectors/make.py
"""
import base64, json, pathlib, random, struct, sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "../spec"))
import proofbytes as spec  # noqa: E402

FORMAT = HERE / "../format"
random.seed(16)


def save(name, cases):
    lines = ",\n".join(json.dumps(case, ensure_ascii=True) for case in cases)
    (HERE / f"{name}.json").write_text(f"[\n{lines}\n]\n")
    print(name, len(cases))


# --- numbers: the bits of a double, and its text; null where it has no canonical form -----------------------------------

doubles = [0.0, -0.0, 2.0**-44, 5e-324, -5e-324, 1e21, 1e21 - 2**17, 1e20, 1e22, 1e23, 9007199254740991.0, 9007199254740992.0,
           -9007199254740991.0, -9007199254740992.0, 1.152921504606847e18, 1.7976931348623157e308, 2.2250738585072014e-308,
           2.225073858507201e-308, 1e-6, 1e-7, 1.5e-7, 0.1, 0.3, 1 / 3, 100.0, 4.35, 333333333.33333329, 1e-5, 123456789.125,
           5e-7, 9.5e-7, 4503599627370496.5, 9007199254740990.5, 1.1e21, 9.999999999999999e20, 2.0**70, 1.0, -1.5, 1e300]
doubles += [2.0**power for power in range(-1074, 1024, 13)]
doubles += [2.0**power * (1 - 2.0**-53) for power in range(-1000, 1024, 101)]
while len(doubles) < 400:
    value = struct.unpack(">d", random.randbytes(8))[0]
    doubles += [value] if value == value and abs(value) != float("inf") else []


def text(value):
    try:
        return spec.number(value)
    except spec.Malformed:
        return None


save("numbers", [{"bits": struct.pack(">d", value).hex(), "text": text(value)} for value in doubles])

# --- notes: a line, what it is, and the finding that it is where it is in the note of a commit ----------------------------

anchor = (FORMAT / "anchor.line").read_text().rstrip("\n")
signed = (FORMAT / "anchor-signed.line").read_text().rstrip("\n")
seal = (FORMAT / "seal.line").read_text().rstrip("\n")
word = (FORMAT / "word.line").read_text().rstrip("\n")
upper = anchor.replace('"root":"f3ae', '"root":"F3AE')
lines = [
    ("an anchor", anchor), ("an anchor with a signature", signed), ("a signature of a seal", seal), ("a person's word", word),
    ("an empty line", ""), ("white space", " \t\r\f "), ("junk", "junk"), ("null", "null"), ("an array", "[]"), ("an empty object", "{}"),
    ("a space before the anchor", " " + anchor), ("a space after it", anchor + " "), ("a carriage return", anchor + "\r"),
    ("a byte is gone", anchor[:-1]), ("two anchors", anchor + anchor), ("white space between tokens", anchor.replace(":", ": ", 1)),
    ("keys in another order", anchor.replace('"anchored_at":"2026-03-01T09:01:01.000Z",', "").replace("}}", ',"anchored_at":"2026-03-01T09:01:01.000Z"}}')),
    ("an upper-case digit", upper), ("count 0", anchor.replace('"count":3', '"count":0')), ("count -1", anchor.replace('"count":3', '"count":-1')),
    ("count 3.5", anchor.replace('"count":3', '"count":3.5')), ("count 3.0", anchor.replace('"count":3', '"count":3.0')),
    ("count 03", anchor.replace('"count":3', '"count":03')), ("a count of 2^53-1", anchor.replace('"count":3', '"count":9007199254740991')),
    ("a count of 2^53", anchor.replace('"count":3', '"count":9007199254740992')), ("a scheme that is not known", anchor.replace('"scheme":"v1"', '"scheme":"v2"')),
    ("scheme ams-v0", anchor.replace('"scheme":"v1"', '"scheme":"ams-v0"')), ("no change id", anchor.replace('"705d6e3ef2f3dbbbe9cf5e9d646ac5bb067ad973057ffb6871b815d1eb516fac"', "null")),
    ("no task", anchor.replace('"T-1"', "null")), ("an empty task", anchor.replace('"T-1"', '""')), ("a task with U+0000", anchor.replace("T-1", "T\\u0000")),
    ("a task with an escape that is not needed", anchor.replace("T-1", "T\\/1")), ("a task with a lone surrogate", anchor.replace("T-1", "\\ud800")),
    ("a session id with a slash", anchor.replace('"s-1"', '"s/1"')), ("a session id of 128", anchor.replace('"s-1"', '"' + "s" * 128 + '"')),
    ("a session id of 129", anchor.replace('"s-1"', '"' + "s" * 129 + '"')), ("a day that does not exist", anchor.replace("2026-03-01T09", "2026-02-29T09")),
    ("a leap day", anchor.replace("2026-03-01T09", "2024-02-29T09")), ("a leap second", anchor.replace("09:01:01", "09:01:60")), ("no milliseconds", anchor.replace(".000Z", "Z")),
    ("another zone", anchor.replace(".000Z", ".000+00:00")), ("one more field", anchor.replace('"tree":', '"title":"x","tree":')), ("a field less", anchor.replace(',"task_id":"T-1"', "")),
    ("a key twice", anchor.replace('"count":3', '"count":3,"count":3')), ("ids of two lengths", anchor.replace('"tree":"e8e7', '"tree":"' + "0" * 24 + "e8e7")),
    ("a later version", anchor.replace("anchor@1", "anchor@2")), ("a later version, signed", signed.replace("anchor@1", "anchor@2")), ("an earlier version of no number", anchor.replace("anchor@1", "anchor@")),
    ("a version of ten digits", anchor.replace("anchor@1", "anchor@1234567890")), ("a type without a name space", anchor.replace("git-proof/anchor@1", "anchor@2")),
    ("a type with a space", anchor.replace("git-proof/anchor@1", "git proof/anchor@2")), ("another statement", '{"statement":{"type":"example.org/a-b@7"}}'),
    ("another statement, not canonical", '{"statement": {"type":"example.org/a-b@7"}}'), ("two statements", '{"a":{"type":"x/y@1"},"b":{"type":"x/y@1"}}'),
    ("a statement of a known type under another name", '{"statement":{"type":"git-proof/anchor@1"}}'), ("a statement without a type", '{"statement":{}}'),
    ("an anchor under the name of a word", anchor.replace('{"anchor":', '{"word":')), ("an empty signature", anchor[:-1] + ',"signature":""}'),
    ("a signature that is no base64", anchor[:-1] + ',"signature":"a b="}'), ("base64 without padding", anchor[:-1] + ',"signature":"TQ"}'),
    ("base64 with spare bits", anchor[:-1] + ',"signature":"TR=="}'), ("base64 that is no SSH signature: for the verifier to say", anchor[:-1] + ',"signature":"TWFu"}'),
    ("a signature of 8,193 bytes: for the verifier to say", anchor[:-1] + ',"signature":"' + base64.b64encode(bytes(8193)).decode() + '"}'),
    ("a word without a signature", '{"word":' + word.split(',"word":')[1]), ("a word with a base and no head", word.replace('"head":"dbcfa2de82f2b8c2f67ffee930c2d4f36cdc715e"', '"head":null')),
    ("a word for no range", word.replace('"head":"dbcfa2de82f2b8c2f67ffee930c2d4f36cdc715e"', '"head":null').replace('"base":"cf6681a5820ffeec76ca56416dfbe5e98990b249"', '"base":null')),
    ("a word of a later version", word.replace("word@1", "word@2")), ("a word that names no session", word[: word.index('"sessions":[') + 12] + word[word.index('],"tree"'):]),
    ("a word that names a session twice", word.replace('"sessions":[{', '"sessions":[' + word[word.index('"sessions":[') + 12 : word.index('],"tree"')] + ",{")),
    ("a word without a reason", word.replace("Merged by hand: main had changed the line above.", "")), ("a reason of 4,096 bytes", word.replace("Merged by hand: main had changed the line above.", "r" * 4096)),
    ("a reason of 4,097 bytes", word.replace("Merged by hand: main had changed the line above.", "r" * 4097)), ("a seal line without a signature", seal.split(',"signature"')[0] + "}"),
    ("a seal line with a short hash", seal.replace('"seal":"e3', '"seal":"')), ("a byte order mark", "\ufeff" + anchor), ("a vertical tab alone", "\v"),
]
cases = []
for what, line in lines:
    try:
        kind, value = spec.note_line(line.encode())
    except spec.Malformed:
        kind, value = "malformed", None
    case = {"what": what, "line": line, "kind": kind}
    if kind == "anchor":
        case["id"] = spec.sha(spec.canonical(value["anchor"]).encode()).hex()
    severity = {"malformed": "error", "unknown": "warning", "seal": "warning"}.get(kind)
    if severity:
        case["finding"] = {"ANCHOR_MALFORMED": severity}
    cases.append(case)
save("notes", cases)

# --- trailers: a message, what is read of it, and what is only reported ---------------------------------------------------

R = f"Proof-Root: s-1:v1:{'0123456789abcdef' * 4}:3"
S = "Signed-off-by: Ada <ada@example.com>"
messages = [
    "", "Title", "Title\n", "Title\n\nBody.\n", f"Title\n\n{R}\n", f"Title\n\nBody.\n\n{R}\n{S}\n", f"Title\n\nBody.\n\n{R}", f"{R}\n", f"Title\n{R}\n",
    f"Title\n\n{R}\n\n\n", f"Title\n\n{R}\n\nMore text.\n", f"Title\n\n{R}\n# a comment\n", f"Title\n\n{R}\n---\nfile | 1 +\n", f"Title\n\n---\n\n{R}\n",
    "Title\n\nProof-Session: s-1\nProof-Grade: true\n", "Title\n\nproof-SESSION : s-1\n", "Title\n\nProof-Session:s-1\n", "Title\n\nProof-Session:\ts-1  \n",
    "Title\n\nProof-Session: s-1\n and more\n", "Title\n\nProof-Session:\n s-1\n", "Title\n\nProof-Session: s-1\n\n and more\n", "Title\n\n Proof-Session: s-1\n",
    "Title\n\nProof-Grade: yes\n", "Title\n\nProof-Grade: True\n", "Title\n\nProof-Grade: true\nProof-Grade: true\n", "Title\n\nProof-Other: x\n", "Title\n\nProof-: x\n", "Title\n\nProof: x\n",
    "Title\n\nProof-Root: s-1\n", f"Title\n\n{R.replace(':3', ':0')}\n", f"Title\n\n{R.replace(':3', ':03')}\n", f"Title\n\n{R.replace(':3', ':+3')}\n", f"Title\n\n{R.replace(':3', ':9007199254740991')}\n",
    f"Title\n\n{R.replace(':3', ':9007199254740992')}\n", f"Title\n\n{R.replace('abcdef', 'ABCDEF')}\n", f"Title\n\n{R.replace(':v1:', ':v9:')}\n", f"Title\n\n{R}:4\n",
    f"Title\n\nOne line.\nAnother.\n{R}\n", f"Title\n\nOne line.\nAnother.\nA third.\n{R}\n", f"Title\n\nOne line.\nAnother.\nA third.\nA fourth.\n{R}\n", f"Title\n\nOne.\nTwo.\nThree.\nFour.\nFive.\n{R}\n{S}\n",
    "Title\n\nOne line.\nKey: value\nProof-Session: s-1\n", "Title\n\nOne line.\nKey: value\n", f"Title\n\n(cherry picked from commit {'0' * 40})\nProof-Session: s-1\n",
    f"Title\n\n{R}\n# ------------------------ >8 ------------------------\nProof-Session: s-2\n", f"Title\n\n{R}\n\nConflicts:\n\tfile\n", f"Title\n\n{R}\n\nConflicts:\n\tProof-Session: s-2\n",
    f"Title\n\n{R}\n\n# Conflicts:\n#\tfile\n", f"Title\n\n{R}\0\nProof-Session: s-2\n", "Title\0Proof-Session: s-2\n", f"# comment\n\n{R}\n", f"\n{R}\n", f"\n\n{R}\n", "Title\n\nText about\n  proof-session: nothing\n",
    "Title\n\nProof-Session: s-1\n# comment\n continued\n", "Title\n\nProof-Session: s-1\r\n", "Title\r\n\r\nProof-Session: s-1\r\n", "Title\n\nKey: value\n Proof-Session: s-1\n", "Title\n\n\tindented\nProof-Session: s-1\n",
    "Title\n\nProof-Session: s-1\n\tindented\n", "Title\n\nProof-Session: a b\n", "Title\n\nProof-Session: -a\n", "Title\n\nProof Session: s-1\nProof-Session: s-1\n", "Title\n \nProof-Session: s-1\n", "Title\n#\nProof-Session: s-1\n",
    f"Title\n\nBody.\n\nKey: value\n\n{R}\n", f"Title\n\n{R}\n{R}\n", "Title\n\nProof-Session: s-1\nnot a trailer\n", "Title\n\nProof-Session: s-1\nnot a trailer\nnor this\nnor this\nnor this\n",
]
cases = []
for message in messages:
    found, strays = spec.trailers(message.encode())
    names = {"root": "Proof-Root", "session": "Proof-Session", "grade": "Proof-Grade"}
    cases.append({"message": message, "trailers": [f"{names[name]}: {value}" for name, value in found], "strays": [list(stray) for stray in strays]})
save("trailers", cases)

# --- logs: proofs about the log as files, against a log that is trusted ----------------------------------------------------

sessions = [{"anchors": [spec.sha(b"anchor", bytes([n])).hex()], "count": n + 1, "root": spec.sha(b"root", bytes([n])).hex(), "scheme": "v1", "session_id": f"s-{n}"} for n in range(13)]
leaves = [spec.sha(b"\0", spec.canonical(session).encode()) for session in sessions]
root = lambda size: spec.tree("v1-rfc9162", leaves[:size]).hex()
log = lambda size: {"root": root(size), "round": size, "size": size}
cases = []


def case(desc, value, size, valid, text=None):
    cases.append({"desc": desc, "line": text or spec.canonical(value), "trusted": {"root": root(size), "size": size}, "valid": valid})


for n in range(1, 14):
    for m in range(1, n + 1):
        proof = [step.hex() for step in spec.consistency(leaves[:n], m)]
        good = {"from": log(m), "proof": proof, "to": log(n), "type": "git-proof/consistency@1"}
        case(f"{m} to {n}", good, n, True)
        if n in (5, 8, 13) and m in (1, 3, 4, 5, 8, n):
            case(f"{m} to {n}, another trusted log", good, n - 1, False)
            case(f"{m} to {n}, a step more", {**good, "proof": proof + [root(1)]}, n, False)
            case(f"{m} to {n}, another old root", {**good, "from": {**log(m), "root": root(13) if m < 13 else root(1)}}, n, False)
            if proof:
                case(f"{m} to {n}, a step less", {**good, "proof": proof[:-1]}, n, False)
                case(f"{m} to {n}, another step", {**good, "proof": [spec.sha(b"x").hex()] + proof[1:]}, n, False)
    for index in range(n):
        proof = [step.hex() for step in spec.path(leaves[:n], index)]
        good = {"index": index, "log": log(n), "proof": proof, "session": sessions[index], "type": "git-proof/logged@1"}
        case(f"session {index} of {n}", good, n, True)
        if n in (5, 8, 13) and index in (0, 3, 4, n - 1):
            case(f"session {index} of {n}, another index", {**good, "index": (index + 1) % n}, n, False)
            case(f"session {index} of {n}, an index beyond the end", {**good, "index": n}, n, False)
            case(f"session {index} of {n}, another session", {**good, "session": sessions[(index + 1) % n]}, n, False)
            case(f"session {index} of {n}, a step more", {**good, "proof": proof + [root(1)]}, n, False)
            case(f"session {index} of {n}, a step less", {**good, "proof": proof[:-1]}, n, False)
            case(f"session {index} of {n}, another trusted log", good, n - 1, False)
good = {"from": log(2), "proof": [step.hex() for step in spec.consistency(leaves[:5], 2)], "to": log(5), "type": "git-proof/consistency@1"}
for desc, text_ in (("white space", spec.canonical(good).replace(":", ": ", 1)), ("a type of a later version", spec.canonical(good).replace("consistency@1", "consistency@2")),
                    ("from size 0", spec.canonical({**good, "from": {**log(2), "size": 0}})), ("two newlines", spec.canonical(good) + "\n\n")):
    case(desc, None, 5, False, text_)
case("one newline", None, 5, True, spec.canonical(good) + "\n")
save("logs", cases)

# --- seals: chains, and the round where each breaks; null if it holds ------------------------------------------------------

chain = [case["seal"] for case in json.loads((HERE / "rounds.json").read_text())]


def resealed(seals):
    """The same sessions, sealed again from the first round on, so that only what was meant to be wrong is."""
    rounds, made = spec.Rounds(), []
    for seal in seals:
        last = rounds.last
        parents = [{"root": s["root"], "session_id": s["session_id"]} for s in last["sessions"]] if last else []
        head = {"parents": parents, "previous": rounds.hash, "round": len(made) + 1}
        grown = rounds.leaves + [spec.sha(b"\0", spec.canonical(s).encode()) for s in seal["sessions"]]
        seal = {**seal, **head, "genesis": spec.sha(spec.canonical(head).encode()).hex(),
                "root": spec.tree("v1", [bytes.fromhex(s["root"]) for s in seal["sessions"]]).hex(),
                "log": {"root": spec.tree("v1-rfc9162", grown).hex(), "size": len(grown)}}
        made.append(seal)
        try:
            rounds.push(spec.canonical(seal).encode())
        except spec.Malformed:
            break
    return made


def edited(at, **fields):
    return [{**seal, **(fields if number == at else {})} for number, seal in enumerate(chain)]


zero = "0" * 64
twice = [*chain[1]["sessions"], chain[1]["sessions"][0]]
anchors = lambda *ids: [{**chain[1]["sessions"][0], "anchors": list(ids)}, *chain[1]["sessions"][1:]]
tampered = [
    ("whole", chain), ("sealed again, the same", resealed(chain)), ("another round number", edited(1, round=3)), ("another hash of the seal before", edited(1, previous=zero)), ("no seal before", edited(1, previous=None)),
    ("a seal before the first", edited(0, previous=zero)), ("other parents", edited(1, parents=[])), ("another genesis", edited(1, genesis=zero)), ("another root", edited(1, root=zero)),
    ("another root of the log", edited(1, log={**chain[1]["log"], "root": zero})), ("another size of the log", edited(1, log={**chain[1]["log"], "size": 1})), ("sealed before the one before", edited(1, sealed_at="2000-01-01T00:00:00.000Z")),
    ("opened after it was sealed, which nobody checks", resealed(edited(3, opened_at="2999-01-01T00:00:00.000Z"))), ("no sessions", edited(1, sessions=[])), ("a session twice in a round", resealed(edited(1, sessions=twice))),
    ("a session sealed again in a later round", resealed(edited(2, sessions=[*chain[2]["sessions"], chain[0]["sessions"][0]]))),
    ("the same session with another root in a later round", resealed(edited(2, sessions=[*chain[2]["sessions"], {**chain[0]["sessions"][0], "root": zero}]))),
    ("a session dropped from the second round", edited(1, sessions=chain[1]["sessions"][1:] or [{**chain[1]["sessions"][0], "count": 77}])), ("another count of a session", edited(0, sessions=[{**chain[0]["sessions"][0], "count": 99}, *chain[0]["sessions"][1:]])),
    ("no anchors", edited(1, sessions=anchors())), ("an anchor twice", edited(1, sessions=anchors(zero, zero))), ("anchors out of order", edited(1, sessions=anchors("f" * 64, zero))),
    ("the first round is gone", chain[1:]), ("the second round is gone", [chain[0], *chain[2:]]), ("two rounds swapped", [chain[0], chain[2], chain[1], chain[3]]), ("a round twice", [*chain[:2], chain[1], *chain[2:]]),
    ("a field more", edited(1, title="x")), ("another type", edited(1, type="git-proof/seal@2")),
]
cases = []
for desc, seals in tampered:
    rounds, broken, texts = spec.Rounds(), None, [spec.canonical(seal) for seal in seals]
    for number, text_ in enumerate(texts, 1):
        try:
            rounds.push(text_.encode())
        except spec.Malformed:
            broken = number
            break
    cases.append({"desc": desc, "seals": texts, "broken_at": broken})
texts = [spec.canonical(seal) for seal in chain]
for desc, first in (("a newline at the end", texts[0] + "\n"), ("white space", texts[0].replace(":", ": ", 1))):
    cases.append({"desc": desc, "seals": [first, *texts[1:]], "broken_at": 1})
save("seals", cases)

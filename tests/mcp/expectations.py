"""What both clients count and compute; nothing of it is the code under test."""

import hashlib
import os
import subprocess

_passed = _failed = 0


def stage(home):
    """Stages a change, which the reflection of a session then names."""
    with open(os.path.join(home, "file"), "a") as file:
        file.write("one more\n")
    subprocess.run(["git", "add", "file"], cwd=home, check=True)


def commit(home):
    """Commits what is staged."""
    subprocess.run(["git", "commit", "-q", "-m", "a commit"], cwd=home, check=True)


def flat(tree):
    """The entries of thought_tree in order of recording, nested or not."""
    if "entries" in tree:
        return tree["entries"]
    found, waiting = [], list(tree["children"])
    while waiting:
        node = waiting.pop()
        waiting.extend(node["children"])
        found.append(node)
    return sorted(found, key=lambda entry: entry["index"])


def expect(what, condition):
    global _passed, _failed
    if condition:
        _passed += 1
    else:
        _failed += 1
        print(f"FAILED: {what}")


def tally():
    """Prints how it went; the answer is the exit code."""
    print(f"{_passed} passed, {_failed} failed")
    return 1 if _failed else 0


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def merkle_root(leaves):
    """Raw pairs, level by level; the last node of an odd level is paired with itself."""
    while len(leaves) > 1:
        leaves = [sha256(leaves[at], leaves[min(at + 1, len(leaves) - 1)]) for at in range(0, len(leaves), 2)]
    return leaves[0].hex()

"""What both clients count and compute; nothing of it is the code under test."""

import hashlib
import os
import subprocess

_passed = _failed = 0


def commit(home):
    """Makes a commit in the repository."""
    with open(os.path.join(home, "file"), "a") as file:
        file.write("one more\n")
    for arguments in (["add", "file"], ["commit", "-q", "-m", "a commit"]):
        subprocess.run(["git", *arguments], cwd=home, check=True)


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

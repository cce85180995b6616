#!/usr/bin/env python3
"""wheel.py TREE VERSION INTO: a Python wheel that carries the binary, so that `uvx git-proof mcp` and pipx run it.

build.sh exports the TRIPLE that the binary was built for and how it is LINKED. The wheel is written by hand, because it holds no
Python package: there is nothing to import, and one file to put on the path.
"""

import base64
import hashlib
import os
import pathlib
import re
import sys
import time
import zipfile

SUMMARY = "Anchors the reasoning behind a change to the commit it explains, and lets anyone with a clone check it"


def platform_tag(binary: bytes) -> str:
    """Where installers may put the wheel (PEP 600, PEP 656, and Apple's names)."""
    machine = os.environ["TRIPLE"].split("-")[0]
    if os.environ["LINKED"] == "macos":
        # The oldest macOS that Rust's standard library supports on each processor.
        return "macosx_11_0_arm64" if machine == "aarch64" else "macosx_10_12_x86_64"
    if os.environ["LINKED"] == "static":
        return f"manylinux_2_17_{machine}.musllinux_1_1_{machine}"
    # The oldest glibc that has every symbol which the binary asks for.
    minors = [int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)\b", binary)]
    return f"manylinux_2_{max(minors)}_{machine}"


def metadata(version: str, readme: str) -> str:
    fields = [
        "Metadata-Version: 2.4",
        "Name: git-proof",
        f"Version: {version}",
        f"Summary: {SUMMARY}",
        "License-Expression: MIT OR Apache-2.0",
        "License-File: LICENSE-APACHE",
        "License-File: LICENSE-MIT",
        "Keywords: git,provenance,merkle,audit,mcp",
        "Project-URL: Repository, https://github.com/git-proof/git-proof",
        "Classifier: Environment :: Console",
        "Classifier: Operating System :: MacOS",
        "Classifier: Operating System :: POSIX :: Linux",
        "Classifier: Topic :: Software Development :: Version Control :: Git",
        "Requires-Python: >=3.8",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(fields) + "\n\n" + readme


def main() -> None:
    tree, version, into = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    doc = tree / "share/doc/git-proof"
    binary = (tree / "bin/git-proof").read_bytes()
    platforms = platform_tag(binary)
    tag = f"py3-none-{platforms}"
    name = f"git_proof-{version}"
    info, data = f"{name}.dist-info", f"{name}.data"
    files = {f"{data}/scripts/git-proof": (binary, 0o755)}
    for page in sorted((tree / "share/man/man1").iterdir()):
        files[f"{data}/data/share/man/man1/{page.name}"] = (page.read_bytes(), 0o644)
    # The name holds several platforms with dots between them; the file lists them one by one.
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in platforms.split("."))
    wheel = f"Wheel-Version: 1.0\nGenerator: git-proof\nRoot-Is-Purelib: false\n{tags}"
    files[f"{info}/METADATA"] = (metadata(version, (doc / "README.md").read_text("utf-8")).encode(), 0o644)
    files[f"{info}/WHEEL"] = (wheel.encode(), 0o644)
    for licence in ("LICENSE-APACHE", "LICENSE-MIT"):
        files[f"{info}/licenses/{licence}"] = ((doc / licence).read_bytes(), 0o644)

    record = ""
    for path, (content, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = ((record + f"{info}/RECORD,,\n").encode(), 0o644)

    # Archives of this kind know no time before 1980.
    when = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))[:6]
    with zipfile.ZipFile(into / f"{name}-{tag}.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, (content, mode) in files.items():
            entry = zipfile.ZipInfo(path, when)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)


if __name__ == "__main__":
    main()

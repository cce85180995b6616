"""What real readers make of the gate's reports and of the comment of a report: the schema of SARIF, an XML parser, and GitHub's Markdown renderer.

    python tests/report/readers.py path/to/git-proof path/to/sarif-schema-2.1.0.json

Ends with "N passed, N failed" on a line of its own, and with 1 if anything failed.
"""

import json
import os
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from xml.etree import ElementTree

import cmarkgfm
import jsonschema

passed = failed = 0

HOSTILE = [
    b"\x1b[2J\x1b]8;;http://evil.example\x07link",
    b"::error::forged ##[error]forged",
    b"]]></failure><script>alert(1)</script> & &amp; \"quoted'",
    b"<img src=x onerror=alert(1)> <!-- open",
    b"@octocat #1 owner/repo#2 https://evil.example www.evil.example a@evil.example [x](http://evil.example)",
    b"a | b \\| c \\\\| d ` `` ``` **bold** $x$ $`y`$ ends in a backslash \\",
    b"```",
    b"` | `",
    b"\\",
    "𝕏 \u202egpj.exe \u200b \u2028 \ufffe".encode(),
    b"NUL \0 and \xff\xfe\xed\xa0\x80 bytes\r",
    b"",
]


def expect(what, condition):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print(f"FAILED: {what}")


class Page(HTMLParser):
    """The elements of a page, and its text outside of code."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.plain, self.code, self.cells = set(), "", 0, 0
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.code += tag == "code"
        self.cells += tag == "td"

    def handle_endtag(self, tag):
        self.code -= tag == "code"

    def handle_data(self, data):
        if not self.code:
            self.plain += data


def main(program, schema):
    place = tempfile.mkdtemp()
    who = {"NAME": "Ada", "EMAIL": "ada@example.org", "DATE": "1700000000 +0000"}
    environment = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
    environment |= {"PATH": os.environ["PATH"], "HOME": place, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*arguments, data=b""):
        ran = subprocess.run(["git", *arguments], cwd=place, env=environment, input=data, capture_output=True, check=True)
        return ran.stdout.decode().strip()

    def gate(form, exit_code=1):
        ran = subprocess.run(
            [program, "gate", "--base", "base", "--head", "head", "--format", form],
            cwd=place, env=environment, capture_output=True,
        )
        expect(f"{form}: exit code {exit_code}", ran.returncode == exit_code)
        return ran.stdout.decode()

    git("init", "--quiet")
    tree = git("hash-object", "-t", "tree", "-w", "/dev/null")
    head = git("commit-tree", "-m", "base", tree)
    for name in ("refs/heads/base", "refs/notes/proof"):
        git("update-ref", name, head)
    for subject in HOSTILE:
        line = "Ada <ada@example.org> 1700000000 +0000"
        text = f"tree {tree}\nparent {head}\nauthor {line}\ncommitter {line}\n\n".encode()
        text += subject + b"\n\nAssisted-by: x\nProof-Root: " + subject + b"\n"
        head = git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", data=text)
    git("update-ref", "refs/heads/head", head)

    validator = jsonschema.Draft7Validator(json.load(open(schema)), format_checker=jsonschema.FormatChecker())
    log = json.loads(gate("sarif"))
    for error in validator.iter_errors(log):
        expect(f"SARIF: {error.json_path}: {error.message}", False)
    results = log["runs"][0]["results"]
    expect("SARIF: a result for each commit", len(results) >= len(HOSTILE))
    for result in results:
        place_of = result["locations"][0]["physicalLocation"]
        expect("SARIF: a place for each result", place_of["artifactLocation"]["uri"] and place_of["region"]["startLine"] == 1)

    cases = ElementTree.fromstring(gate("junit").encode()).findall("./testsuite/testcase")
    expect("JUnit: a case for each commit", len(cases) == len(HOSTILE))
    expect("JUnit: each has failed", all(len(case.findall("failure")) == 1 for case in cases))
    expect("JUnit: nothing else is in it", all(set(child.tag for child in case) <= {"failure", "system-out"} for case in cases))

    page = Page(cmarkgfm.github_flavored_markdown_to_html(gate("markdown"), cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE))
    known = {"h3", "p", "table", "thead", "tbody", "tr", "th", "td", "code", "strong", "br", "ul", "ol", "li", "details", "summary"}
    expect(f"Markdown: only known elements, not {page.tags - known}", page.tags <= known)
    # Ten that failed are named first; the table has the rest.
    expect("Markdown: four cells for each commit that is not named above", page.cells == 4 * (len(HOSTILE) - 10))
    for word in ("evil", "octocat", "forged", "alert", "bold", "@", "#", "\\", "`"):
        expect(f"Markdown: no {word} outside of code", word not in page.plain)

    # The comment of a report, with the same words in a session.
    def proof(*arguments, data=b""):
        ran = subprocess.run([program, *arguments], cwd=place, env=environment, input=data, capture_output=True)
        expect(f"{arguments[0]}: {ran.stderr.decode()}", ran.returncode == 0)
        return ran.stdout.decode()

    git("checkout", "--quiet", "head")
    words = b"\n".join(HOSTILE).replace(b"\0", b"").decode(errors="ignore")
    proof("start", "--intent", words, "--session-id", "s1")
    proof("record", "--type", "decision", "--content-file", "-", data=words.encode() + b"\n````\nRejected: **bold** @octocat\n# forged")
    git("commit", "--quiet", "--allow-empty", "-m", "a change", "--cleanup=verbatim")
    proof("hook", "post-commit")
    proof("record", "--type", "reflection", "--content", words)
    proof("finalize")
    page = Page(cmarkgfm.github_flavored_markdown_to_html(proof("report", "HEAD"), cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE))
    known |= {"h4", "pre"}
    expect(f"report: only known elements, not {page.tags - known}", page.tags <= known)
    expect("report: decision and reflection", "decided:" in page.plain and "reflection:" in page.plain)
    for word in ("evil", "octocat", "forged", "alert", "bold", "@", "#", "\\", "`"):
        expect(f"report: no {word} outside of code", word not in page.plain)

    git("update-ref", "refs/heads/head", "base")
    expect("SARIF: an empty range", validator.is_valid(json.loads(gate("sarif", 0))))
    expect("JUnit: an empty range", ElementTree.fromstring(gate("junit", 0).encode()).get("tests") == "0")


main(os.path.abspath(sys.argv[1]), sys.argv[2])
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)

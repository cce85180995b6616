// Whether the page shows what its data block says. All of this is read once, before the script adds anything to the page.

// The elements, attributes and texts of the page as one text: what `written.rs` makes of the markup.
function asWritten() {
  const parts = [document.querySelector("title").textContent];
  const walk = (node) => {
    for (const child of node.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) parts.push(child.data);
      else if (child.nodeType === Node.ELEMENT_NODE) {
        parts.push("\u0001", child.localName);
        for (const { name, value } of child.attributes) {
          // A reader may have opened it already.
          if (name !== "open") parts.push("\u0002", name, "=", value);
        }
        parts.push("\u0003");
        walk(child);
        parts.push("\u0004");
      } else parts.push("\u0005");
    }
  };
  walk(document.body);
  return parts.join("").trimEnd();
}

const LONGEST = 8000;
const beginning = (text) => (text.length <= LONGEST ? text : [...text].slice(0, LONGEST).join(""));
// Text as it stands where there is only one line.
const onOneLine = (text) => visible(text).replace(/[\n\t]/g, spelled);
const short = (hash) => String(hash).slice(0, 12);

// The session sections of a commit: a squash has one session several times, once for each anchor.
function sectionsOf(commit) {
  const seen = new Set();
  return commit.sessions.filter(({ session, holds }) => {
    const key = `${session} ${holds}`;
    return !seen.has(key) && seen.add(key);
  });
}

// How many commits stand how, in a sentence without its full stop.
function countsOf(commits) {
  if (!commits.length) return "The range has no commits";
  const counts = ORDER.map((verdict) => [commits.filter((commit) => commit.verdict === verdict).length, verdict])
    .filter(([count]) => count)
    .map(([count, verdict]) => `${count} ${WORDS[verdict].counted}`);
  return `${commits.length} ${commits.length === 1 ? "commit" : "commits"}: ${counts.join(", ")}`;
}

// The worst of some verdicts, as the words of a headline.
function headlineOf(verdicts) {
  if (!verdicts.length) return { headline: NOTHING, sign: WORDS.exempt.sign, verdict: "exempt" };
  const verdict = verdicts.reduce((worst, next) => (WORDS[next].rank > WORDS[worst].rank ? next : worst));
  return { ...WORDS[verdict], verdict };
}

// Everything that stands in the page and in the data block, and differs: a list of {where, step, line}.
function compareShown() {
  const wrong = [];
  const differs = (where, what, expected, found, line) => {
    if (expected !== found) wrong.push({ where, step: { what: `${what} shown is not that of the data`, expected, found }, line });
  };
  const text = (root, selector) => root?.querySelector(selector)?.textContent;
  const hash = (where, what, expected, code) => {
    differs(where, what, short(expected), code?.textContent);
    differs(where, what, String(expected), code?.getAttribute("title"));
  };
  const top = "The top of the page";
  differs(top, "the headline", "? Not checked yet", text(document, ".top h1"));
  differs(top, "the verdict", headlineOf(data.commits.map(({ verdict }) => verdict)).headline, text(document, "#verdict"));
  differs(top, "the number of commits", countsOf(data.commits), text(document, "#counts"));
  for (const code of document.querySelectorAll("#claim code, .claims code"))
    differs(top, "the command", onOneLine(`git proof verify ${data.range}`), code.textContent);

  const rows = [...document.querySelectorAll("tr[data-ledger]")];
  differs("The table of roots", "the number of sessions", data.sessions.length, rows.length);
  data.sessions.forEach((session, at) => {
    const where = `The table of roots, session ${nameOf(session)}`;
    const row = rows[at];
    const anchor = (session.anchors[0] && readCanonical(session.anchors[0].text)) || {};
    const cells = [...(row?.cells || [])].map((cell) => cell.textContent);
    differs(where, "the place", String(at), row?.dataset.ledger);
    differs(where, "the session", onOneLine(String(anchor.session_id ?? "")), cells[0]);
    differs(where, "the scheme", String(anchor.scheme ?? ""), cells[1]);
    differs(where, "the number of entries", String(anchor.count ?? 0), cells[2]);
    hash(where, "the root", session.root, row?.querySelector(".root .hash"));
    differs(where, "the state", session.absent === undefined ? "" : "no evidence", cells[4]);
  });

  const articles = [...document.querySelectorAll(".commit")];
  differs("The list of commits", "the number of commits", data.commits.length, articles.length);
  data.commits.forEach((commit, at) => {
    const where = `Commit ${short(commit.commit)}`;
    const article = articles[at];
    const words = WORDS[commit.verdict] || {};
    differs(where, "the commit", `c-${commit.commit}`, article?.id);
    differs(where, "the colour of the verdict", `commit ${commit.verdict}`, article?.className);
    differs(where, "the sign", words.sign, text(article, ":scope > header .mark"));
    differs(where, "the subject", onOneLine(commit.subject || "(no subject)"), text(article, ":scope > header h3"));
    differs(where, "the verdict", words.word, text(article, ":scope > header .word"));
    hash(where, "the id", commit.commit, article?.querySelector(":scope > header .hash"));
    const sections = [...(article?.querySelectorAll(":scope > .session") || [])];
    const expected = sectionsOf(commit);
    differs(where, "the number of sessions", expected.length, sections.length);
    expected.forEach((bound, place) => compareSession(where, bound, sections[place], differs, hash));
  });
  return wrong;
}

function compareSession(commit, bound, section, differs, hash) {
  const session = data.sessions[bound.session];
  if (!session) return differs(commit, "the session", "one of the data", "none");
  const where = `${commit}, session ${nameOf(session)}`;
  const entry = session.anchors.find(({ id }) => id === bound.anchor);
  const anchor = (entry && readCanonical(entry.text)) || {};
  const facts = [...(section?.querySelectorAll(":scope > .facts > li") || [])];
  const fact = (at) => facts[at]?.textContent;
  const id = onOneLine(String(anchor.session_id));
  const opening = session.absent === undefined ? readLine(session.lines[0] || "", true).value : undefined;
  const intent = opening && typeof opening.intent === "string" ? visible(beginning(opening.intent)) : `Session ${id}`;
  differs(where, "the place", String(bound.session), section?.dataset.session);
  const first = { at: bound.session, number: 0 };
  differs(where, "the intent", intent, section?.querySelector(":scope > h4")?.textContent, first);
  differs(where, "the session", `session ${id}`, fact(0));
  differs(where, "the number of entries", anchor.count === 1 ? "1 entry" : `${anchor.count} entries`, fact(1));
  differs(where, "the root", `root ${short(session.root)}`, fact(2));
  hash(where, "the root", session.root, facts[2]?.querySelector(".hash"));
  differs(where, "what the session covers", bound.rooted ? "covers this change" : "does not cover this change", fact(3));
  differs(where, "whether the anchor holds", !bound.holds, facts[4]?.textContent === "its anchor does not hold");
  for (const item of section?.querySelectorAll(":scope > .story > [data-line]") || [])
    compareRecord(where, bound.session, item, differs);
}

// A decision or a reflection that stands in the page against its line of evidence.
function compareRecord(session, at, item, differs) {
  const number = Number(item.dataset.line),
    where = `${session}, line ${number}`,
    { lines } = data.sessions[at],
    box = item.querySelector(".text");
  const { value, body } = readLine((lines || [])[number] || "", false);
  const before = (text, whole) => (item.querySelector(".more") && text && whole.startsWith(text) ? text : whole);
  const shown = box?.textContent;
  const whole = visible(body || "");
  const same = body !== undefined && before(shown, whole) === shown;
  box?.classList.toggle("mismatch", !same);
  const line = { at, number };
  if (!same) differs(where, "the text", "what the evidence says", "another text", line);
  if (!value) return;
  const label = `${TITLES[value.type] || ""} ${when(value.timestamp)}`;
  differs(where, "the kind and time", label, item.querySelector(":scope > .label")?.textContent, line);
  differs(where, "the colour of the kind", String(value.type), item.className, line);
}

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

// The sessions of a commit: a squash has one session several times, once for each anchor.
function boundTo(commit) {
  const seen = new Set();
  return commit.sessions.filter(({ session, holds }) => {
    const key = `${session} ${holds}`;
    return !seen.has(key) && seen.add(key);
  });
}

// How commits stand, in a line of numbers.
function standingOf(verdicts, open) {
  const count = (wanted) => verdicts.filter((verdict) => verdict === wanted).length;
  const all = verdicts.length;
  const some = all === 1 ? "1 commit" : `${all} commits`;
  const parts = [!all ? "no commits" : count("pass") ? `${count("pass")} of ${all} ${WORDS.pass.counted}` : some];
  for (const verdict of ORDER)
    if (verdict !== "pass" && count(verdict)) parts.push(`${count(verdict)} ${WORDS[verdict].counted}`);
  if (open) parts.push(open === 1 ? "1 open question" : `${open} open questions`);
  return parts.join(" · ");
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
  const standing = standingOf(data.commits.map(({ verdict }) => verdict), data.open);
  differs(top, "the number of commits", standing, text(document, "#counts"));
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

  const listed = [...document.querySelectorAll(".commit")];
  differs("The list of commits", "the number of commits", data.commits.length, listed.length);
  for (const commit of data.commits) {
    const where = `Commit ${short(commit.commit)}`;
    const element = listed.find(({ id }) => id === `c-${commit.commit}`);
    const words = WORDS[commit.verdict] || {};
    differs(where, "the commit", true, element !== undefined);
    differs(where, "the colour of the verdict", `commit ${commit.verdict}`, element?.className);
    differs(where, "the sign", words.sign, text(element, ":scope > summary > .mark"));
    differs(where, "the subject", onOneLine(commit.subject || "(no subject)"), text(element, ":scope > summary > .subject"));
    differs(where, "the verdict", words.word, text(element, ":scope > summary > .word"));
    differs(where, "the id", short(commit.commit), text(element, ":scope > summary > .id"));
    hash(where, "the id", commit.commit, element?.querySelector(":scope > .facts .hash"));
    const bound = [...(element?.querySelectorAll(":scope > .bound") || [])];
    const expected = boundTo(commit);
    differs(where, "the number of sessions", expected.length, bound.length);
    expected.forEach((session, place) => compareBound(where, session, bound[place], differs));
  }

  const refused = data.commits.filter(({ verdict }) => ["missing", "fail", "unchecked"].includes(verdict));
  const named = [...document.querySelectorAll("#refused > ul > li")];
  differs(top, "the number of commits without a proof", refused.length, named.length);
  for (const { commit, subject, verdict } of refused) {
    const item = named.find((item) => item.querySelector("a")?.getAttribute("href") === `#c-${commit}`);
    const said = `${WORDS[verdict].word}: ${onOneLine(subject || "(no subject)")} ${short(commit)}`;
    differs(`Commit ${short(commit)}`, "what the top of the page says of it", said, text(item, "p"));
  }

  const sections = [...document.querySelectorAll(".session")];
  differs("The list of sessions", "the number of sessions", data.sessions.length, sections.length);
  data.sessions.forEach((session, at) => {
    const section = sections.find(({ dataset }) => dataset.session === String(at));
    compareSession(session, at, section, differs);
  });
  return wrong;
}

// How a session stands behind a commit.
function compareBound(commit, bound, list, differs) {
  const session = data.sessions[bound.session];
  if (!session) return differs(commit, "the session", "one of the data", "none");
  const where = `${commit}, session ${nameOf(session)}`;
  const entry = session.anchors.find(({ id }) => id === bound.anchor);
  const anchor = (entry && readCanonical(entry.text)) || {};
  const facts = [...(list?.children || [])].map((fact) => fact.textContent);
  differs(where, "the place", String(bound.session), list?.dataset.bound);
  differs(where, "the session", `session ${onOneLine(String(anchor.session_id))}`, facts[0]);
  differs(where, "what the session covers", bound.rooted ? "covers this change" : "does not cover this change", facts[1]);
  differs(where, "whether the anchor holds", !bound.holds, facts[2] === "its anchor does not hold");
}

function compareSession(session, at, section, differs) {
  const where = `Session ${nameOf(session)}`;
  const anchor = anchorOf(session) || {};
  const facts = [...(section?.querySelectorAll(":scope > .facts > li") || [])].map((fact) => fact.textContent);
  const id = onOneLine(String(anchor.session_id ?? ""));
  const opening = session.absent === undefined ? readLine(session.lines[0] || "", true).value : undefined;
  const intent = opening && typeof opening.intent === "string" ? visible(beginning(opening.intent)) : `Session ${id}`;
  differs(where, "the session", true, section !== undefined);
  differs(where, "the address", `s-${short(session.root)}`, section?.id);
  const first = { at, number: 0 };
  differs(where, "the intent", intent, section?.querySelector(":scope > h3")?.textContent, first);
  differs(where, "the session", `session ${id}`, facts[0]);
  differs(where, "the number of entries", anchor.count === 1 ? "1 entry" : `${anchor.count ?? 0} entries`, facts[1]);
  const stated = section?.querySelectorAll(":scope > .story > [data-line]") || [];
  for (const item of stated) compareRecord(where, at, item, differs);
  const seen = [...(section?.querySelectorAll(":scope > .seen li") || [])].map((item) => item.textContent).join("\n");
  const told = section?.querySelector(":scope > .story") ? seenOf(session).map(onOneLine).join("\n") : "";
  differs(where, "what was observed", told, seen);
  const commits = data.commits.filter(({ sessions }) => sessions.some(({ session }) => session === at)).reverse();
  const listed = [...(section?.querySelectorAll(":scope > .commits > li") || [])].map(({ dataset }) => dataset.commit);
  differs(where, "the list of commits", commits.map(({ commit }) => commit).join(" "), listed.join(" "));
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
  const label = `${titleOf(value.type, value) || ""} ${when(value.timestamp)}`;
  differs(where, "the kind and time", label, item.querySelector(":scope > .label")?.textContent, line);
  differs(where, "the colour of the kind", String(value.type), item.className, line);
}

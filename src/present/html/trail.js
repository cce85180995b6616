// The trail of a session, as a timeline and as a tree. Every text is set as text; nothing of it is ever markup.

// Text in which what cannot be seen is shown by its number. ACTIVE is made from the table that all outputs share.
const spelled = (character) => "⟨U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩";
const visible = (text) => text.replace(ACTIVE, spelled);

// An element with a class and what is in it: elements, or texts.
function make(name, className, ...inside) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...inside);
  return element;
}

// A text in pieces that add up to it: [text, what it tells of: "rejected", "uncertain" or ""]. Where that is, the data says.
function piecesOf(text, places) {
  const pieces = [];
  let at = 0;
  for (const place of Array.isArray(places) ? places : []) {
    const [from, to, what] = Array.isArray(place) ? place : [];
    const [start, end] = [Math.max(from, at), Math.min(to, text.length)];
    if (!(start < end)) continue;
    if (at < start) pieces.push([text.slice(at, start), ""]);
    pieces.push([text.slice(start, end), what === "uncertain" ? what : "rejected"]);
    at = end;
  }
  if (at < text.length) pieces.push([text.slice(at), ""]);
  return pieces;
}

const LONG = 4000;

// The text of an entry; a long one is opened by a button.
function textOf(body, places) {
  const box = make("div", "text");
  box.dir = "auto";
  const fill = (text) => {
    box.replaceChildren(...piecesOf(text, places).map(([piece, what]) => make("span", what, visible(piece))));
  };
  fill(body.length > LONG ? body.slice(0, LONG) : body);
  if (body.length <= LONG) return [box];
  const more = make("button", "", `Show all ${body.length.toLocaleString("en")} characters`);
  more.type = "button";
  more.addEventListener("click", () => {
    fill(body);
    more.remove();
  });
  return [box, more];
}

const TITLES = {
  plan: "Plan",
  analysis: "Analysis",
  decision: "Decision",
  reflection: "Reflection",
  attest: "Attested",
  withheld: "Withheld",
  broken: "Unreadable",
};
const when = (time) => (typeof time === "string" ? visible(time.slice(0, 10) + " " + time.slice(11, 16)) : "");

// What a line says, for people: {kind, body, value}. It may say anything, if it was tampered with.
function entryOf(line) {
  const { value, kind, body, wrong } = readLine(line, false);
  if (wrong) return { kind: "broken", body: line, value: {} };
  if (kind === "thought") return { kind: Object.hasOwn(TITLES, value.type) ? value.type : "broken", body, value };
  return { kind, body, value };
}

const TRANSCRIPT = (kept) => `transcript of ${kept.bytes} bytes, SHA-256 ${kept.sha256}`;
const AGENT = ({ name, version, model }) =>
  `agent ${name}${version == null ? "" : ` ${version}`}, ${model == null ? "model not known" : `model ${model}`}`;
const TOOLS = ({ calls, failed }) =>
  `${calls} tool call${calls === 1 ? "" : "s"}${failed ? `, ${failed} failed` : ""}`;
const WROTE = (blobs) => `wrote ${Array.isArray(blobs) ? blobs.join(", ") : String(blobs)}`;
function CHECK({ command, exit }, when = "") {
  if (exit === 0) return `${command} passed${when}`;
  return exit == null ? `${command} ran${when}; its exit code is not known` : `${command} failed${when} with exit code ${exit}`;
}

// An observation in the words of `observed.rs`.
function observedText({ agent, check, tools, transcript, wrote }) {
  if (agent) return AGENT(agent);
  if (check) return CHECK(check);
  if (tools) return TOOLS(tools);
  return transcript ? TRANSCRIPT(transcript) : WROTE(wrote);
}

// What was observed in a session, a line each: which lines of the evidence say so, the data says.
function seenOf(session) {
  const checks = [];
  let agent, tools, wrote = 0;
  for (const number of session.seen || []) {
    const { body } = readLine(session.lines[number] || "", false);
    const seen = (readCanonical(body || "") || {}).observed || {};
    if (seen.agent) agent = seen.agent;
    if (seen.tools) tools = seen.tools;
    if (seen.check) checks.push({ ...seen.check, when: wrote ? " after the last edit" : "" });
    if (Array.isArray(seen.wrote)) {
      wrote += seen.wrote.length;
      for (const check of checks) check.when = " before the last edit";
    }
  }
  const last = checks.filter(({ command }, at) => !checks.slice(at + 1).some((later) => later.command === command));
  const lines = agent ? [AGENT(agent)] : [];
  lines.push(...last.map((check) => CHECK(check, check.when)));
  if (wrote) lines.push(wrote === 1 ? "1 file written by an edit tool" : `${wrote} file contents written by edit tools`);
  if (tools) lines.push(TOOLS(tools));
  return lines;
}

// Whether the tool took down a record by itself. One that an agent stated and the tool recorded again was stated.
function isObserved({ metadata }) {
  const observed = (metadata && metadata.observed) || {};
  return Object.keys(observed).join() === "event" && ["prompt", "final_message", "commit_message"].includes(observed.event);
}

// What a record is, and whether it was observed.
const titleOf = (kind, value) =>
  kind === "reflection" && isObserved(value) ? "Observed reflection" : kind === "plan" && isObserved(value) ? "Prompt" : TITLES[kind];

// What an attestation attests.
function attested(text) {
  const { git, observed, note, memory } = readCanonical(text) || {};
  if (observed && typeof observed === "object") return "observed: " + observedText(observed);
  const kept = note || memory;
  if (kept && typeof kept === "object") return "a note of working memory, put there at " + kept.put_at;
  if (!git || typeof git !== "object") return text;
  const what = git.commit ? "commit " + git.commit : "the change that was staged";
  return `${what}\ntree ${git.tree}` + (git.change_id ? `\nchange ${git.change_id}` : "");
}

function timelineEntry(session, at, number) {
  const { kind, body, value } = entryOf(session.lines[number]);
  const label = make("p", "label", titleOf(kind, value));
  if (value.timestamp) {
    const time = make("time", "", when(value.timestamp));
    label.append(" ", time);
  }
  label.append(" ", make("span", "tick"));
  const inside = make("div", "body", label);
  const parent = session.parents[number];
  if (parent !== number - 1 && number > 1) {
    inside.append(
      make("p", "branch", parent === 0 ? "branches off at the beginning" : `branches off after line ${parent}`),
    );
  }
  if (kind === "withheld")
    inside.append(
      make(
        "p",
        "quiet",
        "The text of this record was not published. Its hash is in the tree: ",
        make("code", "", body.slice(0, 12) + "…"),
      ),
    );
  else if (kind === "attest") inside.append(...textOf(attested(body)));
  else inside.append(...textOf(body, (session.marked || {})[number]));
  if (value.metadata)
    inside.append(
      make(
        "details",
        "",
        make("summary", "", value.metadata.observed ? "Observed by the tool, and other metadata" : "Metadata"),
        make("pre", "", visible(JSON.stringify(value.metadata, null, 2))),
      ),
    );
  const item = make("li", "entry " + kind, make("span", "dot"), inside);
  item.id = `e-${at}-${number}`;
  item.dataset.line = number;
  return item;
}

const PER_CHUNK = 100;

// The timeline: all lines in order, in chunks that the browser need not lay out before they are seen.
function timeline(session, at) {
  const list = make("ol", "timeline");
  for (let from = 1; from < session.lines.length; from += PER_CHUNK) {
    const chunk = make("ol", "chunk");
    for (let number = from; number < Math.min(from + PER_CHUNK, session.lines.length); number++)
      chunk.append(timelineEntry(session, at, number));
    list.append(make("li", "", chunk));
  }
  return list;
}

const DEEPEST = 12;

// The tree: only a branch sets in; what follows alone stays below what it follows.
function tree(session, at) {
  const children = new Map();
  for (let number = 1; number < session.lines.length; number++) {
    const parent = session.parents[number] || 0;
    if (!children.has(parent)) children.set(parent, []);
    children.get(parent).push(number);
  }
  const list = make("ol", "tree");
  const pending = (children.get(0) || []).map((number) => [number, 0, (children.get(0) || []).length > 1]).reverse();
  if (pending.length > 1)
    pending.forEach((item) => {
      item[1] = 1;
    });
  while (pending.length) {
    const [number, depth, branches] = pending.pop();
    const { kind, body, value } = entryOf(session.lines[number]);
    const gist =
      kind === "withheld"
        ? "not published"
        : visible((kind === "attest" ? attested(body) : body).slice(0, 200).replace(/\s+/g, " "));
    const below = children.get(number) || [];
    const link = make(
      "a",
      session.results[number] && !session.results[number].ok ? "broken" : "",
      make("span", "kind " + kind, titleOf(kind, value)),
      make("span", "gist", gist),
    );
    if (branches) {
      link.classList.add("fork");
      link.prepend(make("span", "hidden-word", "branch: "));
    }
    if (!below.length && number !== session.lines.length - 1) link.append(make("span", "note", "ends here"));
    link.href = `#e-${at}-${number}`;
    link.style.setProperty("--depth", Math.min(depth, DEEPEST));
    list.append(make("li", "", link));
    for (const next of below.slice().reverse())
      pending.push([next, below.length > 1 ? depth + 1 : depth, below.length > 1]);
  }
  return list;
}

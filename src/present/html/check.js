// The page computes what can be computed, and says what came out: at the top, with each session, and at each line.

const byId = (id) => document.getElementById(id);
const pause = () =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = resolve;
    port2.postMessage(0);
  });

// What the data block says; the sessions and anchors on which its verdicts rest; what the page showed when it was opened.
let data, rests, shown;

function load() {
  data = JSON.parse(byId("data").textContent);
  if (![data.commits, data.sessions, data.seals].every(Array.isArray)) throw new Error("the data block is not whole");
  for (const { verdict } of data.commits)
    if (!Object.hasOwn(WORDS, verdict)) throw new Error(`the data block has a verdict ${verdict}, which is none`);
  for (const session of data.sessions) {
    session.results = [];
    session.parents = [];
    session.lines = session.lines || [];
    session.trails = [];
  }
  const holding = data.commits.flatMap(({ sessions }) => sessions.filter(({ holds }) => holds));
  rests = {
    sessions: new Set(holding.map(({ session }) => session)),
    anchors: new Set(holding.map(({ anchor }) => anchor)),
  };
  shown = { wrong: compareShown(), text: asWritten() };
}

const MOST_BREAKS = 25;
let breaks = 0;

// Tells of something that does not add up; of very many, the first.
function report(what, step, link) {
  byId("breaks").hidden = false;
  if (++breaks > MOST_BREAKS) {
    const rest = byId("breaks").querySelector(".rest") || make("li", "rest");
    rest.textContent = `and ${breaks - MOST_BREAKS} more`;
    byId("breaks").append(rest);
    return;
  }
  const item = make("li", "finding error", make("b", "", visible(what) + ": "), visible(step.what) + ".");
  if (step.expected !== undefined)
    item.append(
      make(
        "div",
        "why",
        make("code", "", "expected " + visible(String(step.expected))),
        make("code", "", "found    " + visible(String(step.found))),
      ),
    );
  if (link) {
    const anchor = make("a", "", "Show the line");
    anchor.href = link;
    item.append(anchor);
  }
  byId("breaks").append(item);
}

// Where each line hangs: the number of a line before it, 0 for the opening. One that hangs nowhere is drawn below its neighbour.
function findParents(session) {
  const known = new Map();
  if (session.results[0] && session.results[0].hash) known.set(session.results[0].hash, 0);
  session.results.forEach((result, number) => {
    if (number === 0) return;
    const { value } = readLine(session.lines[number], false);
    session.parents[number] = (value && known.get(value.prev_hash)) ?? number - 1;
    if (result.chain) known.set(result.chain, number);
  });
}

async function checkSession(session, at, progress) {
  const name = nameOf(session);
  const anchor = anchorOf(session);
  const steps = [];
  // A session on which no verdict rests may be anything: anyone may write a note. It is told apart, and takes nothing away.
  let broken = 0,
    aside = 0;
  const fail = (what, step, link, counts = rests.sessions.has(at)) => {
    if (counts) broken++;
    else aside++;
    report(`Session ${name}${what}`, step, link);
  };
  if (session.absent !== undefined) return { broken, aside, absent: true, steps };
  const found = await checkLines(
    session.lines,
    session.leaves,
    anchor && anchor.genesis,
    (number, result) => {
      session.results[number] = result;
      if (!result.ok)
        fail(number ? `, line ${number}` : ", opening", result, number ? `#e-${at}-${number}` : undefined);
    },
    async (done) => {
      progress(done);
      await pause();
    },
  );
  findParents(session);
  const bad = session.results.filter((result) => !result.ok).length;
  if (!session.complete) fail("", { what: "the evidence does not end in a newline; it may be cut off" });
  const linesHold = broken + aside === 0;
  steps.push({
    ok: linesHold,
    text: linesHold ? `the chain of ${found.count} lines adds up` : `${bad || 1} of the lines do not add up`,
  });
  const root = {
    ok: found.root === session.root,
    what: "the lines do not add up to the root",
    expected: session.root,
    found: found.root,
  };
  if (!root.ok && linesHold) fail("", root);
  steps.push({ ok: root.ok, text: root.ok ? "the root adds up" : "the root does not add up" });
  for (const anchored of session.anchors) {
    const wrong = (await checkAnchor(anchored, found)).filter((step) => !step.ok);
    // That a broken line changes what the anchor fixes is no news.
    const told = linesHold && root.ok ? wrong : wrong.filter((step) => step.what === "anchor id");
    told.forEach((step) =>
      fail(
        "",
        { ...step, what: `the anchor ${short(anchored.id)} says otherwise: ${step.what}` },
        undefined,
        rests.anchors.has(anchored.id),
      ),
    );
    steps.push({
      ok: !wrong.length,
      text: wrong.length ? `the anchor says otherwise: ${wrong[0].what}` : "the anchor adds up",
    });
  }
  if (found.withheld) steps.push({ text: `${found.withheld} withheld, by hash` });
  if (found.scheme === "ams-v0") steps.push({ text: "ams-v0 covers texts and their chain, not types and times" });
  return { broken, aside, steps };
}

// The anchor that speaks for a session: one on which a verdict rests, if there is one.
function anchorOf({ anchors }) {
  const anchor = anchors.find(({ id }) => rests.anchors.has(id)) || anchors[0];
  return anchor && readCanonical(anchor.text);
}

function nameOf(session) {
  const anchor = anchorOf(session);
  return visible(String((anchor && anchor.session_id) || short(session.root)));
}

// The verdict on each commit as far as this page can tell, and what is wrong with the one that the data gives. A proof takes
// a session that holds; where none of them has its records here, nothing can be said.
function judge() {
  let broken = 0;
  const fail = (commit, what) => {
    broken++;
    report(`Commit ${short(commit.commit)}`, { what });
  };
  const verdicts = data.commits.map((commit) => {
    const holding = commit.sessions.filter(({ holds }) => holds);
    for (const { session, anchor } of commit.sessions) {
      const there = data.sessions[session];
      if (!there || !there.anchors.some(({ id }) => id === anchor)) fail(commit, `its anchor ${short(anchor)} is not in the data`);
    }
    if (commit.verdict !== "pass") return commit.verdict;
    if (!holding.length) fail(commit, "it is called proven, and no session holds for it");
    if (commit.findings.includes("error")) fail(commit, "it is called proven, and a finding says that it is not");
    return holding.every(({ session }) => data.sessions[session]?.absent !== undefined) ? "unchecked" : "pass";
  });
  return { broken, verdicts };
}

async function checkRounds() {
  const rounds = new Map();
  let broken = 0;
  const draw = (round, ok) => {
    const group = document.querySelector(`.round[data-round="${Number(round)}"]`);
    if (!group) return;
    group.classList.toggle("good", ok);
    group.classList.toggle("broken", !ok);
    group.querySelector(".tick").textContent = ok ? "adds up" : "does not";
  };
  await checkSeals(data.seals, (at, result) => {
    rounds.set(data.seals[at].round, result.seal);
    draw(data.seals[at].round, result.ok);
    if (!result.ok) {
      broken++;
      report(`Round ${data.seals[at].round}`, result);
    }
  });
  for (const bound of data.commits.flatMap(({ sessions }) => sessions)) {
    const { anchor: id, round } = bound,
      session = data.sessions[bound.session];
    if (session && round && rounds.has(round)) {
      const sealed = rounds.get(round);
      const listed =
        sealed &&
        Array.isArray(sealed.sessions) &&
        sealed.sessions.some(
          (one) => one.root === session.root && Array.isArray(one.anchors) && one.anchors.includes(id),
        );
      if (!listed) {
        broken++;
        draw(round, false);
        report(`Round ${round}`, {
          what: `it does not list the anchor ${id.slice(0, 12)} of session ${nameOf(session)}`,
        });
      }
    }
  }
  return broken;
}

// What the page shows and the data does not say.
function checkShown() {
  let broken = 0;
  for (const { where, step, line } of shown.wrong) {
    // Where the line itself does not add up, that has been said.
    if (line && (data.sessions[line.at].results[line.number] || { ok: true }).ok === false) continue;
    broken++;
    report(where, step);
  }
  return broken;
}

// Whether anything at all was changed since the page was written.
async function checkWritten() {
  const expected = document.querySelector('meta[name="git-proof-page"]')?.content;
  const [found] = await sha256All([utf8(shown.text)]);
  if (expected === found) return 0;
  report("The page", { what: "something in it was changed after it was written", expected, found });
  return 1;
}

function showSession(at, result) {
  const wrong = result.broken + result.aside > 0;
  const row = document.querySelector(`[data-ledger="${at}"] .state`);
  if (row) {
    row.textContent = result.absent ? "no evidence here" : wrong ? "does not add up" : "adds up";
    row.className = "state " + (result.absent ? "" : wrong ? "broken" : "good");
  }
  for (const section of document.querySelectorAll(`.session[data-session="${at}"]`)) {
    const trail = section.querySelector(":scope > .trail");
    trail?.querySelector(":scope > .ticks")?.remove();
    if (result.absent) continue;
    const list = make(
      "ul",
      "ticks",
      ...result.steps.map(({ ok, text }) => make("li", ok === undefined ? "" : ok ? "good" : "broken", text)),
    );
    trail?.querySelector(":scope > summary").after(list);
  }
  for (const trail of data.sessions[at].trails) trail.mark();
}

const count = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;

// An element of the page, made again where someone took it out or hid it.
function restored(parent, selector, name) {
  let element = parent.querySelector(selector);
  if (!element) {
    element = make(name, "");
    if (selector.startsWith("#")) element.id = selector.slice(1);
    parent.prepend(element);
  }
  element.hidden = false;
  return element;
}

// The headline, and what it rests on. `claim` is a list of texts; the command for a clone follows it.
function headline({ sign, verdict, headline }, doubted, ...claim) {
  const top = restored(document.body, ".top", "header");
  const claims = restored(top, "#claim", "p");
  const title = restored(top, "h1", "h1");
  const mark = make("span", "mark " + verdict, sign);
  mark.ariaHidden = "true";
  title.replaceChildren(mark, " " + headline);
  // What the headline says need not stand below it again.
  const again = !doubted && top.querySelector("#counts")?.textContent === headline;
  top.className = doubted ? "top doubted" : again ? "top checked" : "top";
  // Nothing stands above it.
  if (doubted) document.body.prepend(top);
  const command = make("code", "", "git proof verify " + onOneLine(String((data && data.range) || "")));
  claims.replaceChildren(...claim, " A page cannot vouch for itself: run ", command, " in a clone.");
}

const DOUBT = { sign: WORDS.fail.sign, verdict: "fail", headline: "This page does not add up" };

// Takes everything back that the page says.
function doubt(why) {
  headline(DOUBT, true, "Do not rely on what it shows: ", visible(why), ".");
  const panel = byId("check"),
    state = byId("state");
  if (panel) {
    panel.className = "broken";
    panel.open = true;
  }
  if (state) state.textContent = `This page does not add up: ${visible(why)}.`;
}

let running = false;

async function check() {
  if (running) return;
  running = true;
  try {
    await checkAll();
  } catch (error) {
    doubt("the check could not be finished: " + String(error.message));
  }
  document.documentElement.dataset.checked = "true";
  running = false;
  follow();
}

async function checkAll() {
  const panel = byId("check"),
    state = byId("state"),
    bar = byId("progress");
  const total = data.sessions.reduce((sum, session) => sum + session.lines.length, 0);
  breaks = 0;
  byId("breaks").replaceChildren();
  byId("breaks").hidden = true;
  panel.className = "running";
  state.textContent = `Computing ${total.toLocaleString("en")} lines again…`;
  bar.hidden = false;
  const began = performance.now();
  let before = 0,
    broken = 0,
    aside = 0,
    absent = 0,
    entries = 0;
  for (const [at, session] of data.sessions.entries()) {
    const result = await checkSession(session, at, (done) => {
      bar.value = (before + done) / Math.max(total, 1);
    });
    before += session.lines.length;
    broken += result.broken;
    aside += result.aside;
    absent += result.absent ? 1 : 0;
    entries += Math.max(session.lines.length - 1, 0);
    showSession(at, result);
  }
  broken += await checkRounds();
  const judged = judge();
  broken += judged.broken + checkShown();
  // What was found in its place need not be told twice.
  if (!broken) broken += await checkWritten();
  bar.hidden = true;
  if (broken) return doubt(`${count(broken, "place")} ${broken === 1 ? "does" : "do"} not add up, listed below`);
  const standing = { ...headlineOf(judged.verdicts), headline: standingOf(judged.verdicts, data.open) };
  const took = Math.max(1, Math.round(performance.now() - began)).toLocaleString("en");
  const sessions = data.sessions.length - absent;
  if (!sessions) {
    panel.className = "waiting";
    state.textContent = "There are no records in this file that could be added up.";
    return headline(standing, false, state.textContent);
  }
  const by = webCrypto
    ? "WebCrypto and a second SHA-256"
    : "the SHA-256 in this file (this browser has no WebCrypto here)";
  // Where no session holds, there is nothing to say of those that do.
  const which = aside ? " of sessions that hold" : "";
  const adds = aside && !rests.sessions.size ? "" : `The records${which} add up to the roots shown`;
  const beside = aside ? `Of sessions that do not hold, ${count(aside, "place")} ${aside === 1 ? "does" : "do"} not add up.` : "";
  const gone = absent ? `The records of ${count(absent, "session")} are not in this file.` : "";
  const seals = data.seals.length ? `, ${count(data.seals.length, "seal")}` : "";
  const what = `${count(entries, "record")} of ${count(sessions, "session")}${seals}`;
  const said = (first) => [first, beside, gone].filter(Boolean).join(" ");
  headline(standing, false, said(adds && `${adds}.`));
  panel.className = aside ? "aside" : "good";
  if (aside) panel.open = true;
  state.textContent = said(`${adds || "Computed"}: ${what}, in ${took} ms, by ${by}.`);
}

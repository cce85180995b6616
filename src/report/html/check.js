// The page checks itself, and says what it found: at the top, with each session, and at each line.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const pause = () =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = resolve;
    port2.postMessage(0);
  });

for (const session of data.sessions) {
  session.results = [];
  session.parents = [];
  session.lines = session.lines || [];
  session.trails = [];
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
  // What is known is what the verdict has said already: of a session without an anchor that holds, and of such anchors.
  const stands = session.anchors.some(({ holds }) => holds);
  let broken = 0,
    known = 0;
  const fail = (what, step, link, said = !stands) => {
    if (said) known++;
    else broken++;
    report(`Session ${name}${what}`, step, link);
  };
  if (session.absent) return { broken, known, absent: true, steps };
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
  const linesHold = broken + known === 0;
  steps.push({
    ok: linesHold,
    text: linesHold ? `${found.count} lines and their chain` : `${bad || 1} of the lines broken`,
  });
  const root = {
    ok: found.root === session.root,
    what: "the lines do not add up to the root",
    expected: session.root,
    found: found.root,
  };
  if (!root.ok && linesHold) fail("", root);
  steps.push({ ok: root.ok, text: "root" });
  for (const anchored of session.anchors) {
    const wrong = (await checkAnchor(anchored, found)).filter((step) => !step.ok);
    // That a broken line changes what the anchor fixes is no news.
    const told = linesHold && root.ok ? wrong : wrong.filter((step) => step.what === "anchor id");
    told.forEach((step) =>
      fail(
        "",
        { ...step, what: `the anchor ${anchored.id.slice(0, 12)} says otherwise: ${step.what}` },
        undefined,
        !anchored.holds,
      ),
    );
    steps.push({ ok: !wrong.length, text: wrong.length ? "anchor: " + wrong[0].what : "anchor" });
  }
  if (found.withheld) steps.push({ text: `${found.withheld} withheld, by hash` });
  if (found.scheme === "ams-v0") steps.push({ text: "ams-v0 covers texts and their chain, not types and times" });
  return { broken, known, steps };
}

// The anchor that speaks for a session: one that holds, if there is one.
function anchorOf({ anchors }) {
  const anchor = anchors.find(({ holds }) => holds) || anchors[0];
  return anchor && readCanonical(anchor.text);
}

function nameOf(session) {
  const anchor = anchorOf(session);
  return visible(String((anchor && anchor.session_id) || session.root.slice(0, 12)));
}

async function checkRounds() {
  const rounds = new Map();
  let broken = 0;
  const draw = (round, ok) => {
    const group = document.querySelector(`.round[data-round="${Number(round)}"]`);
    if (!group) return;
    group.classList.toggle("good", ok);
    group.classList.toggle("broken", !ok);
    group.querySelector(".tick").textContent = ok ? "✓" : "✕";
  };
  await checkSeals(data.seals, (at, result) => {
    rounds.set(data.seals[at].round, result.seal);
    draw(data.seals[at].round, result.ok);
    if (!result.ok) {
      broken++;
      report(`Round ${data.seals[at].round}`, result);
    }
  });
  for (const session of data.sessions) {
    for (const { id, round } of session.anchors) {
      if (!round || !rounds.has(round)) continue;
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

// Whether the decisions that stand in the page are those of the evidence.
function checkShown() {
  let broken = 0;
  for (const item of document.querySelectorAll(".story > [data-line]")) {
    const at = Number(item.closest("[data-session]").dataset.session),
      number = Number(item.dataset.line);
    const box = item.querySelector(".text");
    const { body } = readLine((data.sessions[at] || { lines: [] }).lines[number] || "", false);
    const whole = visible(body || ""),
      shown = box.textContent;
    const same =
      body !== undefined &&
      (item.querySelector(".more") ? shown.length > 0 && whole.startsWith(shown) : whole === shown);
    box.classList.toggle("mismatch", !same);
    // Where the line itself is broken, that has been said.
    if (!same && (data.sessions[at].results[number] || {}).ok) {
      broken++;
      report(`Session ${nameOf(data.sessions[at])}, line ${number}`, {
        what: "the text shown above its trail is not that of the evidence",
      });
    }
  }
  return broken;
}

function showSession(at, result) {
  const row = document.querySelector(`[data-ledger="${at}"] .state`);
  if (row) {
    row.textContent = result.absent
      ? "no evidence here"
      : result.broken + result.known
        ? "✕ broken"
        : "✓ " +
          result.steps
            .filter((step) => step.ok)
            .map((step) => step.text)
            .join(", ");
    row.className = "state " + (result.absent ? "" : result.broken + result.known ? "broken" : "good");
  }
  for (const section of document.querySelectorAll(`.session[data-session="${at}"]`)) {
    section.querySelector(":scope > .ticks")?.remove();
    if (result.absent) continue;
    const list = make(
      "ul",
      "ticks",
      ...result.steps.map(({ ok, text }) =>
        make("li", ok === undefined ? "" : ok ? "good" : "broken", ok === undefined ? text : (ok ? "✓ " : "✕ ") + text),
      ),
    );
    section.querySelector(":scope > .facts").after(list);
  }
  for (const trail of data.sessions[at].trails) trail.mark();
}

const headline = document.querySelector(".top h1"),
  verdict = [...headline.childNodes];

// Takes the verdict back if the page that gives it does not add up.
function doubt(broken) {
  headline.replaceChildren(...(broken ? [make("span", "mark fail", "✕"), " Does not add up"] : verdict));
  headline.parentElement.classList.toggle("doubted", broken);
}

let running = false;

async function check() {
  if (running) return;
  running = true;
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
  try {
    let before = 0,
      broken = 0,
      known = 0,
      absent = 0,
      entries = 0;
    for (const [at, session] of data.sessions.entries()) {
      const result = await checkSession(session, at, (done) => {
        bar.value = (before + done) / Math.max(total, 1);
      });
      before += session.lines.length;
      broken += result.broken;
      known += result.known;
      absent += result.absent ? 1 : 0;
      entries += Math.max(session.lines.length - 1, 0);
      showSession(at, result);
    }
    broken += await checkRounds();
    broken += checkShown();
    const took = Math.max(1, Math.round(performance.now() - began)).toLocaleString("en");
    const sessions = data.sessions.length - absent;
    const count = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
    const by = webCrypto
      ? "WebCrypto and a second SHA-256"
      : "the SHA-256 in this file (this browser has no WebCrypto here)";
    panel.className = broken + known ? "broken" : sessions ? "good" : "waiting";
    if (broken)
      state.textContent = `This page does not add up: ${count(broken + known, "place")} broken. Do not rely on what it shows.`;
    else if (known)
      state.textContent = `What the verdict does not accept does not add up here either: ${count(known, "place")}. All else does.`;
    else if (!sessions) state.textContent = "There is no evidence in this file that could be computed again.";
    else
      state.textContent =
        `✓ All of it adds up: ${count(entries, "record")} of ${count(sessions, "session")}` +
        (data.seals.length ? `, ${count(data.seals.length, "seal")}` : "") +
        `, in ${took} ms, by ${by}.` +
        (absent ? ` Of ${count(absent, "session")} the evidence is not here.` : "");
    doubt(broken > 0);
  } catch (error) {
    doubt(true);
    panel.className = "broken";
    state.textContent = "The check could not be finished: " + visible(String(error.message));
  }
  bar.hidden = true;
  panel.dataset.done = "true";
  running = false;
  follow();
}

// What the lines add up to: content hashes, chain, tree, anchors and seals, as the specification has them. Nothing here
// touches the page.

const DIGEST = /^[0-9a-f]{64}$/;
const SCHEMES = ["v1", "v1-sorted", "v1-rfc9162", "ams-v0"];
const FIELDS = {
  opening: "caller,intent,proof_grade,scheme,session_id,started_at,task_id",
  thought: "content,id,prev_hash,task_id,timestamp,type",
  attest: "attest,id,prev_hash,timestamp",
  withheld: "prev_hash,withheld",
  anchor: "anchored_at,change_id,commit,count,genesis,head,root,scheme,session_id,task_id,tree,type",
  seal: "genesis,log,opened_at,parents,previous,root,round,sealed_at,sessions,type",
};

// The canonical form of a value (RFC 8785): JSON.stringify is its model for strings and numbers.
function canonical(value) {
  if (Array.isArray(value)) return "[" + value.map(canonical).join(",") + "]";
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return (
    "{" +
    Object.keys(value)
      .sort()
      .map((key) => JSON.stringify(key) + ":" + canonical(value[key]))
      .join(",") +
    "}"
  );
}

// Reads a text that must be canonical and an object; `undefined` if it is not.
function readCanonical(text) {
  try {
    const value = JSON.parse(text);
    if (value !== null && typeof value === "object" && !Array.isArray(value) && canonical(value) === text) return value;
  } catch {} // no JSON, or nested too deep
  return undefined;
}

function hasFields(value, kind) {
  const names = Object.keys(value)
    .sort()
    .filter((name) => !(name === "metadata" && (kind === "thought" || kind === "attest")));
  return names.join() === FIELDS[kind];
}

function kindOf(entry) {
  if ("withheld" in entry) return "withheld";
  return "attest" in entry ? "attest" : "thought";
}

// Reads a line of evidence: its value and kind, or why it is none.
function readLine(text, first) {
  const value = readCanonical(text);
  if (!value) return { wrong: "it is not canonical JSON" };
  const kind = first ? "opening" : kindOf(value);
  if (!hasFields(value, kind)) return { wrong: "its fields are not those of " + (first ? "an opening" : "an entry") };
  if (first) return SCHEMES.includes(value.scheme) ? { value, kind } : { wrong: "its scheme is not known" };
  const body = kind === "withheld" ? value.withheld : kind === "attest" ? value.attest : value.content;
  if (typeof body !== "string" || (kind === "withheld" && !DIGEST.test(body)))
    return { wrong: "it says nothing that can be hashed" };
  return DIGEST.test(value.prev_hash) ? { value, kind, body } : { wrong: "its prev_hash is no digest" };
}

const join = (scheme, left, right) => (scheme === "ams-v0" ? utf8(left + right) : fromHex(left + right));

// The root over content hashes.
async function rootOf(scheme, contents) {
  let level = contents.slice();
  if (scheme === "v1-rfc9162") level = await sha256All(level.map((leaf) => fromHex(leaf, 0)));
  if (scheme === "v1-sorted") level.sort();
  while (level.length > 1) {
    const pairs = [];
    for (let at = 0; at + 1 < level.length; at += 2) pairs.push([level[at], level[at + 1]]);
    const odd = level.length % 2 ? level[level.length - 1] : undefined;
    if (odd && scheme !== "v1-rfc9162") pairs.push([odd, odd]);
    const nodes = await sha256All(
      pairs.map(([left, right]) => {
        if (scheme === "v1-rfc9162") return fromHex(left + right, 1);
        return scheme === "v1-sorted" && left > right ? join(scheme, right, left) : join(scheme, left, right);
      }),
    );
    if (odd && scheme === "v1-rfc9162") nodes.push(odd);
    level = nodes;
  }
  return level[0];
}

const CHUNK = 256;

// Goes through the lines of a session. `each(index, result)` hears of every line as it is done, the opening first; a
// result is {ok: true, …} or {ok: false, what, expected, found}. Stops at nothing: a line that breaks is not a reason to
// keep quiet about the others. `leaves` are the content hashes that the lines had when the page was made.
async function checkLines(lines, leaves, genesis, each, pause) {
  const fail = (what, expected, found) => ({ ok: false, what, expected, found });
  const opening = readLine(lines[0] || "", true);
  const [openingHash] = await sha256All([utf8(lines[0] || "")]);
  const scheme = opening.value && opening.value.scheme;
  const start = scheme === "ams-v0" ? "0".repeat(64) : openingHash;
  if (opening.wrong) each(0, fail("the opening: " + opening.wrong));
  else if (genesis && start !== genesis)
    each(0, fail("the hash of the opening is not the genesis of the anchor", genesis, start));
  else each(0, { ok: true, hash: start });
  const contents = [],
    chain = [],
    known = new Set([start]);
  let withheld = 0,
    whole = !opening.wrong && (!genesis || start === genesis);
  for (let from = 1; from < lines.length; from += CHUNK) {
    const read = lines.slice(from, from + CHUNK).map((line) => ({ ...readLine(line, false), line }));
    const messages = read.map(({ wrong, kind, body, line }) =>
      utf8(wrong || kind === "withheld" || scheme !== "ams-v0" ? line : body),
    );
    const hashes = await sha256All(messages);
    read.forEach((entry, at) => {
      if (entry.kind === "withheld") {
        hashes[at] = entry.body;
        withheld++;
      }
    });
    // A line that cannot be read has no parent to be chained to.
    const links = await sha256All(
      read.map((entry, at) => join(scheme, hashes[at], entry.wrong ? start : entry.value.prev_hash)),
    );
    read.forEach((entry, at) => {
      const index = from + at,
        expected = leaves[index - 1];
      const hangs = !entry.wrong && known.has(entry.value.prev_hash);
      let result = { ok: true, hash: hashes[at], chain: links[at] };
      if (expected && expected !== hashes[at])
        result = fail("the line is not the one that was hashed", expected, hashes[at]);
      else if (entry.wrong) result = fail("the line cannot be read: " + entry.wrong);
      // A line that hangs on a broken one is not itself broken.
      else if (!hangs && !whole) result.adrift = true;
      else if (!hangs)
        result = fail(
          "its prev_hash is the chain hash of no line before it: it was altered, or the line that it followed",
          chain[index - 2] || start,
          entry.value.prev_hash,
        );
      whole = whole && result.ok;
      each(index, result);
      contents.push(hashes[at]);
      chain.push(links[at]);
      known.add(links[at]);
    });
    if (pause) await pause(Math.min(from + CHUNK, lines.length), lines.length);
  }
  const root = contents.length ? await rootOf(scheme, contents) : undefined;
  return {
    opening: opening.value,
    scheme,
    genesis: start,
    head: chain[chain.length - 1],
    root,
    count: contents.length,
    withheld,
  };
}

// What an anchor says against what the lines come to, as a list of {ok, what, expected, found}.
async function checkAnchor(anchor, found) {
  const text = readCanonical(anchor.text);
  if (!text || !hasFields(text, "anchor")) return [{ ok: false, what: "the anchor cannot be read" }];
  const [id] = await sha256All([utf8(anchor.text)]);
  const steps = [{ what: "anchor id", expected: anchor.id, found: id }];
  if (found) {
    for (const field of ["root", "count", "genesis", "head", "scheme"])
      steps.push({ what: field, expected: text[field], found: found[field] });
    for (const field of ["session_id", "task_id"])
      steps.push({ what: field, expected: text[field], found: found.opening && found.opening[field] });
  }
  return steps.map((step) => ({ ...step, ok: step.expected === step.found }));
}

// Goes through seals, oldest first. `each(index, {ok, what, expected, found})` hears of every one. The log can be
// recomputed only from the first round on.
async function checkSeals(seals, each) {
  const log = { size: 0, peaks: [], whole: false };
  let before;
  for (const [index, sealed] of seals.entries()) {
    const step = await checkSeal(sealed, before, log, index === 0);
    each(index, step);
    before = { hash: step.hash, seal: step.seal };
  }
}

async function checkSeal({ text, hash: stated }, before, log, first) {
  const [hash] = await sha256All([utf8(text)]);
  const seal = readCanonical(text);
  const fail = (what, expected, found) => ({ ok: false, what, expected, found, hash, seal });
  if (hash !== stated) return fail("the seal is not the one that was hashed", stated, hash);
  if (!seal || !hasFields(seal, "seal") || !Array.isArray(seal.sessions)) return fail("the seal cannot be read");
  const whole = seal.round === 1 || !first;
  if (whole) {
    const previous = before ? before.hash : null;
    if (seal.previous !== previous) return fail("previous is not the seal before", previous, seal.previous);
    const round = before && before.seal ? before.seal.round + 1 : 1;
    if (seal.round !== round) return fail("its number does not follow", String(round), String(seal.round));
    const sessions = before && before.seal ? before.seal.sessions : [];
    const parents = canonical(sessions.map(({ root, session_id }) => ({ root, session_id })));
    if (canonical(seal.parents) !== parents)
      return fail("parents are not the sessions of the round before", parents, canonical(seal.parents));
    if (before && before.seal && seal.sealed_at < before.seal.sealed_at)
      return fail("it is older than the seal before", before.seal.sealed_at, seal.sealed_at);
  }
  const { parents, previous, round } = seal;
  const [genesis] = await sha256All([utf8(canonical({ parents, previous, round }))]);
  if (seal.genesis !== genesis) return fail("genesis", genesis, seal.genesis);
  const root = await rootOf(
    "v1",
    seal.sessions.map((session) => session.root),
  );
  if (seal.root !== root) return fail("root of the sessions", root, seal.root);
  if (seal.round === 1) log.whole = true;
  if (log.whole) {
    for (const session of seal.sessions) await logPush(log, canonical(session));
    const head = await logRoot(log);
    if (seal.log.size !== log.size || seal.log.root !== head) return fail("log of all sessions", head, seal.log.root);
  }
  return { ok: true, hash, seal };
}

// The log is the tree of RFC 9162 over the texts themselves. Kept of it are the complete subtrees, largest first.
async function logPush(log, text) {
  const body = utf8(text),
    leaf = new Uint8Array(body.length + 1);
  leaf.set(body, 1);
  let [hash] = await sha256All([leaf]);
  for (let size = ++log.size; size % 2 === 0; size /= 2) [hash] = await sha256All([fromHex(log.peaks.pop() + hash, 1)]);
  log.peaks.push(hash);
}

async function logRoot({ peaks }) {
  let hash = peaks[peaks.length - 1];
  for (let at = peaks.length - 2; at >= 0; at--) [hash] = await sha256All([fromHex(peaks[at] + hash, 1)]);
  return hash;
}

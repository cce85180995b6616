// Finds records by their words, and leaves only the sessions and commits that have them.

let index, blocks;
const SHOWN = 50;

// What can be left out: sessions, and commits outside of sessions; the commits without a proof are always named. A session has the words of its records, shown or not.
function findBlocks() {
  const records = new Map();
  for (const { at, lower } of index) records.set(at, `${records.get(at) || ""}\n${lower}`);
  return [...document.querySelectorAll(".session, #others .commits > li")].map((element) => ({
    element,
    words: `${element.textContent.toLowerCase()}\n${records.get(Number(element.dataset.session ?? NaN)) || ""}`,
  }));
}

function beginSearch() {
  byId("search").hidden = false;
  const query = byId("query");
  query.addEventListener("input", () => {
    search();
    try {
      history.replaceState(null, "", query.value ? "#q=" + encodeURIComponent(query.value) : location.href.split("#")[0]);
    } catch {} // the address is a convenience
  });
  addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      query.focus();
    } else if (event.key === "Escape" && event.target === query) {
      query.value = "";
      query.dispatchEvent(new Event("input"));
    }
  });
}

function search() {
  if (!index) {
    index = [];
    data.sessions.forEach((session, at) =>
      session.lines.forEach((line, number) => {
        if (!number || session.trails.length === 0) return;
        const { kind, body } = entryOf(line);
        if (kind !== "withheld") index.push({ at, number, kind, body, lower: body.toLowerCase() });
      }),
    );
    blocks = findBlocks();
  }
  const words = byId("query").value.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = words.length ? index.filter(({ lower }) => words.every((word) => lower.includes(word))) : [];
  for (const block of blocks) block.element.hidden = !words.every((word) => block.words.includes(word));
  const found = hits.length > SHOWN
    ? `${hits.length.toLocaleString("en")} records; the first ${SHOWN} are shown`
    : `${hits.length} ${hits.length === 1 ? "record" : "records"}`;
  const sessions = blocks.filter(({ element }) => element.dataset.session !== undefined);
  const left = sessions.filter(({ element }) => !element.hidden).length;
  let of = sessions.length > 1 ? ` · ${left} of ${sessions.length} sessions` : "";
  // A heading stands only above what is left.
  for (const section of document.querySelectorAll("#sessions, #others")) {
    const within = blocks.filter(({ element }) => section.contains(element));
    const shown = within.filter(({ element }) => !element.hidden).length;
    section.hidden = within.length > 0 && shown === 0;
    if (section.id === "others" && shown > 0) of += ` · ${shown} other ${shown === 1 ? "commit" : "commits"}`;
  }
  byId("found").textContent = words.length ? found + of : "";
  byId("hits").replaceChildren(
    ...hits.slice(0, SHOWN).map((hit) => {
      const link = make(
        "a",
        "",
        make("p", "label", `${TITLES[hit.kind]} · ${nameOf(data.sessions[hit.at])}, line ${hit.number}`),
        snippet(hit, words),
      );
      link.href = `#e-${hit.at}-${hit.number}`;
      return make("li", hit.kind, link);
    }),
  );
}

function snippet({ body, lower }, words) {
  const first = Math.min(...words.map((word) => lower.indexOf(word)));
  const from = Math.max(0, first - 60),
    cut = body.slice(from, from + 220);
  const box = make("div", "text", from ? "…" : "");
  let at = 0;
  const small = cut.toLowerCase();
  while (at < cut.length) {
    const next = words
      .map((word) => [small.indexOf(word, at), word.length])
      .filter(([found]) => found >= 0)
      .sort(([a], [b]) => a - b)[0];
    // Lower case may be longer than what it is of; then nothing is marked.
    if (!next || small.length !== cut.length) break;
    box.append(visible(cut.slice(at, next[0])), make("mark", "", visible(cut.slice(next[0], next[0] + next[1]))));
    at = next[0] + next[1];
  }
  box.append(visible(cut.slice(at)), from + 220 < body.length ? "…" : "");
  return box;
}

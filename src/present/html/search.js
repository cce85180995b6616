// Finds records by their words.

let index;
const SHOWN = 50;

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
  }
  const words = byId("query").value.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = words.length ? index.filter(({ lower }) => words.every((word) => lower.includes(word))) : [];
  byId("found").textContent = !words.length
    ? ""
    : hits.length > SHOWN
      ? `${hits.length.toLocaleString("en")} records; the first ${SHOWN} are shown`
      : `${hits.length} ${hits.length === 1 ? "record" : "records"}`;
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

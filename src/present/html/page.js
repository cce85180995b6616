// The page: trails that open when they are asked for, hashes that open, and the beginning of it all.

function addTrail(section) {
  const at = Number(section.dataset.session),
    session = data.sessions[at];
  if (!session || session.lines.length < 2) return;
  const place = make("div", "place");
  const count = session.lines.length - 1;
  const details = make(
    "details",
    "trail",
    make("summary", "", `The whole trail: ${count.toLocaleString("en")} ${count === 1 ? "entry" : "entries"}`),
  );
  const buttons = ["Timeline", "Tree"].map((name) => {
    const button = make("button", "", name);
    button.type = "button";
    return button;
  });
  const views = make("div", "views", ...buttons);
  views.setAttribute("role", "group");
  views.setAttribute("aria-label", "How the trail is drawn");
  details.append(views, place);
  const trail = { details, shown: undefined };
  trail.show = (index) => {
    trail.shown = index;
    buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(at === index)));
    place.replaceChildren(index ? tree(session, at) : timeline(session, at));
    trail.mark();
  };
  trail.mark = () => {
    for (const item of place.querySelectorAll(".entry")) {
      const result = session.results[item.dataset.line];
      if (!result) continue;
      const tick = item.querySelector(".tick");
      tick.textContent = result.adrift
        ? "hangs on a line that does not add up"
        : result.ok
          ? "adds up"
          : "does not add up";
      tick.className = "tick" + (result.adrift ? "" : result.ok ? " good" : " broken");
      if (result.hash) tick.title = "content hash " + result.hash;
      item.classList.toggle("broken", !result.ok);
      item.querySelector(".why")?.remove();
      if (!result.ok) {
        const why = make("div", "why", visible(result.what));
        if (result.expected !== undefined)
          why.append(
            make("code", "", "expected " + result.expected),
            make("code", "", "found    " + visible(String(result.found))),
          );
        item.querySelector(".body").append(why);
      }
    }
  };
  buttons.forEach((button, index) => button.addEventListener("click", () => trail.show(index)));
  details.addEventListener("toggle", () => {
    if (details.open && trail.shown === undefined) trail.show(0);
  });
  session.trails.push(trail);
  section.append(details);
}

// Opens what an address leads to: a commit, a line of a trail, or a filter.
function follow() {
  let hash = location.hash.slice(1);
  try {
    hash = decodeURIComponent(hash);
  } catch {} // not an address of ours
  if (hash.startsWith("q=")) {
    byId("query").value = hash.slice(2);
    return search();
  }
  const commit = /^c-[0-9a-f]+$/.test(hash) && byId(hash);
  if (commit) {
    commit.open = true;
    commit.scrollIntoView({ block: "center" });
    return;
  }
  const match = /^e-(\d+)-(\d+)$/.exec(hash);
  const trail = match && data.sessions[match[1]] && data.sessions[match[1]].trails[0];
  if (!trail) return;
  trail.details.open = true;
  if (trail.shown !== 0) trail.show(0);
  const entry = byId(hash);
  document.querySelectorAll(".lit").forEach((item) => item.classList.remove("lit"));
  if (!entry) return;
  entry.classList.add("lit");
  entry.scrollIntoView({ block: "center" });
}

// Makes a hash a button that shows all of it.
function openHash(code) {
  const full = code.title,
    button = make("button", "hash", code.textContent);
  button.type = "button";
  button.title = full;
  button.setAttribute("aria-label", "hash " + full + ", show it in full and copy it");
  button.addEventListener("click", () => {
    button.textContent = button.textContent === full ? full.slice(0, 12) : full;
    button.setAttribute("aria-expanded", String(button.textContent === full));
    const copied = () => {
      button.classList.add("copied");
      setTimeout(() => button.classList.remove("copied"), 1200);
    };
    if (button.textContent === full && navigator.clipboard) navigator.clipboard.writeText(full).then(copied, () => {});
  });
  code.replaceWith(button);
}

function begin() {
  try {
    load();
    document.querySelectorAll("code.hash").forEach(openHash);
    document.querySelectorAll(".session[data-session]").forEach(addTrail);
  } catch (error) {
    // Whatever is wrong with the data or the page, nothing that it says was checked.
    doubt("it cannot be read: " + String(error.message));
    document.documentElement.dataset.checked = "true";
    return;
  }
  if (data.commits.length) beginSearch();
  // The newest round is the last one.
  byId("check").addEventListener("toggle", () => {
    document.querySelectorAll(".scroll:has(.chain)").forEach((box) => (box.scrollLeft = box.scrollWidth));
  });
  byId("again").hidden = false;
  byId("again").addEventListener("click", check);
  addEventListener("hashchange", follow);
  // A second click on the same link changes no address.
  addEventListener("click", (event) => {
    if (event.target.closest?.('a[href^="#e-"], a[href^="#c-"]')) setTimeout(follow);
  });
  check();
}

// When all of the file is there, and after the first paint: the page is there to be read meanwhile.
addEventListener("DOMContentLoaded", () => requestAnimationFrame(() => setTimeout(begin)));

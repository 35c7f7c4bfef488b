// The task list: filters that live in the address, so that a filtered list can be linked to.
"use strict";

(async () => {
  const { el } = RPMS;
  const PAGE = 100;
  const info = await RPMS.meta();
  if (!info) return;
  const all = (await RPMS.tasks(info)).map((row, number) => ({
    number,
    task: row[0],
    type: row[1],
    goal: row[2],
    outcomes: row.slice(3),
    text: `${row[0]} ${row[2]}`.toLowerCase(),
  }));
  let shown = all;
  let page = 0;
  let current = -1;

  const OUTCOMES = {
    "": "any outcome",
    won: "won",
    lost: "not won",
    slip: "with infeasible actions",
    error: "crashed",
    none: "missing",
  };
  const matches = {
    won: (o) => o !== null && o[1] === 1,
    lost: (o) => o === null || o[1] === 0,
    slip: (o) => o !== null && o[4] > 0,
    error: (o) => o !== null && /error$/.test(o[0]),
    none: (o) => o === null,
  };
  const won = (o) => o !== null && o[1] === 1;

  // ── filters ──
  const form = document.getElementById("filters");
  const search = el("input", { type: "search", name: "q", placeholder: "Search task or goal", "aria-label": "Search" });
  const type = select("type", "Type", { "": "all types", ...info.types });
  const outcomes = info.conditions.map((condition, n) => select(`o${n}`, condition.label, OUTCOMES));
  const flips = {};
  if (info.conditions.length > 1) {
    flips[""] = "all tasks";
    flips.any = "outcomes differ";
    flips.same = "outcomes agree";
    info.conditions.forEach((a, x) =>
      info.conditions.forEach((b, y) => {
        if (x !== y) flips[`${x}-${y}`] = `lost in ${a.label}, won in ${b.label}`;
      }),
    );
  }
  const flip = select("flip", "Who flips", flips);
  form.append(field("Search", search), field("Type", type));
  info.conditions.forEach((condition, n) => form.append(field(condition.label, outcomes[n])));
  if (info.conditions.length > 1) form.append(field("Who flips", flip));
  form.append(el("button", { type: "reset" }, "Clear"));

  function select(name, label, options) {
    const choices = Object.entries(options).map(([value, text]) => el("option", { value }, text));
    return el("select", { name, "aria-label": label }, choices);
  }
  function field(label, control) {
    return el("label", {}, el("span", {}, label), control);
  }
  function controls() {
    return [search, type, ...outcomes, flip];
  }

  function fromAddress() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    for (const control of controls()) {
      const value = wanted.get(control.name) || "";
      control.value = value;
      if (control.tagName === "SELECT" && control.selectedIndex < 0) control.selectedIndex = 0;
    }
    page = Math.max(0, (parseInt(wanted.get("page"), 10) || 1) - 1);
    apply();
  }
  function toAddress() {
    const wanted = new URLSearchParams();
    for (const control of controls()) if (control.value) wanted.set(control.name, control.value);
    if (page) wanted.set("page", page + 1);
    history.replaceState(null, "", `#${wanted}`);
  }

  function apply() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const tests = outcomes.map((control) => matches[control.value]);
    const pair = /^(\d+)-(\d+)$/.exec(flip.value);
    shown = all.filter((row) => {
      if (type.value && row.type !== type.value) return false;
      if (!words.every((word) => row.text.includes(word))) return false;
      if (tests.some((test, n) => test && !test(row.outcomes[n]))) return false;
      const wins = row.outcomes.map(won);
      const differ = wins.some((win) => win !== wins[0]);
      if (flip.value === "any") return differ;
      if (flip.value === "same") return !differ;
      return !pair || (!wins[pair[1]] && wins[pair[2]]);
    });
    page = Math.min(page, Math.max(0, Math.ceil(shown.length / PAGE) - 1));
    render();
  }

  // ── list ──
  const heads = document.getElementById("heads");
  heads.append(
    el("th", { scope: "col" }, "Task"),
    ...info.conditions.map((condition) => el("th", { scope: "col" }, condition.label)),
  );
  const body = document.getElementById("rows");

  // The first tasks have pages; of the others the list tells all that there is.
  function link(row, attributes, text, ...where) {
    return row.number < info.shown ? el("a", { ...attributes, href: address(row, ...where) }, text) : el("span", attributes, text);
  }
  function address(row, condition, other) {
    const wanted = new URLSearchParams({ task: row.number, condition });
    if (other !== undefined) wanted.set("with", other);
    return `episode.html?${wanted}#${other === undefined ? "step-1" : "parting"}`;
  }
  function outcome(row, n) {
    const o = row.outcomes[n];
    if (o === null) return el("td", {}, el("span", { class: "outcome none" }, "missing"));
    const [ending, win, score, steps, slips] = o;
    const kind = win ? "won" : /error$/.test(ending) ? "crash" : "lost";
    const label = info.scored ? `${ending} · ${score}` : ending;
    return el(
      "td",
      {},
      link(row, { class: `outcome ${kind}` }, label, n),
      el("span", { class: "brief" }, el("span", {}, `${steps} steps`), slips ? el("span", {}, `${slips} infeasible`) : null),
    );
  }
  // The two conditions that are most worth comparing: one that lost and one that won, if there are such.
  function pairOf(row) {
    const wins = row.outcomes.map(won);
    const played = row.outcomes.map((o, n) => (o === null ? -1 : n)).filter((n) => n >= 0);
    if (played.length < 2) return null;
    const lost = played.find((n) => !wins[n]);
    const winner = played.filter((n) => wins[n]).pop();
    return lost !== undefined && winner !== undefined ? [lost, winner] : [played[0], played[played.length - 1]];
  }

  function render() {
    const start = page * PAGE;
    const rows = shown.slice(start, start + PAGE).map((row) => {
      const pair = pairOf(row);
      const first = row.outcomes.findIndex((o) => o !== null);
      return el(
        "tr",
        { "data-task": row.number },
        el(
          "th",
          { scope: "row" },
          first < 0 ? row.goal || row.task : link(row, { class: "open" }, row.goal || row.task, first),
          row.goal ? el("span", { class: "name" }, row.task) : null,
          el(
            "span",
            { class: "brief" },
            el("span", { class: "tag" }, info.types[row.type] || row.type),
            pair && row.number < info.shown ? el("a", { href: address(row, ...pair), class: "compare" }, "Compare") : null,
          ),
        ),
        info.conditions.map((_, n) => outcome(row, n)),
      );
    });
    body.replaceChildren(...rows);
    current = -1;
    const pages = Math.max(1, Math.ceil(shown.length / PAGE));
    const counts = info.conditions.map(
      (condition, n) => `${condition.label} ${shown.filter((row) => won(row.outcomes[n])).length}`,
    );
    document.getElementById("summary").textContent =
      `${shown.length} of ${all.length} tasks. Won: ${counts.join(" · ")}`;
    const go = (by) => () => turn(by);
    document
      .getElementById("pager")
      .replaceChildren(
        ...(pages > 1
          ? [
              el("button", { type: "button", disabled: page === 0, onclick: go(-1) }, "Previous"),
              el("span", {}, `page ${page + 1} of ${pages}`),
              el("button", { type: "button", disabled: page >= pages - 1, onclick: go(1) }, "Next"),
            ]
          : []),
      );
  }
  function turn(by) {
    const last = Math.ceil(shown.length / PAGE) - 1;
    const wanted = Math.min(last, Math.max(0, page + by));
    if (wanted === page) return;
    page = wanted;
    toAddress();
    render();
    window.scrollTo(0, 0);
  }
  function select_row(by) {
    const rows = body.children;
    if (!rows.length) return;
    if (rows[current]) rows[current].classList.remove("current");
    current = Math.min(rows.length - 1, Math.max(0, current + by));
    rows[current].classList.add("current");
    rows[current].scrollIntoView({ block: "nearest" });
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    page = 0;
    apply();
    toAddress();
  });
  form.addEventListener("reset", () =>
    setTimeout(() => {
      page = 0;
      apply();
      toAddress();
    }),
  );
  window.addEventListener("hashchange", fromAddress);
  RPMS.keys({
    j: () => select_row(1),
    k: () => select_row(-1),
    Enter: (event) => {
      const link = body.children[current] && body.children[current].querySelector("a.open");
      if (!link || event.target.tagName === "A" || event.target.tagName === "BUTTON") return false;
      location.href = link.href;
      return true;
    },
    "[": () => turn(-1),
    "]": () => turn(1),
    "/": () => search.focus(),
  });
  fromAddress();
})();

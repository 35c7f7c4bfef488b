// The episode page: one task, one condition or two beside each other, one step at a time.
// episode.html?task=3&condition=0&with=2#step-7
"use strict";

(async () => {
  const { el } = RPMS;
  const info = await RPMS.meta();
  if (!info) return;
  const head = document.getElementById("head");
  const columns = document.getElementById("columns");
  const wanted = new URLSearchParams(location.search);
  const unknown = []; // what the address asks for and this report does not have
  const whole = (name, end, what) => {
    if (!wanted.has(name)) return null;
    const value = /^\d+$/.test(wanted.get(name)) ? Number(wanted.get(name)) : -1;
    if (value >= 0 && value < end) return value;
    unknown.push(`${what} ${wanted.get(name)}`);
    return null;
  };
  const number = whole("task", info.tasks, "task") ?? 0;
  const condition = whole("condition", info.conditions.length, "condition") ?? 0;
  let other = whole("with", info.conditions.length, "condition");
  if (other === condition) other = null;
  const row = await RPMS.task(info, number);
  if (!row) {
    head.append(el("p", { class: "callout" }, "There is no such task in this report."));
    return;
  }
  const outcomes = row.slice(3);
  const sides = other === null ? [condition] : [condition, other];
  const episodes = await Promise.all(sides.map((side) => (outcomes[side] ? RPMS.episode(info, side, number) : null)));
  document.title = `${row[0]} · ${info.title}`;

  const last = Math.max(1, ...episodes.map((episode) => (episode ? episode.steps.length : 0)));
  const parting = part();
  let now = 1;
  let beyond = null; // a step that the address asks for and no episode here has

  // The first step at which two conditions do not do the same with the same result; null if they never part.
  function part() {
    if (episodes.length < 2 || !episodes[0] || !episodes[1]) return null;
    const [one, two] = episodes;
    for (let n = 0; n < Math.max(one.steps.length, two.steps.length); n++) {
      const a = one.steps[n];
      const b = two.steps[n];
      if (!a || !b || a.command !== b.command || a.result !== b.result) return n + 1;
    }
    return null;
  }

  function address(values) {
    const search = new URLSearchParams({ task: number, condition });
    if (other !== null) search.set("with", other);
    for (const [name, value] of Object.entries(values)) {
      if (value === null) search.delete(name);
      else search.set(name, value);
    }
    return `episode.html?${search}`;
  }

  // ── head ──
  function renderHead() {
    const tabs = info.conditions.map((each, n) => {
      const outcome = outcomes[n];
      const kind = outcome === null ? "none" : outcome[1] ? "won" : /error$/.test(outcome[0]) ? "crash" : "lost";
      const at = `#step-${now}`;
      return el(
        "a",
        { class: `tab ${sides.includes(n) ? "on" : ""}`, href: address({ condition: n, with: null }) + at, "aria-current": n === condition ? "true" : null },
        each.label,
        el("span", { class: `outcome ${kind}` }, outcome === null ? "missing" : outcome[0]),
      );
    });
    const choice = el(
      "select",
      { id: "with", "aria-label": "Compare with", onchange: (event) => compareWith(event.target.value === "" ? null : Number(event.target.value)) },
      el("option", { value: "" }, "nothing"),
      info.conditions.map((each, n) => (n === condition ? null : el("option", { value: n, selected: n === other }, each.label))),
    );
    const nowhere = beyond === null ? unknown : [...unknown, `step ${beyond}`];
    head.replaceChildren(
      ...(nowhere.length
        ? [el("p", { class: "callout", id: "unknown", role: "status" }, `The address asks for ${nowhere.join(" and ")}, which this report does not have; shown instead: task ${number}, condition ${condition} (${info.conditions[condition].label}), step ${now}.`)]
        : []),
      el("p", { class: "crumbs" }, el("a", { href: "tasks.html" }, "Tasks"), " / ", el("span", { class: "tag" }, info.types[row[1]] || row[1])),
      el("h1", { class: "goal-title" }, row[2] || row[0]),
      el("p", { class: "task-id" }, row[0]),
      el(
        "div",
        { class: "switches" },
        el("div", { class: "tabs", role: "group", "aria-label": "Condition" }, tabs),
        info.conditions.length > 1 ? el("label", { class: "with" }, "Compare with ", choice) : null,
        el(
          "span",
          { class: "neighbours" },
          number > 0 ? el("a", { href: address({ task: number - 1 }) + "#step-1" }, "← previous task") : null,
          number < info.tasks - 1 ? el("a", { href: address({ task: number + 1 }) + "#step-1" }, "next task →") : null,
        ),
      ),
      ...(other === null
        ? []
        : [
            el(
              "p",
              { class: "parting", id: "parting" },
              parting === null
                ? "The two conditions do the same from beginning to end."
                : ["The two part at ", el("a", { href: `#step-${parting}` }, `step ${parting}`), "."],
            ),
          ]),
    );
  }

  function compareWith(side) {
    location.href = address({ with: side }) + (side === null ? `#step-${now}` : "#parting");
  }

  // ── columns ──
  function facts(episode) {
    const { infeasible, foreseeable, repeated_failures: repeated, contradictions, surprises } = episode.row;
    const { prompt_tokens: prompted, cached_tokens: cached, completion_tokens: completed } = episode.row.usage;
    const items = [
      ["ended", episode.row.ending],
      info.scored ? ["score", episode.row.score] : null,
      ["steps", episode.steps.length],
      ["infeasible", infeasible ? `${infeasible}, ${foreseeable} of them foreseeable` : 0],
      repeated ? ["repeated failures", repeated] : null,
      contradictions ? ["belief contradictions", contradictions] : null,
      surprises ? ["surprises", surprises] : null,
      prompted ? ["tokens", `${prompted} in${cached ? ` (${cached} cached)` : ""}, ${completed} out`] : null,
    ].filter(Boolean);
    return el("dl", { class: "facts" }, items.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
  }

  function stepList(episode, side) {
    const items = episode.steps.map((step) =>
      el(
        "li",
        {},
        el(
          "a",
          { href: `#step-${step.number}`, "data-step": step.number, class: `${step.infeasible ? "bad" : ""} ${step.number === parting ? "parts" : ""}` },
          el("span", { class: "number" }, step.number),
          el("span", { class: "command" }, step.command || "no action"),
          step.infeasible ? el("span", { class: "mark", title: step.objection || "infeasible" }, "✗") : null,
          step.contradictions.length ? el("span", { class: "mark drift", title: "the belief was wrong" }, "≠") : null,
          step.surprises.length ? el("span", { class: "mark drift", title: step.surprises.map((one) => one.text).join("; ") }, "!") : null,
        ),
      ),
    );
    return el("ol", { class: "steps", "aria-label": `Steps under ${info.conditions[side].label}` }, items);
  }

  // The whole episode as text, in the form of `rpms show`; made when it is first opened.
  function transcript(episode) {
    const said = el("pre", { class: "said transcript" });
    const lines = () => {
      const found = [`goal: ${episode.goal}`];
      for (const step of episode.steps) {
        found.push("", `step ${step.number}`, step.observation.trim());
        if (step.extras.reading) found.push(`another reading: ${step.extras.reading}`);
        for (const each of step.extras.readings || []) if ("taken" in each) found.push(`read as: ${each.goal}`);
        if (step.thought.trim()) found.push(`thought: ${step.thought.trim()}`);
        for (const refusal of step.extras.refused || []) found.push(`refused: ${refusal.command || "(no action)"}: ${refusal.reason}`);
        if (step.extras.replaced) found.push(`replaced: ${step.action || "(no action)"}: ${step.extras.replaced}`);
        found.push(`> ${step.command || "(no action)"}`);
        if (step.infeasible) found.push(`infeasible${step.objection ? `: ${step.objection}` : ""}`);
        for (const one of step.surprises) found.push(`surprise, ${one.kind}: ${one.text}${one.line ? ` [${one.line}]` : ""}`);
      }
      if (episode.steps.length) found.push("", episode.steps[episode.steps.length - 1].result.trim());
      return [...found, `ended: ${episode.row.ending}${episode.row.error ? `: ${episode.row.error}` : ""}`].join("\n");
    };
    const open = (event) => {
      if (event.target.open && !said.textContent) said.textContent = lines();
    };
    return el("details", { class: "whole", ontoggle: open }, el("summary", {}, "The whole episode as text"), said);
  }

  const views = [];
  function renderColumns() {
    columns.className = `columns ${sides.length > 1 ? "two" : "one"}`;
    sides.forEach((side, place) => {
      const episode = episodes[place];
      const title = sides.length > 1 ? el("h2", { class: "condition" }, info.conditions[side].label) : null;
      if (!episode) {
        columns.append(el("section", { class: "column" }, title, el("p", { class: "callout" }, "There is no episode of this task under this condition: it was not played, or its file is damaged. The overview says which.")));
        views.push(null);
        return;
      }
      const view = el("div", { class: "view" });
      views.push(view);
      columns.append(
        el(
          "section",
          { class: "column", "data-condition": side },
          title,
          facts(episode),
          episode.row.error ? el("p", { class: "alarm" }, episode.row.error) : null,
          transcript(episode),
          el("div", { class: "split" }, stepList(episode, side), view),
        ),
      );
    });
  }

  function show(step) {
    now = Math.min(last, Math.max(1, step));
    views.forEach((view, place) => view && view.replaceChildren(Step.view(info, episodes[place], now, sides[place])));
    for (const link of columns.querySelectorAll("a[data-step]")) {
      const here = Number(link.dataset.step) === now;
      if (here) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
      if (here) {
        const list = link.closest("ol");
        const top = link.offsetTop - list.offsetTop;
        if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 40) list.scrollTop = top - list.clientHeight / 2;
      }
    }
    renderHead();
  }

  function fromAddress() {
    const found = /^#step-(\d+)$/.exec(location.hash);
    const step = found ? Number(found[1]) : 1;
    beyond = episodes.some(Boolean) && (step < 1 || step > last) ? step : null;
    show(found ? step : location.hash === "#parting" && parting !== null ? parting : 1);
  }
  function go(step) {
    const wanted = Math.min(last, Math.max(1, step));
    if (wanted !== now || location.hash !== `#step-${wanted}`) {
      beyond = null;
      history.replaceState(null, "", `#step-${wanted}`);
      show(wanted);
    }
  }
  function nextInfeasible() {
    const steps = episodes.flatMap((episode) => (episode ? episode.steps.filter((step) => step.infeasible).map((step) => step.number) : []));
    const later = steps.filter((n) => n > now);
    if (steps.length) go(later.length ? Math.min(...later) : Math.min(...steps));
  }
  function toTask(task) {
    if (task >= 0 && task < info.tasks) location.href = address({ task }) + "#step-1";
  }

  RPMS.keys({
    j: () => go(now + 1),
    ArrowRight: () => go(now + 1),
    k: () => go(now - 1),
    ArrowLeft: () => go(now - 1),
    g: () => go(1),
    G: () => go(last),
    i: nextInfeasible,
    c: () => {
      let next = condition;
      do next = (next + 1) % info.conditions.length;
      while (next === other);
      location.href = address({ condition: next }) + `#step-${now}`;
    },
    x: () => {
      if (other !== null) return compareWith(null);
      const won = Boolean(outcomes[condition] && outcomes[condition][1]);
      const others = info.conditions.map((_, n) => n).filter((n) => n !== condition && outcomes[n] !== null);
      const unlike = others.filter((n) => Boolean(outcomes[n][1]) !== won);
      const choice = (unlike.length ? unlike : others).pop();
      return choice === undefined ? undefined : compareWith(choice);
    },
    d: () => parting !== null && go(parting),
    n: () => toTask(number + 1),
    p: () => toTask(number - 1),
    u: () => {
      location.href = "tasks.html";
    },
  });
  renderColumns();
  window.addEventListener("hashchange", fromAddress);
  fromAddress();
})();

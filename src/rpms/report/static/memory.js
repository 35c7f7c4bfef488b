// The memory page: every entry that came to mind in a report; or one of them, with every step that showed it.
// memory.html, memory.html?entry=success_0b1c2d
"use strict";

(async () => {
  const { el } = RPMS;
  const info = await RPMS.meta();
  const main = document.getElementById("memory");
  const entries = info && (await RPMS.load("memory", "data/memory.js"));
  if (!entries) return;
  const wanted = new URLSearchParams(location.search).get("entry");
  const words = (kind) => kind.replace("_", " ");

  function table(heads, rows) {
    const head = heads.map(([name, kind]) => el("th", { scope: "col", class: kind || null }, name));
    for (const row of rows) [...row.children].forEach((cell, n) => cell.setAttribute("data-label", heads[n][0]));
    return el("div", { class: "scroll" }, el("table", { class: "candidates stacked" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)));
  }

  function overview() {
    const kinds = {};
    for (const [, kind, , , , , shown] of entries) {
      kinds[kind] = kinds[kind] || [0, 0];
      kinds[kind][0] += 1;
      kinds[kind][1] += shown;
    }
    const never = entries.filter((entry) => entry[6] === 0).length;
    const rows = entries.map(([name, kind, wording, fates, won, lost, shown]) =>
      el(
        "tr",
        { class: shown ? "" : "fate-off" },
        el("td", {}, el("a", { href: RPMS.entryPage(name) }, name), el("div", { class: "dim" }, words(kind))),
        el("td", {}, el("div", { class: "wording" }, wording)),
        el("td", { class: "n" }, shown),
        el("td", { class: "n" }, Object.values(fates).reduce((sum, count) => sum + count, 0) - shown),
        el("td", { class: "n" }, `${won} / ${lost}`),
      ),
    );
    main.append(
      el("h1", {}, "Memory"),
      entries.length
        ? el(
            "p",
            { class: "lead" },
            `${entries.length} entries came to mind, ${never} of them never in a prompt: `,
            Object.entries(kinds).map(([kind, [count, shown]], n) => `${n ? "; " : ""}${count} ${words(kind)}, shown ${shown} times`),
            ". What an entry did is not told by episodes won with it: most would have been won anyway. ",
            el("code", {}, "rpms memory audit"),
            " estimates it from runs with ",
            el("code", {}, "--mask"),
            ".",
          )
        : el("p", { class: "lead" }, "No entry came to mind in these runs."),
      entries.length ? table([["Entry"], ["Says"], ["Steps shown", "n"], ["Not shown", "n"], ["Episodes won / lost with it", "n"]], rows) : "",
    );
  }

  async function one(number) {
    const [name, kind, wording, fates, won, lost, shown] = entries[number];
    const chunk = await RPMS.load(`entries-${Math.floor(number / info.entries)}`, `data/entries-${Math.floor(number / info.entries)}.js`);
    const [steps, reasons] = (chunk && chunk[number % info.entries]) || [[], []];
    document.title = `${name} · ${info.title}`;
    const rows = steps.map(([condition, task, step, command, infeasible, done, ending]) =>
      el(
        "tr",
        {},
        el("td", {}, el("a", { href: `episode.html?task=${task}&condition=${condition}#step-${step}` }, `task ${task + 1}, step ${step}`), el("div", { class: "dim" }, info.conditions[condition].label)),
        el("td", {}, el("code", { class: infeasible ? "bad" : "" }, command || "no action")),
        el("td", {}, infeasible ? "infeasible" : done > 0 ? "a sub-goal reached" : done < 0 ? "a sub-goal lost" : "no progress"),
        el("td", {}, ending),
      ),
    );
    main.append(
      el("p", {}, el("a", { href: "memory.html" }, "All entries")),
      el("h1", {}, name),
      el("p", { class: "dim" }, words(kind)),
      el("pre", { class: "said" }, wording),
      el("p", { class: "lead" }, `Shown in ${shown} steps. Episodes with it: ${won} won, ${lost} not.`),
      el("ul", { class: "plain" }, Object.entries(fates).map(([fate, count]) => el("li", {}, `${fate}: ${count}`))),
      el("h2", {}, "Where it was shown, and what followed"),
      rows.length ? table([["Step"], ["Done"], ["What followed"], ["The episode ended"]], rows) : el("p", { class: "dim" }, "nowhere"),
      shown > steps.length ? el("p", { class: "dim" }, `and ${shown - steps.length} more steps, which are counted and not listed`) : "",
      reasons.length ? el("h2", {}, "Where it was not shown, and why") : "",
      el("ul", { class: "plain" }, reasons.map(([reason, count]) => el("li", {}, `${count} × ${reason}`))),
    );
  }

  const found = entries.findIndex((entry) => RPMS.addressable(entry[0]) === wanted);
  if (found >= 0) await one(found);
  else {
    if (wanted !== null) main.append(el("p", { class: "callout" }, "There is no such entry in this report."));
    overview();
  }
})();

// One step, explained: what was seen and believed, what was recalled and judged, asked, answered, and what came of it.
"use strict";

const Step = (() => {
  const { el } = RPMS;
  const FATES = {
    kept: "good",
    warned: "warn",
    "kept in part": "warn",
    dropped: "bad",
    "filtered by state": "off",
    "below θ": "off",
    "crowded out": "off",
    "hidden by chance": "off",
  };
  const READINGS = 6; // readings shown from the one that is acted on; the rest are folded
  const TIERS = { universal: "Universal", domain: "Domain", environment: "Environment" };
  const opened = new Set(); // prompt blocks that the reader opened, so that they stay open from step to step

  function section(title, aside, ...children) {
    return el("section", { class: "part" }, el("h3", {}, title, aside ? el("span", { class: "aside" }, aside) : null), children);
  }
  function said(text, kind) {
    return el("pre", { class: `said ${kind || ""}` }, text === "" ? el("span", { class: "dim" }, "(nothing)") : text);
  }
  function tag(text, kind, title) {
    return el("span", { class: `tag ${kind || ""}`, title }, text);
  }

  // The text of a prompt's block.
  const words = ({ heading, items }) => (heading ? [heading, ...items] : items).join("\n");

  function observation(step) {
    return section("Observation", null, said(step.observation));
  }

  // What is in one list and not in the other, in order.
  function missing(from, within) {
    const known = new Set(within);
    return from.filter((line) => !known.has(line));
  }
  function changes(before, after, words) {
    const found = [];
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    for (const name of names) {
      const was = Object.hasOwn(before, name) ? before[name] : undefined;
      const is = Object.hasOwn(after, name) ? after[name] : undefined;
      if (was !== is) found.push(words(name, was, is));
    }
    return found;
  }
  const open = (value) => (value === undefined ? "unknown" : value ? "open" : "closed");

  function belief(step, former) {
    const now = step.belief;
    const before = former && former.belief;
    const lines = now.lines;
    const old = before ? before.lines : lines;
    const fresh = new Set(missing(lines, old));
    const rows = [
      ...missing(old, lines).map((line) => el("li", { class: "gone" }, line)),
      ...lines.map((line) => el("li", { class: fresh.has(line) ? "new" : "" }, line)),
    ];
    const details = before
      ? [
          before.location !== now.location ? `location: ${before.location || "nowhere"} → ${now.location || "nowhere"}` : null,
          before.holding.join() !== now.holding.join()
            ? `holding: ${before.holding.join(", ") || "nothing"} → ${now.holding.join(", ") || "nothing"}`
            : null,
          ...changes(before.containers, now.containers, (name, was, is) => `${name}: ${open(was)} → ${open(is)}`),
          ...changes(before.last_seen, now.last_seen, (name, was, is) => `${name}: seen ${was ? `at ${was} → ` : ""}${is ? `at ${is}` : "no more"}`),
        ].filter(Boolean)
      : [];
    const { sub_goal: goal, target, done, total } = step.progress;
    return section(
      "Belief",
      now.signature,
      rows.length ? el("ul", { class: "belief" }, rows) : el("p", { class: "dim" }, "nothing is known yet"),
      before
        ? details.length
          ? el("details", {}, el("summary", {}, "What changed ", el("span", { class: "count" }, details.length)), el("ul", { class: "plain" }, details.map((line) => el("li", {}, line))))
          : el("p", { class: "dim" }, "nothing changed since the step before")
        : null,
      el("p", { class: "progress" }, "Sub-goal: ", el("strong", {}, (target ? `${goal} - ${target}` : goal) || "none"), total ? ` (${done} of ${total} done)` : ""),
      step.contradictions.length
        ? el("div", { class: "alarm drift" }, el("strong", {}, "The belief was wrong: "), step.contradictions.join("; "))
        : null,
    );
  }

  function rules(episode, step) {
    const tiers = Object.entries(episode.rules).filter(([, ids]) => ids.length);
    const situation = step.prompt.find(({ part }) => part === "rules.situation");
    if (!tiers.length) return section("Active rules", "none in this condition");
    const away = new Set(step.left_out);
    const missed = (ids) => {
      const count = ids.filter((id) => away.has(id)).length;
      return count ? `, ${count} not shown at this sub-goal` : "";
    };
    const all = tiers.flatMap(([, ids]) => ids);
    return section(
      "Active rules",
      `${all.length} in ${tiers.length} tiers${missed(all)}`,
      situation ? said(words(situation), "small") : null,
      tiers.map(([tier, ids]) =>
        el(
          "details",
          {},
          el("summary", {}, TIERS[tier] || tier, " ", el("span", { class: "count" }, `${ids.length}${missed(ids)}`)),
          el("p", { class: "chips" }, ids.map((id) => [away.has(id) ? tag(id, "rule away", "not shown at this sub-goal") : tag(id, "rule"), " "])),
        ),
      ),
    );
  }

  /** Why no memory is in the prompt: switched off, empty, nothing alike, or all of it judged unfit. */
  function silence(step, condition) {
    if (!condition.memory) return "off in this condition";
    if (condition.entries === 0) return "the memory is empty";
    if (!step.candidates.length) return "nothing came to mind: no goal in memory is like this one";
    const below = step.candidates.every(({ fate }) => fate === "below θ");
    if (below) return "nothing came to mind: the nearest goals in memory are below θ";
    return `nothing is in the prompt: all ${step.candidates.length + step.unlisted} candidates were rejected`;
  }

  function memory(step, condition) {
    const shown = step.candidates.filter(({ fate }) => FATES[fate] === "good" || FATES[fate] === "warn");
    if (!step.candidates.length) return section("Memory", silence(step, condition));
    const rows = step.candidates.map(({ entry, kind, wording, score, rank, fate, reason, rule, fact }) =>
      el(
        "tr",
        { class: `fate-${FATES[fate] || "off"}` },
        el("td", {}, tag(fate, FATES[fate] || "off")),
        el(
          "td",
          {},
          el("div", { class: "wording" }, wording.trim()),
          el("div", { class: "dim" }, `${kind.replace("_", " ")} · `, el("a", { href: RPMS.entryPage(entry) }, entry)),
          reason || rule || fact
            ? el("div", { class: "why" }, reason, rule ? [" ", tag(rule, "rule")] : null, fact ? [" ", el("code", {}, fact)] : null)
            : null,
        ),
        el("td", { class: "n" }, score.toFixed(2)),
        el("td", { class: "n" }, rank.toFixed(2)),
      ),
    );
    return section(
      "Memory",
      shown.length ? `${shown.length} of ${step.candidates.length + step.unlisted} candidates in the prompt` : silence(step, condition),
      el(
        "div",
        { class: "scroll" },
        el(
          "table",
          { class: "candidates" },
          el("thead", {}, el("tr", {}, ["Verdict", "Entry, and why", "Score", "Rank"].map((name, n) => el("th", { scope: "col", class: n > 1 ? "n" : null }, name)))),
          el("tbody", {}, rows),
        ),
      ),
      step.unlisted
        ? el("p", { class: "dim" }, `${step.unlisted} more came to mind and ${step.unlisted === 1 ? "was" : "were"} rejected; a step keeps the first rejected ones of each kind and only counts the rest, so that episode files stay small.`)
        : null,
    );
  }

  function prompt(step, shared, condition) {
    const total = step.prompt.reduce((sum, { tokens }) => sum + tokens, 0);
    const injected = step.prompt.reduce((sum, { part, tokens }) => sum + (shared.includes(part) ? 0 : tokens), 0);
    const bar = el("div", { class: "bar", "aria-hidden": "true" });
    for (const { part, tokens } of step.prompt) {
      const piece = el("span", { class: `piece ${part.replace(".", "-")}`, title: `${part}: ${tokens} tokens` });
      piece.style.flexGrow = tokens;
      bar.append(piece);
    }
    const blocks = step.prompt.map((told) => {
      const { part, tokens } = told;
      const body = el("div", {});
      const block = el(
        "details",
        { class: "block" },
        el(
          "summary",
          {},
          el("span", { class: `swatch ${part.replace(".", "-")}` }),
          el("code", {}, part),
          shared.includes(part) ? null : tag("injected", "injected"),
          el("span", { class: "grow" }),
          el("span", { class: "tokens" }, `${tokens} tokens`),
        ),
        body,
      );
      block.addEventListener("toggle", () => {
        if (block.open) opened.add(part);
        else opened.delete(part);
        if (block.open && !body.firstChild) body.append(said(words(told), "small"));
      });
      block.open = opened.has(part);
      return block;
    });
    const sent = messages(step, condition);
    return section(
      "Prompt",
      `about ${total} tokens, ${injected} of them injected knowledge (estimated)`,
      crowding(step),
      sent,
      sent ? el("p", { class: "dim" }, "These blocks are what the messages were made of:") : null,
      bar,
      blocks,
      step.cut.length
        ? el(
            "details",
            { class: "block" },
            el("summary", {}, "Cut by the budget ", el("span", { class: "count" }, step.cut.length)),
            step.cut.map(([part, item]) => el("div", {}, el("code", {}, part), said(item, "small"))),
          )
        : null,
    );
  }

  /** The messages as they were sent, where a part of the user's own made them of the blocks. */
  function messages(step, condition) {
    const sent = step.extras.messages || [];
    if (!sent.length) return null;
    return el(
      "div",
      { class: "sent" },
      el("p", {}, `Sent as ${sent.length} ${sent.length === 1 ? "message" : "messages"} of the prompt part `, el("code", {}, condition.prompt || "of the run"), ":"),
      sent.map(([role, content]) => el("div", {}, el("code", {}, role), said(content, "small"))),
    );
  }

  /** What the context window had no room for: turns of the history, and, which is worse, knowledge. */
  function crowding(step) {
    const lacking = Object.entries(step.extras.no_room || {});
    if (!lacking.length) return null;
    const knowledge = lacking.some(([part]) => part !== "history");
    const words = lacking.map(([part, count]) => `${count} of ${part}`).join(", ");
    return el("div", { class: knowledge ? "alarm infeasible" : "dim" }, `No room in the context window for: ${words}.`);
  }

  function answer(step) {
    const { prompt_tokens: prompted, cached_tokens: cached, completion_tokens: completed } = step.usage;
    const counted = prompted || completed ? `${prompted} tokens in${cached ? ` (${cached} cached)` : ""}, ${completed} out (as the model counts)` : null;
    const repairs = step.repairs.filter((repair) => repair !== "no action"); // said above already
    return section(
      "Answer",
      counted,
      said(step.answer, "model"),
      step.extras.truncated ? el("div", { class: "alarm infeasible" }, "The answer was cut at the limit of new tokens.") : null,
      el(
        "p",
        { class: "acted" },
        step.action === null ? el("strong", {}, "No action in this answer") : ["Action ", el("code", {}, step.action)],
        step.command !== step.action && step.command ? [" given to the world as ", el("code", {}, step.command)] : null,
      ),
      repairs.length ? el("p", { class: "dim" }, `forgiven: ${repairs.join("; ")}`) : null,
    );
  }

  function result(step, info) {
    return section(
      "Result",
      info.scored ? `score ${step.score}` : null,
      said(step.result, step.infeasible ? "failed" : "world"),
      step.infeasible
        ? el(
            "div",
            { class: "alarm infeasible" },
            el("strong", {}, "Infeasible. "),
            step.objection
              ? ["The precondition that failed: ", el("span", { class: "objection" }, step.objection)]
              : "The belief and the manual could not have told.",
          )
        : step.objection
          ? el("div", { class: "alarm doubt" }, "The manual objected, and yet it worked: ", step.objection)
          : null,
      ...step.surprises.map(({ kind, line, text }) =>
        el("div", { class: "alarm doubt" }, el("strong", {}, `Surprise (${kind}): `), text, line ? el("span", { class: "dim" }, ` Against: ${line}`) : null),
      ),
    );
  }

  function plan(step) {
    const chain = Array.isArray(step.extras.plan) ? step.extras.plan : [];
    if (!chain.length) return null;
    const links = chain.map((item, place) => [place ? el("span", { class: "dim" }, " ← ") : null, place % 2 ? el("code", {}, item) : item]);
    return section("Plan", "what this action begins, read backwards from the sub-goal", el("p", { class: "chain" }, links));
  }

  /** What the request was read as, and why another reading is acted on from here. */
  function readings(step) {
    const items = Array.isArray(step.extras.readings) ? step.extras.readings : [];
    if (!items.length) return null;
    const taken = items.findIndex((item) => item.taken);
    const line = (item, place) =>
      el(
        "li",
        {},
        el("code", { class: item.taken ? "good" : "" }, String(item.goal)),
        ` ${Math.round(100 * item.probability)}%${item.taken ? ", acted on" : place < taken ? ", given up" : ""}`,
        Array.isArray(item.reasons) ? el("span", { class: "dim" }, ` ${item.reasons.join("; ")}`) : null,
      );
    return section(
      "Readings of the request",
      `${items.length}, in the order in which they are tried`,
      step.extras.reading ? el("div", { class: "alarm doubt" }, "Another reading is taken: ", String(step.extras.reading)) : null,
      el("ul", { class: "plain" }, items.map(line).slice(0, taken + READINGS)),
      items.length > taken + READINGS
        ? el("details", {}, el("summary", {}, `${items.length - taken - READINGS} more`), el("ul", { class: "plain" }, items.map(line).slice(taken + READINGS)))
        : null,
    );
  }

  function menu(step) {
    const items = Array.isArray(step.extras.menu) ? step.extras.menu : [];
    if (!items.length) return null;
    const line = (item) =>
      el("li", {}, el("code", { class: item.command === step.command ? "good" : "" }, item.command), item.reason ? el("span", { class: "dim" }, ` ${item.reason}`) : null);
    return section("Menu", `${items.length} ${items.length === 1 ? "choice" : "choices"}, grouped by what they do`, el("ul", { class: "plain" }, items.map(line)));
  }

  function extras(step) {
    const names = Object.keys(step.extras).filter((name) => !["plan", "menu", "no_room", "readings", "reading", "messages", "truncated"].includes(name));
    if (!names.length) return null;
    const show = (value) => {
      if (typeof value === "string") return value;
      const plain = Array.isArray(value) && value.every((item) => typeof item === "string");
      return plain ? value.join("\n") : JSON.stringify(value, null, 1);
    };
    const refused = Array.isArray(step.extras.refused) ? step.extras.refused : [];
    return section(
      "Beyond the paper",
      null,
      refused.map((item) => el("div", { class: "alarm doubt" }, "Refused before it was tried: ", el("code", {}, item.command), " ", item.reason)),
      step.extras.replaced ? el("div", { class: "alarm doubt" }, "Not the model's own action: ", show(step.extras.replaced)) : null,
      names.filter((name) => name !== "refused" && name !== "replaced").map((name) => el("details", { class: "block" }, el("summary", {}, el("code", {}, name)), said(show(step.extras[name]), "small"))),
    );
  }

  function view(info, episode, number, side) {
    const step = episode.steps[number - 1];
    if (!step) {
      return el("div", { class: "step" }, el("p", { class: "over" }, `This episode ended after step ${episode.steps.length}: ${episode.row.ending}.`));
    }
    return el(
      "div",
      { class: "step", id: `view-${number}` },
      el("h2", {}, `Step ${number} `, el("code", { class: step.infeasible ? "bad" : "" }, step.command || "no action")),
      observation(step),
      belief(step, episode.steps[number - 2]),
      readings(step),
      menu(step),
      plan(step),
      rules(episode, step),
      memory(step, info.conditions[side]),
      prompt(step, info.shared, info.conditions[side]),
      answer(step),
      result(step, info),
      extras(step),
    );
  }

  return { view };
})();

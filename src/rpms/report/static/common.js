// What every page shares: data that arrives as scripts, elements made from text, colours, keys.
"use strict";

const RPMS = (() => {
  const slots = new Map(); // name -> value that has arrived
  const waiting = new Map(); // name -> functions that want it

  // Called by data files. The value is JSON text, so that no name in it can be anything but data.
  function take(slot, json) {
    slots.set(slot, JSON.parse(json));
    for (const done of waiting.get(slot) || []) done(slots.get(slot));
    waiting.delete(slot);
  }

  // Load a data file, once; resolves to null if there is none.
  function load(slot, path) {
    if (slots.has(slot)) return Promise.resolve(slots.get(slot));
    return new Promise((resolve) => {
      if (waiting.has(slot)) {
        waiting.get(slot).push(resolve);
        return;
      }
      waiting.set(slot, [resolve]);
      const script = document.createElement("script");
      script.src = path;
      const gone = () => {
        for (const done of waiting.get(slot) || []) done(null);
        waiting.delete(slot);
      };
      script.onerror = gone;
      script.onload = () => {
        script.remove();
        gone(); // a file that did not hand over what it is named for
      };
      document.head.append(script);
    });
  }

  // Make an element. Children that are not elements become text, never markup.
  function el(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else made.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children.flat(Infinity)) {
      if (child === null || child === undefined || child === false) continue;
      made.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
    return made;
  }

  // A name that can stand in an address: halves of characters cannot.
  function addressable(name) {
    return Array.from(name, (letter) => (/^[\ud800-\udfff]$/.test(letter) ? "\ufffd" : letter)).join("");
  }

  // The page of a memory entry.
  function entryPage(name) {
    return `memory.html?entry=${encodeURIComponent(addressable(name))}`;
  }

  function meta() {
    return load("meta", "data/meta.js");
  }

  async function tasks(info) {
    const chunks = [];
    for (let n = 0; n * info.chunk < info.tasks; n++) chunks.push(load(`tasks-${n}`, `data/tasks-${n}.js`));
    return (await Promise.all(chunks)).map((chunk) => chunk || []).flat();
  }

  async function task(info, number) {
    const n = Math.floor(number / info.chunk);
    const chunk = await load(`tasks-${n}`, `data/tasks-${n}.js`);
    return chunk ? chunk[number % info.chunk] || null : null;
  }

  // An episode as it is recorded. In its data an object is the number of a part, and so is a long text.
  async function episode(info, condition, number) {
    const bucket = Math.floor(number / info.bucket);
    const data = await load(`${condition}/${number}`, `data/${condition}/${bucket}/${number}.js`);
    return data && whole(data.episode, data.parts);
  }
  function whole(value, parts) {
    if (Array.isArray(value)) return value.map((each) => whole(each, parts));
    if (value === null || typeof value !== "object") return value;
    const part = parts[value.at];
    if (typeof part === "string") return part;
    return Object.fromEntries(Object.entries(part).map(([name, each]) => [name, whole(each, parts)]));
  }

  // Colours: what the system says, unless the reader chose otherwise.
  const THEMES = ["auto", "light", "dark"];
  function remembered() {
    try {
      return localStorage.getItem("rpms-theme") || "auto";
    } catch {
      return "auto";
    }
  }
  function show(theme) {
    if (theme === "auto") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.setAttribute("data-theme", theme);
    const button = document.getElementById("theme");
    if (button) button.textContent = `Colours: ${theme}`;
  }
  function nextTheme() {
    const theme = THEMES[(THEMES.indexOf(remembered()) + 1) % THEMES.length];
    try {
      localStorage.setItem("rpms-theme", theme);
    } catch {
      // a reader who keeps nothing still gets the colours, for this page
    }
    show(theme);
  }
  show(remembered());

  // Keys: a map from key to what it does, silent while something is being typed.
  function keys(bindings) {
    const dialog = document.getElementById("keys");
    const toggle = () => dialog && (dialog.open ? dialog.close() : dialog.showModal());
    const all = { ...bindings, t: nextTheme, "?": toggle };
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
        if (event.key === "Escape") event.target.blur();
        return;
      }
      if (dialog && dialog.open && event.key !== "?") return;
      const act = all[event.key];
      if (act && act(event) !== false) event.preventDefault();
    });
    const button = document.getElementById("keys-button");
    if (button) button.addEventListener("click", toggle);
  }

  document.addEventListener("DOMContentLoaded", () => {
    show(remembered());
    const button = document.getElementById("theme");
    if (button) button.addEventListener("click", nextTheme);
    if (!document.getElementById("keys")) keys({});
  });

  return { take, load, el, addressable, entryPage, meta, tasks, task, episode, keys };
})();

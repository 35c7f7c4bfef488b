// Asks for the part of the page that changes, and puts it in place. The server has escaped it.
"use strict";
const now = document.getElementById("now");
const state = document.getElementById("state");
let shown = "";

async function look() {
  if (!document.hidden) {
    try {
      const answer = await fetch("now", { cache: "no-store" });
      if (!answer.ok) throw new Error(String(answer.status));
      const text = await answer.text();
      if (text !== shown) now.innerHTML = shown = text;
      state.textContent = "Looked at " + new Date().toLocaleTimeString() + "; looks again every 2 s.";
    } catch {
      state.textContent = "No answer: the command that serves this page has ended.";
    }
  }
  setTimeout(look, 2000);
}
look();

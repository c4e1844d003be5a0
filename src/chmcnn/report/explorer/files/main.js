// The explorer: its views by the address in the page, and its keys.
const explorer = document.getElementById("explorer");

const readData = async holder => {
  const text = atob(holder.textContent), bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  holder.remove();
  return JSON.parse(await new Response(stream).text());
};

// Ask for the secret of a service; the page itself shows nothing without it.
const askForToken = isWrong => new Promise(resolve => {
  const input = create("input", {type: "password", autocomplete: "off", required: true, id: "explorer-token"});
  const form = create("form", {class: "token card", submit: event => { event.preventDefault(); form.remove(); resolve(input.value.trim()); }},
    create("h2", {}, "This service asks for a token"),
    isWrong ? create("p", {class: "problem", role: "alert"}, "This token is not valid.") : null,
    create("label", {for: "explorer-token"}, "Token "), input, create("button", {class: "main", type: "submit"}, "Open"),
    create("p", {class: "quiet"}, "It is kept in this page only, until the page is closed."));
  explorer.prepend(form);
  explorer.hidden = false;
  input.focus();
});

const start = async () => {
  const holder = document.getElementById("explorer-data");
  const source = holder ? new EmbeddedSource(await readData(holder)) : new ServiceSource(askForToken);
  const about = await source.about();
  const problem = create("p", {class: "problem", role: "alert", hidden: true}), view = create("div", {class: "view"});
  const report = error => { problem.textContent = error.message; problem.hidden = false; };
  const search = createSearch(source, report);
  const views = [["Classes", "#/"], about.canPredict ? ["Predict", "#/predict"] : null, about.examples ? ["Examples", "#/examples"] : null, source.table ? ["Table", "#/table"] : null].filter(Boolean);
  const tabs = views.map(([name, to]) => create("a", {href: to}, name));
  const keys = create("p", {class: "keys quiet"}, [["/", "search"], ["←", "parent"], ["→", "child"], ["↑ ↓", "in a list"], ["Enter", "open"]]
    .map(([key, does]) => create("span", {}, create("kbd", {}, key), ` ${does}`)));
  const kept = new Map(); // the form keeps what was typed
  let current = 0;

  const choose = async () => {
    const [, kind = "", name = ""] = location.hash.match(/^#\/([a-z]*)(?:\/(.*))?$/) || [];
    if (kind === "predict" && about.canPredict) {
      if (!kept.has(kind)) kept.set(kind, showPredict(source, about));
      return kept.get(kind);
    }
    if (kind === "examples" && about.examples) return showExamples(source);
    if (kind === "table" && source.table) return showTable(source);
    return kind === "class" ? showClass(source, decodeURIComponent(name), report) : showTop(source, about, report);
  };
  const show = async moved => {
    const number = ++current;
    let shownNow;
    try {
      shownNow = await choose();
    } catch (error) {
      if (number === current) report(error);
      return;
    }
    if (number !== current) return; // another one was asked for meanwhile
    problem.hidden = true;
    view.replaceChildren(shownNow);
    const drawn = view.querySelector(".lineage .graph");
    if (drawn) drawn.scrollLeft = drawn.scrollWidth;
    tabs.forEach(tab => {
      const here = tab.getAttribute("href") === (location.hash.match(/^#\/(predict|examples|table)$/) || ["#/"])[0];
      if (here) tab.setAttribute("aria-current", "page"); else tab.removeAttribute("aria-current");
    });
    if (!moved) return;
    const heading = view.querySelector("h2");
    if (heading) heading.focus({preventScroll: true});
    if (explorer.getBoundingClientRect().top < 0) explorer.scrollIntoView();
  };

  const walk = event => {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest("input, textarea, select")) return;
    if (event.key === "/") { search.input.focus(); event.preventDefault(); return; }
    if (holder && !explorer.contains(document.activeElement)) return; // keys move the rest of the page as ever
    const list = document.activeElement.closest("ul"), links = list ? [...list.querySelectorAll("li > a, li > .name > a")] : [];
    const at = links.indexOf(document.activeElement), step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    const first = selector => view.querySelector(selector);
    const target = step ? (at >= 0 ? links[at + step] : step > 0 && document.activeElement.matches("h2") ? first(".children a, .outline a") : null)
      : event.key === "ArrowLeft" ? first(".crumbs a") : event.key === "ArrowRight" ? (at >= 0 ? links[at] : first(".children a")) : null;
    if (!target) return;
    if (step) target.focus(); else target.click();
    event.preventDefault();
  };

  explorer.replaceChildren(create("div", {class: "bar-top"}, create("nav", {"aria-label": "Views"}, tabs), search.place), problem, view, keys);
  explorer.hidden = false;
  document.addEventListener("keydown", walk);
  addEventListener("hashchange", () => show(true));
  await show(false);
};

start().catch(error => {
  explorer.hidden = false;
  explorer.append(create("p", {class: "problem", role: "alert"}, error.message));
});

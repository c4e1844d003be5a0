// The search for a class: an input with a list of what was found.
const FOUND = 12;

const createSearch = (source, report) => {
  const list = create("ul", {class: "found", role: "listbox", id: "explorer-found", "aria-label": "Classes that were found", hidden: true});
  const input = create("input", {
    type: "search", role: "combobox", "aria-expanded": "false", "aria-controls": "explorer-found", "aria-autocomplete": "list", autocomplete: "off",
    spellcheck: "false", placeholder: "Search classes by id or title", "aria-label": "Search classes by id or title", "aria-keyshortcuts": "/",
  });
  let options = [], active = -1, asked = 0, timer = null;

  const close = () => {
    clearTimeout(timer);
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
    [options, active] = [[], -1];
    asked++; // what is still under way is not shown
  };
  const choose = at => {
    const name = options[at];
    if (name === undefined) return;
    close();
    input.value = "";
    input.blur();
    location.hash = address(name);
  };
  const activate = at => {
    [...list.querySelectorAll("[role=option]")].forEach((each, place) => each.setAttribute("aria-selected", String(place === at)));
    active = at;
    const chosen = list.querySelector("[aria-selected=true]");
    if (!chosen) return;
    input.setAttribute("aria-activedescendant", chosen.id);
    chosen.scrollIntoView({block: "nearest"});
  };
  const show = ({total, classes}) => {
    options = classes.map(each => each.name);
    const entries = classes.map((each, at) => create("li", {
      role: "option", id: `explorer-found-${at}`, "aria-selected": "false", pointerdown: event => { event.preventDefault(); choose(at); },
    }, create("span", {class: "label"}, shown(each)), each.title ? create("span", {class: "id"}, each.name) : null));
    const more = total > classes.length ? `${count(total - classes.length)} more: add a word` : total ? null : "No class has these words";
    list.replaceChildren(...entries, ...(more ? [create("li", {class: "more", role: "presentation"}, more)] : []));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    if (options.length) activate(0);
  };
  const look = async () => {
    const number = ++asked, text = input.value.trim();
    if (!text) return close();
    try {
      const found = await source.search(text, 0, FOUND);
      if (number === asked) show(found);
    } catch (error) {
      report(error);
    }
  };
  input.addEventListener("input", () => { [options, active] = [[], -1]; clearTimeout(timer); timer = setTimeout(look, 80); });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", event => {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (step && options.length) activate((active + step + options.length) % options.length);
    else if (event.key === "Enter") choose(Math.max(active, 0));
    else if (event.key === "Escape") { input.value = ""; close(); input.blur(); } else return;
    event.preventDefault();
  });
  return {place: create("div", {class: "search"}, input, list), input};
};

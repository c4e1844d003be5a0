// Elements of a page. Text only ever becomes a text node, whatever is in it.
const SVG = "http://www.w3.org/2000/svg"; // a name: nothing is loaded from there

const fill = (made, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(name, value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false));
  return made;
};
const create = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
const draw = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

const count = number => number.toLocaleString("en");
const plural = (number, noun, many = `${noun}s`) => `${count(number)} ${number === 1 ? noun : many}`;
const decimals = (value, places = 3) => value === null || value === undefined ? "–" : value.toFixed(places);
const shown = each => each.title || each.name;
const address = name => `#/class/${encodeURIComponent(name)}`;

// A class as a link: its title, and its name if that is something else.
const link = (each, attributes = {}) => create("a", {href: address(each.name), title: each.title ? `${each.name}: ${each.title}` : each.name, ...attributes},
  create("span", {class: "label"}, shown(each)), each.title ? create("span", {class: "id"}, each.name) : null);

// A bar whose length is a share between 0 and 1.
const bar = (share, kind = "") => {
  const inner = create("span", {class: `fill ${kind}`});
  inner.style.width = `${100 * Math.max(0, Math.min(1, share || 0))}%`;
  return create("span", {class: "bar", "aria-hidden": "true"}, inner);
};

const card = (heading, ...content) => create("section", {class: "card"}, create("h3", {}, heading), ...content);

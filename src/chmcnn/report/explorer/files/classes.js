// What is known about a class, and the ways from it: up to its parents, down to its children.
const PAGE = 50;
const MOST_WHOLE = 40; // classes of a hierarchy that is drawn as a whole

const stat = (name, value, share) => create("div", {class: "stat"}, create("dt", {}, name), create("dd", {}, value, share === undefined ? null : bar(share)));

// Classes to walk to; more of them are loaded when they are asked for.
const listEntry = each => create("li", {}, link(each), create("span", {class: "numbers"},
  each.rows === null || each.rows === undefined ? null : create("span", {title: "rows"}, count(each.rows)),
  each.auprc === null || each.auprc === undefined ? null : [bar(each.auprc), create("span", {class: "measure", title: "AU(PRC)"}, decimals(each.auprc, 2))]));

const createPagedList = async (load, report) => {
  const first = await load(0, PAGE), list = create("ul", {class: "walk"}, first.classes.map(listEntry));
  if (first.total <= first.classes.length) return {total: first.total, place: list};
  let loaded = first.classes.length;
  const button = create("button", {type: "button", click: async () => {
    button.disabled = true;
    try {
      const next = await load(loaded, PAGE);
      const added = next.classes.map(listEntry);
      list.append(...added);
      loaded += added.length;
      if (added[0]) added[0].querySelector("a").focus();
      tell();
    } catch (error) {
      report(error);
    }
    button.disabled = false;
  }});
  const tell = () => {
    button.hidden = loaded >= first.total;
    button.textContent = `Show ${count(Math.min(PAGE, first.total - loaded))} more of ${count(first.total - loaded)}`;
  };
  tell();
  return {total: first.total, place: [list, button]};
};

const createChildren = (heading, {total, place}) =>
  create("section", {class: "card children"}, create("h3", {}, heading, create("span", {class: "tally"}, count(total))), place);

const drawCurve = (curve, area) => {
  const [width, height, left, bottom] = [280, 190, 34, 26], [right, top] = [width - 8, 8];
  const x = share => left + share * (right - left), y = share => height - bottom - share * (height - bottom - top);
  const points = curve.map((percent, at) => `${x(at / (curve.length - 1)).toFixed(1)},${y(percent / 100).toFixed(1)}`);
  const ticks = [0, 0.5, 1].flatMap(each => [
    draw("line", {class: "grid", x1: x(0), x2: x(1), y1: y(each), y2: y(each)}),
    draw("text", {x: left - 5, y: y(each) + 4, "text-anchor": "end"}, String(each)),
    draw("text", {x: x(each), y: height - 12, "text-anchor": each === 1 ? "end" : "middle"}, String(each)),
  ]);
  return draw("svg", {class: "curve", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Precision by recall; the area is ${decimals(area)}`},
    ...ticks, draw("polygon", {points: `${x(0)},${y(0)} ${points.join(" ")} ${x(1)},${y(0)}`}), draw("polyline", {points: points.join(" ")}),
    draw("text", {x: x(0.5), y: height - 1, "text-anchor": "middle"}, "recall"),
    draw("text", {x: left + 5, y: y(0) - 6}, "precision"));
};

const createPartners = (partners, own, whole) => create("ul", {class: "walk"}, partners.map(each => create("li", {},
  each.name === own ? create("span", {class: "itself"}, "itself") : link(each),
  create("span", {class: "numbers"}, bar(each.rows / whole, "second"), create("span", {title: "rows"}, count(each.rows))))));

const createMeasures = each => {
  const rows = each.rows === null || each.rows === undefined ? null : stat(each.counted || "rows", count(each.rows));
  const tested = each.tested && each.counted !== "test rows" ? stat("test rows", count(each.tested.rows)) : null;
  const measures = each.measures && [["AU(PRC)", "auprc"], ["precision", "precision"], ["recall", "recall"], ["F1", "f"]]
    .map(([name, key]) => stat(name, decimals(each.measures[key]), each.measures[key]));
  return create("dl", {class: "stats"}, rows, tested, measures, stat("threshold", decimals(each.threshold, 2)));
};

const showClass = async (source, name, report) => {
  const [each, ancestors, children] = await Promise.all([
    source.describe(name), source.ancestors(name),
    createPagedList((offset, limit) => source.children(name, offset, limit), report),
  ]);
  const graph = drawGraph(ancestors, {label: "The class and all above it", current: name});
  const total = partners => partners.reduce((sum, partner) => sum + partner.rows, 0);
  const most = partners => Math.max(...partners.map(partner => partner.rows), 1);
  const why = !each.tested ? "The model was not evaluated on test rows." : each.measures ? null : each.tested.rows ? "This class is not evaluated." : "No test row has this class, so it has no measures.";
  return create("article", {class: "class"},
    create("header", {},
      create("h2", {tabindex: "-1"}, shown(each)),
      create("p", {class: "quiet"}, each.title ? [create("span", {class: "id"}, each.name), " · "] : null,
        each.depth ? `level ${each.depth}` : "a root", " · ", plural(ancestors.length - 1, "class", "classes"), " above", children.total ? null : " · no class below"),
      each.parents.length ? create("nav", {class: "crumbs", "aria-label": "Parents"}, create("span", {class: "quiet"}, each.parents.length > 1 ? "Parents " : "Parent "),
        each.above.map(parent => link(parent, {class: "chip"}))) : null),
    createMeasures(each), why && create("p", {class: "quiet"}, why),
    graph ? create("section", {class: "lineage"}, graph) : ancestors.length > MOST_DRAWN ? create("p", {class: "quiet"}, "There are too many classes above to draw them.") : null,
    create("div", {class: "cards"},
      children.total ? createChildren("Children ", children) : null,
      each.curve ? card("Precision and recall", drawCurve(each.curve, each.measures.auprc)) : null,
      each.delegates.length ? card("Who decides its score", create("p", {class: "quiet"}, "Where it is predicted, in how many rows."), createPartners(each.delegates, name, total(each.delegates))) : null,
      each.replaced_by.length ? card("Predicted in its place", create("p", {class: "quiet"}, "Wrong classes of rows where it is missed."), createPartners(each.replaced_by, name, most(each.replaced_by))) : null,
      each.replaces.length ? card("Mistaken for it", create("p", {class: "quiet"}, "Missed classes of rows where it is wrongly predicted."), createPartners(each.replaces, name, most(each.replaces))) : null));
};

// A small hierarchy as a whole.
const loadAll = async source => {
  const found = new Map((await source.search("", 0, MOST_WHOLE)).classes.map(each => [each.name, each]));
  for (const each of found.values()) {
    if (each.children) (await source.children(each.name, 0, MOST_WHOLE)).classes.forEach(child => found.set(child.name, child));
  }
  return [...found.values()];
};

const showTop = async (source, about, report) => {
  const whole = about.classes <= MOST_WHOLE ? await loadAll(source) : [];
  const roots = await createPagedList((offset, limit) => source.search("", offset, limit), report);
  const evaluation = about.evaluation;
  return create("article", {class: "class"},
    create("header", {}, create("h2", {tabindex: "-1"}, about.title),
      create("p", {class: "quiet"}, about.system && about.system !== about.title ? `${about.system} · ` : null, plural(about.classes, "class", "classes"), evaluation ? ` · evaluated on ${plural(evaluation.rows, "row")} (${evaluation.title})` : null),
      about.counted ? null : create("p", {class: "quiet"}, "The model folder has no rows and measures of the classes: chmcnn train stores them; from Python, see the guide of the explorer.")),
    evaluation ? create("dl", {class: "stats"}, stat("AU(PRC)", decimals(evaluation.auprc), evaluation.auprc),
      ["hierarchical precision", "hierarchical recall", "hierarchical F"].filter(name => typeof evaluation.figures?.[name] === "number")
        .map(name => stat(name, decimals(evaluation.figures[name]), evaluation.figures[name]))) : null,
    drawGraph(whole, {label: "The whole hierarchy"}),
    create("div", {class: "cards"}, createChildren("Roots ", roots)));
};

// All classes in a table that is sorted by a click on a head.
const showTable = source => {
  const columns = source.table, numeric = columns.map(([, values]) => values.some(value => typeof value === "number"));
  const every = columns[0][1].map((_, at) => at), size = 25;
  let order = every, page = 0, sorted = columns.findIndex(([name]) => name === source.facts.counted), falling = true;
  const head = create("tr"), body = create("tbody"), told = create("span", {class: "quiet", "aria-live": "polite"});
  const before = create("button", {type: "button", click: () => { page--; fillIn(); }}, "Previous");
  const after = create("button", {type: "button", click: () => { page++; fillIn(); }}, "Next");
  const format = (value, at) => value === null ? "–" : typeof value !== "number" ? value : Number.isInteger(value) && /rows|level/.test(columns[at][0]) ? count(value) : decimals(value);
  const sort = () => {
    const values = columns[sorted][1], sign = falling ? -1 : 1;
    order = [...every].sort((one, other) => {
      const [a, b] = [values[one], values[other]];
      if (a === null || b === null) return (a === null) - (b === null) || one - other;
      return sign * (typeof a === "number" ? a - b : a < b ? -1 : a > b ? 1 : 0) || one - other;
    });
    page = 0;
    fillIn();
  };
  const heads = columns.map(([name], at) => create("th", {scope: "col", class: numeric[at] ? "number" : null},
    create("button", {type: "button", click: () => { falling = at === sorted ? !falling : numeric[at]; sorted = at; sort(); }}, name)));
  head.append(...heads);
  const fillIn = () => {
    heads.forEach((cell, at) => at === sorted ? cell.setAttribute("aria-sort", falling ? "descending" : "ascending") : cell.removeAttribute("aria-sort"));
    const part = order.slice(page * size, page * size + size);
    body.replaceChildren(...part.map(at => create("tr", {}, columns.map(([, values], column) => create(column ? "td" : "th",
      {class: numeric[column] ? "number" : null, scope: column ? null : "row"}, column ? format(values[at], column) : create("a", {href: address(values[at])}, values[at]))))));
    told.textContent = `${count(page * size + 1)} to ${count(page * size + part.length)} of ${count(every.length)}`;
    before.disabled = page === 0;
    after.disabled = (page + 1) * size >= every.length;
  };
  sort();
  return create("article", {class: "class"}, create("h2", {tabindex: "-1"}, "All classes"),
    create("div", {class: "scroll"}, create("table", {}, create("thead", {}, head), body)), create("p", {class: "pager"}, before, after, told));
};

// The predicted part of the hierarchy of a row: scores, who decided what, and a threshold that changes it at once.
const MOST_LISTED = 400;
const SIGNS = {right: "✓ right", wrong: "✗ wrong", missed: "○ missed"};

// Each class below the first of its parents that are shown, parents first.
const outline = classes => {
  const known = new Map(classes.map(each => [each.name, each])), below = new Map(), tops = [];
  for (const each of classes) {
    const first = each.parents.find(name => known.has(name));
    if (first === undefined) tops.push(each);
    else below.set(first, [...(below.get(first) || []), each]);
  }
  const lines = [], higher = (a, b) => b.score - a.score, stack = tops.sort(higher).reverse().map(each => [each, 0]);
  while (stack.length) {
    const [each, depth] = stack.pop();
    lines.push([each, depth]);
    stack.push(...(below.get(each.name) || []).sort(higher).reverse().map(child => [child, depth + 1]));
  }
  return lines;
};

const judge = (each, predicted) => each.is_true === undefined ? null : predicted ? (each.is_true ? "right" : "wrong") : each.is_true ? "missed" : null;

const createLine = ([each, depth], known, predicted) => {
  const verdict = judge(each, predicted.has(each.name)), others = each.parents.filter(name => known.has(name)).slice(1);
  const decides = each.delegate === each.name ? null : known.get(each.delegate) || {name: each.delegate};
  const line = create("li", {class: verdict},
    create("span", {class: "name"}, link(each)),
    create("span", {class: "numbers"}, bar(each.score, verdict || ""), create("span", {class: "measure"}, decimals(each.score, 2)),
      verdict && create("span", {class: "verdict"}, SIGNS[verdict])),
    decides || others.length || each.members ? create("span", {class: "notes quiet"},
      decides && predicted.has(each.name) ? ["decided by ", link(decides)] : null,
      others.length ? [decides && predicted.has(each.name) ? " · " : "", "also below ", others.map((name, at) => [at ? ", " : "", link(known.get(name))])] : null,
      each.members ? create("span", {class: "members"}, Object.entries(each.members).map(([name, score]) => `${name} ${decimals(score, 2)}`).join(" · ")) : null) : null);
  line.style.setProperty("--depth", depth);
  return line;
};

const createAnswer = () => {
  const slider = create("input", {type: "range", min: LOWEST, max: 1, step: 0.01, value: 0.5, "aria-label": "Threshold"});
  const number = create("output", {class: "measure"}), own = create("input", {type: "checkbox", checked: true});
  const told = create("p", {"aria-live": "polite", class: "told"}), next = create("p", {class: "quiet"});
  const lines = create("ul", {class: "outline"}), picture = create("div");
  const cut = create("p", {class: "quiet limited", hidden: true}, `Only the ${count(MOST_SHOWN)} classes with the highest scores are shown.`);
  let classes = [];

  const show = () => {
    const lowest = each => own.checked ? each.threshold : Number(slider.value);
    const found = classes.filter(each => each.score >= lowest(each)), predicted = new Set(found.map(each => each.name));
    const visible = classes.filter(each => predicted.has(each.name) || each.is_true), known = new Map(visible.map(each => [each.name, each]));
    const delegated = found.filter(each => each.delegate !== each.name).length;
    const limits = new Set(classes.map(each => each.threshold));
    number.textContent = !own.checked ? decimals(Number(slider.value), 2) : limits.size === 1 ? decimals([...limits][0], 2) : "by class";
    slider.classList.toggle("off", own.checked);
    const who = delegated ? `, ${count(delegated)} of them decided by another class` : "";
    told.textContent = found.length ? `${plural(found.length, "class", "classes")} predicted${who}` : "No class reaches the threshold.";
    const rest = classes.filter(each => !predicted.has(each.name)).sort((a, b) => b.score - a.score)[0];
    next.replaceChildren(...(rest ? ["Next: ", link(rest), ` at ${decimals(rest.score, 2)}`] : []));
    const all = outline(visible), listed = all.slice(0, MOST_LISTED).map(line => createLine(line, known, predicted));
    if (all.length > listed.length) listed.push(create("li", {class: "quiet"}, `and ${count(all.length - listed.length)} more: raise the threshold`));
    lines.replaceChildren(...listed);
    const graph = drawGraph(visible, {label: "The predicted part of the hierarchy", decorate: (each, box) => {
      const verdict = judge(each, predicted.has(each.name));
      if (verdict) box.classList.add(verdict);
      return create("span", {class: "score"}, bar(each.score, verdict || ""), decimals(each.score, 2));
    }});
    picture.replaceChildren(...(graph ? [graph] : []));
  };
  slider.addEventListener("input", () => { own.checked = false; show(); });
  own.addEventListener("change", show);
  const place = create("section", {class: "answer"},
    create("div", {class: "threshold"}, create("label", {}, "Threshold ", slider), number, create("label", {class: "own"}, own, " the model's own")),
    told, cut, picture, lines, next);
  return {place, set: answer => { classes = answer.classes; cut.hidden = !answer.isCut; show(); }};
};

// Some answers to choose from.
const createAnswers = (answers, describe) => {
  const answer = createAnswer();
  const choice = create("select", {"aria-label": "Row", change: () => answer.set(answers[choice.selectedIndex])},
    answers.map(each => create("option", {}, describe(each))));
  answer.set(answers[0]);
  return create("div", {class: "answers"}, answers.length > 1 ? create("label", {class: "rowchoice"}, "Row ", choice) : null, answer.place);
};

const showExamples = async source => {
  const examples = await source.examples();
  return create("article", {class: "predict"}, create("h2", {tabindex: "-1"}, "Examples"),
    create("p", {class: "quiet"}, "Test rows from the best to the worst predicted one. ✓ right: predicted and true. ✗ wrong: predicted, but not true. ○ missed: true, but not predicted."),
    createAnswers(examples, each => `${each.name}: F1 ${decimals(each.f, 2)}`));
};

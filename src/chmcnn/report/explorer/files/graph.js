// A part of the hierarchy as a picture, from left to right: each class once, however many parents it has.
const MOST_DRAWN = 120;

// Columns of classes, each class after all its parents, and near them.
const arrange = classes => {
  const known = new Map(classes.map(each => [each.name, {each, above: [], below: [], level: 0}]));
  for (const node of known.values()) {
    node.above = node.each.parents.map(name => known.get(name)).filter(Boolean);
    node.above.forEach(parent => parent.below.push(node));
  }
  const waiting = new Map([...known.values()].map(node => [node, node.above.length]));
  const ready = [...known.values()].filter(node => !node.above.length);
  for (const node of ready) {
    for (const child of node.below) {
      child.level = Math.max(child.level, node.level + 1);
      waiting.set(child, waiting.get(child) - 1);
      if (!waiting.get(child)) ready.push(child);
    }
  }
  const columns = [];
  ready.forEach(node => (columns[node.level] ||= []).push(node));
  const place = () => columns.forEach(column => column.forEach((node, at) => { node.y = at - (column.length - 1) / 2; }));
  const mean = nodes => nodes.reduce((sum, node) => sum + node.y, 0) / nodes.length;
  place();
  for (let turn = 0; turn < 4; turn++) {
    const side = turn % 2 ? "below" : "above";
    for (const column of turn % 2 ? [...columns].reverse() : columns) {
      const wanted = new Map(column.map(node => [node, node[side].length ? mean(node[side]) : node.y]));
      column.sort((a, b) => wanted.get(a) - wanted.get(b));
      column.forEach((node, at) => { node.y = at - (column.length - 1) / 2; });
    }
  }
  return columns;
};

const drawGraph = (classes, {label, current = null, decorate = () => null}) => {
  if (classes.length < 2 || classes.length > MOST_DRAWN) return null;
  const columns = arrange(classes), narrow = window.innerWidth < 600;
  const [width, height, across, down] = narrow ? [128, 46, 26, 8] : [176, 46, 44, 10];
  const most = Math.max(...columns.map(column => column.length));
  const size = [columns.length * (width + across) - across, most * (height + down) - down];
  const lines = new Map(), place = create("div", {class: "drawing"}), edges = draw("svg", {width: size[0], height: size[1], "aria-hidden": "true"});
  [place.style.width, place.style.height] = size.map(each => `${each}px`);
  place.append(edges);
  const middle = size[1] / 2;
  const mark = (node, on) => (lines.get(node) || []).forEach(line => line.classList.toggle("marked", on));
  columns.forEach((column, at) => column.forEach(node => {
    node.left = at * (width + across);
    node.top = middle + node.y * (height + down);
    for (const parent of node.above) {
      const [from, to] = [parent.left + width, node.left], half = Math.max((to - from) / 2, 16);
      const line = draw("path", {d: `M${from},${parent.top} C${from + half},${parent.top} ${to - half},${node.top} ${to},${node.top}`});
      edges.append(line);
      for (const end of [parent, node]) lines.set(end, [...(lines.get(end) || []), line]);
    }
    const box = link(node.each, {
      class: `node ${node.each.name === current ? "current" : ""}`, "aria-current": node.each.name === current && "true",
      pointerenter: () => mark(node, true), pointerleave: () => mark(node, false), focus: () => mark(node, true), blur: () => mark(node, false),
    });
    [box.style.left, box.style.top] = [`${node.left}px`, `${node.top - height / 2}px`];
    [box.style.width, box.style.height] = [`${width}px`, `${height}px`];
    const more = decorate(node.each, box);
    if (more) box.append(more);
    place.append(box);
  }));
  return create("div", {class: "graph", role: "group", "aria-label": label}, place);
};

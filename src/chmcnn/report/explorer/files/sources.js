// Where classes come from: a service that is asked for what is looked at, or data inside the page. Both answer alike.

const MOST_SHOWN = 500; // classes of an answer
const LOWEST = 0.01; // score of a class in an answer

class EmbeddedSource {
  constructor(data) {
    this.data = data;
    this.facts = data.facts;
    this.index = new Map(data.names.map((name, at) => [name, at]));
    this.parents = data.names.map(() => []);
    this.below = data.names.map(() => []);
    for (let at = 0; at < data.edges.length; at += 2) {
      this.parents[data.edges[at + 1]].push(data.edges[at]);
      this.below[data.edges[at]].push(data.edges[at + 1]);
    }
    this.roots = [...data.names.keys()].filter(at => !this.parents[at].length);
  }

  async about() {
    const {title, names, facts, examples} = this.data;
    return {title, classes: names.length, evaluation: facts.evaluation, counted: facts.counted, examples: examples.length};
  }

  describeShort(at) {
    const {names, titles, depths} = this.data, {rows, auprc} = this.facts;
    return {
      name: names[at], title: titles[at] || null, depth: depths[at], parents: this.parents[at].map(each => names[each]),
      children: this.below[at].length, rows: rows[at], auprc: auprc.length ? auprc[at] : null,
    };
  }

  page(found, offset, limit) {
    const classes = found.slice(offset, offset + limit).map(at => this.describeShort(at));
    return {total: found.length, offset, classes};
  }

  find(name) {
    const at = this.index.get(name);
    if (at === undefined) throw new Error(`There is no class ${name}.`);
    return at;
  }

  async search(text, offset, limit) {
    const {names, titles} = this.data;
    this.texts ||= names.map((name, at) => `${name}\n${titles[at] || ""}`.toLowerCase());
    const words = text.toLowerCase().split(/\s+/).filter(Boolean), whole = words.join(" ");
    if (!words.length) return this.page(this.roots, offset, limit);
    const found = [];
    this.texts.forEach((each, at) => { if (words.every(word => each.includes(word))) found.push(at); });
    const later = new Map(found.map(at => [at, this.texts[at].split("\n").some(part => part.startsWith(whole)) ? 0 : 1]));
    found.sort((a, b) => later.get(a) - later.get(b) || this.texts[a].length - this.texts[b].length || a - b);
    return this.page(found, offset, limit);
  }

  async children(name, offset, limit) {
    return this.page(this.below[this.find(name)], offset, limit);
  }

  async ancestors(name) {
    const found = new Set([this.find(name)]);
    for (const at of found) this.parents[at].forEach(each => found.add(each));
    return [...found].sort((a, b) => this.data.depths[a] - this.data.depths[b]).map(at => this.describeShort(at));
  }

  async describe(name) {
    const at = this.find(name), {facts, data} = this, tested = facts.evaluation && facts.auprc[at] !== null;
    const partners = flat => Array.from({length: flat.length / 2}, (_, each) =>
      ({name: data.names[flat[2 * each]], title: data.titles[flat[2 * each]] || null, rows: flat[2 * each + 1]}));
    const {thresholds} = data;
    return {
      ...this.describeShort(at), above: this.parents[at].map(each => this.describeShort(each)), counted: facts.counted,
      threshold: typeof thresholds === "number" ? thresholds : thresholds[at],
      tested: facts.evaluation ? {title: facts.evaluation.title, rows: facts.test_rows[at]} : null,
      measures: tested ? Object.fromEntries(["auprc", "precision", "recall", "f"].map(each => [each, facts[each][at]])) : null,
      curve: tested ? facts.curves[at] : null,
      ...Object.fromEntries(["delegates", "replaced_by", "replaces"].map(each => [each, facts.evaluation ? partners(facts[each][at]) : []])),
    };
  }

  async examples() {
    const {names, titles, thresholds, examples} = this.data;
    return examples.map(example => ({
      name: example.name, f: example.f,
      classes: example.classes.map(([at, score, delegate, truth]) => ({
        name: names[at], title: titles[at] || null, score, delegate: names[delegate], is_true: truth === 1,
        parents: this.parents[at].map(each => names[each]), threshold: typeof thresholds === "number" ? thresholds : thresholds[at],
      })),
    }));
  }

  // The columns of a table of all classes, and a cell of it.
  get table() {
    const {names, titles, depths} = this.data, {facts} = this, columns = [["class", names]];
    if (Object.keys(titles).length) columns.push(["title", names.map((_, at) => titles[at] || "")]);
    columns.push(["level", depths], [facts.counted, facts.rows]);
    if (facts.evaluation) {
      if (facts.counted !== "test rows") columns.push(["test rows", facts.test_rows]);
      columns.push(["AU(PRC)", facts.auprc], ["precision", facts.precision], ["recall", facts.recall], ["F1", facts.f]);
    }
    return columns;
  }
}

class ServiceSource {
  constructor(askForToken) {
    this.askForToken = askForToken;
    this.token = null; // in memory only: it is gone with the page
  }

  async ask(path, parameters = {}, request = {}) {
    const query = new URLSearchParams(parameters).toString();
    const headers = {...request.headers, ...(this.token ? {Authorization: `Bearer ${this.token}`} : {})};
    let response;
    try {
      response = await fetch(query ? `${path}?${query}` : path, {...request, headers});
    } catch {
      throw new Error("The service does not answer. Is it still running?");
    }
    if (response.status === 401) {
      this.asking ||= this.askForToken(this.token !== null).finally(() => { this.asking = null; }); // once for all requests
      this.token = await this.asking;
      return this.ask(path, parameters, request);
    }
    const content = await response.json().catch(() => ({}));
    if (!response.ok) throw new Error(typeof content.detail === "string" ? content.detail : `The service answers ${response.status}.`);
    return content;
  }

  async about() {
    const model = await this.ask("model");
    this.lowest = Math.min(LOWEST, model.lowest_threshold);
    document.title = `${model.title}: chmcnn`;
    return {...model, canPredict: true, examples: 0};
  }

  search(text, offset, limit) { return this.ask("hierarchy", {search: text, offset, limit}); }
  children(name, offset, limit) { return this.ask("hierarchy/children", {class: name, offset, limit}); }
  ancestors(name) { return this.ask("hierarchy/ancestors", {class: name}); }
  describe(name) { return this.ask("hierarchy/class", {class: name}); }

  async predict(body, kind) {
    const {rows} = await this.ask("explain", {threshold: this.lowest, top: MOST_SHOWN}, {method: "POST", body, headers: {"Content-Type": kind}});
    return rows.map(row => ({name: row.name, classes: row.reasons, isCut: row.reasons.length >= MOST_SHOWN}));
  }
}

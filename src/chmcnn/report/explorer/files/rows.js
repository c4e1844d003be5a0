// Rows for the model: a form with a field for each of its columns, or pasted CSV or JSON.
const FIELDS = 40; // fields that are shown at once
const MOST_FIELDS = 200; // with more, rows are rather pasted
const CHOICES = 300; // categories in a list to choose from

const createField = (column, at) => {
  const id = `explorer-field-${at}`, many = column.categories && column.categories.length > CHOICES;
  const options = () => column.categories.map(each => create("option", {value: each}, many ? null : each));
  const input = column.kind === "categories" && column.categories && !many
    ? create("select", {id}, create("option", {value: ""}, "– missing –"), options())
    : column.kind === "text" ? create("textarea", {id, rows: 3})
    : create("input", {id, autocomplete: "off", ...(column.kind === "dates" ? {type: "date"} : {type: "text"}), ...(column.kind === "numbers" ? {inputmode: "decimal"} : {}), ...(many ? {list: `${id}-choices`} : {})});
  const read = () => {
    const value = input.value.trim();
    input.removeAttribute("aria-invalid");
    if (!value) return null;
    if (column.kind !== "numbers") return input.value;
    if (Number.isFinite(Number(value))) return Number(value);
    input.setAttribute("aria-invalid", "true");
    input.focus();
    throw new Error(`${column.name} is ${value}; expected a number, or nothing for a missing value.`);
  };
  const place = create("div", {class: column.kind === "text" ? "field wide" : "field"}, create("label", {for: id}, column.name), input, many ? create("datalist", {id: `${id}-choices`}, options()) : null);
  return {place, read, write: value => { input.value = value === null || value === undefined ? "" : value; }};
};

// Return what a pasted text asks the service, and how.
const readPasted = (text, columns) => {
  const trimmed = text.trim();
  if (!trimmed) throw new Error("Paste a row first.");
  if (/^[[{]/.test(trimmed)) {
    let content;
    try {
      content = JSON.parse(trimmed);
    } catch (error) {
      throw new Error(`This is not JSON: ${error.message}.`);
    }
    const isRow = Array.isArray(content) ? content.every(each => typeof each === "number" || each === null) : !Array.isArray(content.rows);
    const rows = isRow ? [content] : Array.isArray(content) ? content : content.rows;
    return [JSON.stringify({rows}), "application/json"];
  }
  if (columns.length) return [`${trimmed}\n`, "text/csv"];
  const lines = trimmed.split(/\r?\n/), cells = lines.map(line => line.split(/\s*[,;\t]\s*|\s+/).map(cell => cell === "" ? null : Number(cell)));
  const rows = cells.every(row => row.every(cell => cell === null || Number.isFinite(cell))) ? cells : lines;
  return [JSON.stringify({rows}), "application/json"];
};

const createForm = (columns, ask) => {
  const fields = columns.map(createField), grid = create("div", {class: "fields"}, fields.map(field => field.place));
  const more = create("button", {type: "button", click: () => { grid.classList.remove("cut"); more.remove(); }}, `Show all ${count(fields.length)} columns`);
  if (fields.length > FIELDS) {
    grid.classList.add("cut");
    fields.slice(FIELDS).forEach(field => field.place.classList.add("later"));
  }
  return create("form", {class: "form", submit: event => {
    event.preventDefault();
    ask(() => [JSON.stringify({rows: [Object.fromEntries(columns.map((column, at) => [column.name, fields[at].read()]))]}), "application/json"]);
  }}, create("p", {class: "quiet"}, "An empty field is a missing value."), grid, fields.length > FIELDS ? more : null, create("button", {class: "main", type: "submit"}, "Predict"));
};

const createPaste = (columns, ask) => {
  const text = create("textarea", {rows: 7, spellcheck: "false", "aria-label": "Rows as CSV or JSON", placeholder: columns.length
    ? `${columns.slice(0, 3).map(({name}) => /[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name).join(",")}${columns.length > 3 ? ",…" : ""}\n…` : "A text, or numbers, on each line; or JSON"});
  return create("form", {class: "form", submit: event => { event.preventDefault(); ask(() => readPasted(text.value, columns)); }},
    create("p", {class: "quiet"}, columns.length ? "CSV with a header, or JSON: an object, or a list of objects." : "One row on each line, or JSON."),
    text, create("button", {class: "main", type: "submit"}, "Predict"));
};

const showPredict = (source, about) => {
  const columns = about.columns || [], place = create("div", {class: "result", "aria-busy": "false"});
  const problem = create("p", {class: "problem", role: "alert", hidden: true});
  let asked = 0;
  const ask = async read => {
    const number = ++asked;
    problem.hidden = true;
    place.setAttribute("aria-busy", "true");
    try {
      const answers = await source.predict(...read());
      if (number !== asked) return;
      place.replaceChildren(createAnswers(answers, each => each.name));
      if (place.getBoundingClientRect().top > window.innerHeight * 0.8) place.scrollIntoView();
    } catch (error) {
      if (number !== asked) return;
      problem.textContent = error.message;
      problem.hidden = false;
    }
    place.setAttribute("aria-busy", "false");
  };
  const paste = createPaste(columns, ask), form = columns.length ? createForm(columns, ask) : null;
  const ways = form ? [["Form", form], ["Paste", paste]] : [["Paste", paste]];
  const choose = chosen => {
    ways.forEach(([, each], at) => { each.hidden = at !== chosen; });
    buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(at === chosen)));
  };
  const buttons = ways.map(([name], at) => create("button", {type: "button", click: () => choose(at)}, name));
  choose(columns.length > MOST_FIELDS ? 1 : 0);
  place.append(create("p", {class: "quiet"}, "The predicted part of the hierarchy appears here."));
  return create("article", {class: "predict split"}, create("section", {}, create("h2", {tabindex: "-1"}, "Predict"),
    ways.length > 1 ? create("div", {class: "ways", role: "group", "aria-label": "How to give a row"}, buttons) : null, ways.map(([, each]) => each), problem), place);
};

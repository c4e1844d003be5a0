(async () => {
  const bytes = Uint8Array.from(atob(document.getElementById("class-data").textContent), each => each.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const {header, rows} = JSON.parse(await new Response(stream).text());
  const [place, search, shown, before, after] = ["class-table", "class-search", "class-shown", "class-before", "class-after"]
    .map(id => document.getElementById(id));
  const texts = rows.map(row => row.filter(cell => typeof cell === "string").join(" ").toLowerCase());
  const numeric = header.map((_, at) => rows.some(row => typeof row[at] === "number"));
  const size = 25;
  let found = rows.map((_, at) => at), page = 0, sorted = -1, down = true;
  const format = (cell, at) => cell === null ? "-" : typeof cell !== "number" ? cell
    : /rows|level/.test(header[at]) ? cell.toLocaleString("en") : cell.toFixed(3);
  const compare = (one, other) => {
    const [a, b] = [rows[one][sorted], rows[other][sorted]];
    if (a === null || b === null) return (a === null) - (b === null);
    return (down ? -1 : 1) * (typeof a === "number" ? a - b : a.localeCompare(b)) || one - other;
  };
  const element = (name, text, number) => {
    const made = document.createElement(name);
    made.textContent = text;
    if (number) made.className = "number";
    return made;
  };
  const draw = () => {
    const table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody();
    header.forEach((name, at) => {
      const cell = element("th", "", numeric[at]), button = element("button", name + (at === sorted ? (down ? " ↓" : " ↑") : ""));
      if (at === sorted) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      button.onclick = () => { down = at === sorted ? !down : numeric[at]; sorted = at; choose(); };
      cell.append(button);
      head.append(cell);
    });
    for (const at of found.slice(page * size, page * size + size)) {
      body.insertRow().append(...rows[at].map((cell, column) => element("td", format(cell, column), numeric[column])));
    }
    place.replaceChildren(table);
    const first = page * size + 1, last = Math.min(found.length, page * size + size), count = number => number.toLocaleString("en");
    shown.textContent = found.length ? `${count(first)} to ${count(last)} of ${count(found.length)}` : "no class has this text";
    before.disabled = page === 0;
    after.disabled = last >= found.length;
  };
  const choose = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = rows.map((_, at) => at).filter(at => words.every(word => texts[at].includes(word)));
    if (sorted >= 0) found.sort(compare);
    page = 0;
    draw();
  };
  search.oninput = choose;
  before.onclick = () => { page--; draw(); };
  after.onclick = () => { page++; draw(); };
  document.getElementById("class-browser").hidden = false;
  draw();
})();

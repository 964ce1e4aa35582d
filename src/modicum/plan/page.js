// The sliders of a plan's page: the page holds plans at some costs and numbers of rows, and between
// them this interpolates linearly in logarithms.
"use strict";
(() => {
  const known = JSON.parse(document.getElementById("record").textContent);
  const byId = (name) => document.getElementById(name);
  const [amounts, sizes] = [known.amounts, known.sizes];

  // The place of x among increasing numbers: the one before it, and how far on the way to the next.
  function place(list, x) {
    if (list.length === 1) return [0, 0];
    let k = 0;
    while (k < list.length - 2 && list[k + 1] <= x) k += 1;
    return [k, Math.log(x / list[k]) / Math.log(list[k + 1] / list[k])];
  }

  // null stands for no bound, or no plan.
  function between(a, b, share) {
    if (share < 1e-9) return a;
    if (share > 1 - 1e-9) return b;
    if (a === null || b === null) return null;
    if (a > 0 && b > 0) return Math.exp((1 - share) * Math.log(a) + share * Math.log(b));
    return (1 - share) * a + share * b;
  }

  const again = (table, [k, share]) =>
    table[k].map((x, j) => between(x, table[Math.min(k + 1, table.length - 1)][j], share));
  const turned = (table) => table[0].map((_, j) => table.map((row) => row[j]));
  const within = (list, [k, share]) => between(list[k], list[Math.min(k + 1, list.length - 1)], share);

  // The warning of the nearest point; of one that cannot be used, where a number is missing for it.
  function status([i, a], [j, b], missing) {
    const found = [];
    for (const [k, near] of [[i, a < 0.5], [i + 1, a >= 0.5]]) {
      for (const [l, close] of [[j, b < 0.5], [j + 1, b >= 0.5]]) {
        if (k >= amounts.length || l >= sizes.length) continue;
        if (missing && known.error[k][l] === null) return known.statuses[known.status[k][l]];
        if (near && close) found.push(known.statuses[known.status[k][l]]);
      }
    }
    return found[0];
  }

  function said(x) {
    if (x === null) return "–";
    const digits = Number(x.toPrecision(3));
    if (digits !== 0 && (Math.abs(digits) < 1e-4 || Math.abs(digits) >= 1e15)) {
      return digits.toExponential();
    }
    return digits.toLocaleString("en-US", { maximumSignificantDigits: 3 });
  }

  function pixel(axis, x) {
    const [low, high, start, end] = axis;
    return start + ((Math.log10(x) - low) / (high - low)) * (end - start);
  }

  function curve(panel, kind, xs, ys) {
    let path = "";
    let broken = true;
    ys.forEach((y, j) => {
      if (y === null || y <= 0) {
        broken = true;
        return;
      }
      const at = `${pixel(panel.x, xs[j]).toFixed(1)} ${pixel(panel.y, y).toFixed(1)}`;
      path += `${broken ? "M" : "L"}${at}`;
      broken = false;
    });
    byId(`${panel.name}-${kind}`).setAttribute("d", path);
  }

  function mark(panel, x, values) {
    const line = byId(`${panel.name}-chosen`);
    line.setAttribute("x1", pixel(panel.x, x));
    line.setAttribute("x2", pixel(panel.x, x));
    for (const [kind, y] of Object.entries(values)) {
      const dot = byId(`${panel.name}-${kind}-dot`);
      const shown = y !== null && y > 0;
      dot.setAttribute("visibility", shown ? "visible" : "hidden");
      if (!shown) continue;
      dot.setAttribute("cx", pixel(panel.x, x));
      dot.setAttribute("cy", pixel(panel.y, y));
    }
  }

  const write = (name, text) => {
    const part = byId(name);
    if (part && part.textContent !== text) part.textContent = text;
  };

  function show() {
    const text = known.steps.amounts[byId("amount").value];
    const [amount, rows] = [known.values[byId("amount").value], known.steps.sizes[byId("rows").value]];
    const [i, j] = [place(amounts, amount), place(sizes, rows)];
    const found = {};
    for (const kind of ["error", "half"]) {
      const [bySize, byAmount] = [again(known[kind], i), again(turned(known[kind]), j)];
      found[kind] = within(bySize, j);
      curve(known.panels[0], kind, sizes, bySize);
      curve(known.panels[1], kind, amounts, byAmount);
    }
    if (known.sampling !== null) {
      found.sampling = known.sampling / Math.sqrt(rows);
      curve(known.panels[0], "sampling", sizes, sizes.map((n) => known.sampling / Math.sqrt(n)));
      curve(known.panels[1], "sampling", amounts, amounts.map(() => found.sampling));
    }
    mark(known.panels[0], rows, found);
    mark(known.panels[1], amount, found);
    const cost = known.cost.replace("{amount}", text);
    const size = rows.toLocaleString("en-US");
    write("said-cost", cost);
    write("said-rows", size);
    write("said-error", said(found.error));
    write("said-half", found.half === null ? "–" : `± ${said(found.half)}`);
    write("said-sampling", said(found.sampling ?? null));
    write("said-odds", said(Math.exp(Math.min(amount, 700))));
    write("said-status", status(i, j, found.error === null));
    byId("amount").setAttribute("aria-valuetext", cost);
    byId("rows").setAttribute("aria-valuetext", `${size} rows`);
    for (const [name, call] of Object.entries(known.calls)) {
      write(name, call.replaceAll("{amount}", text));
    }
  }

  for (const button of document.querySelectorAll("button[data-copies]")) {
    const part = byId(button.dataset.copies);
    button.hidden = false;
    button.addEventListener("click", () => {
      navigator.clipboard.writeText(part.textContent).then(
        () => { button.textContent = "Copied"; },
        () => { window.getSelection().selectAllChildren(part); },
      );
    });
  }
  for (const name of ["amount", "rows"]) byId(name).addEventListener("input", show);
  byId("sliders").hidden = false;
  show();
})();

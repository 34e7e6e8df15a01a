// Unpacks plotly.js and draws the charts in the colours of the style sheet.
(() => {
  "use strict";
  const root = document.documentElement;
  const figures = [...document.querySelectorAll(".plot")].map((place) => [
    place,
    JSON.parse(place.nextElementSibling.textContent),
  ]);

  const coloured = (node, style) => {
    if (typeof node === "string") {
      const name = /^var\((--[a-z]+)\)$/.exec(node);
      return name ? style.getPropertyValue(name[1]).trim() : node;
    }
    if (Array.isArray(node)) return node.map((child) => coloured(child, style));
    if (node === null || typeof node !== "object") return node;
    return Object.fromEntries(
      Object.entries(node).map(([key, child]) => [key, coloured(child, style)]),
    );
  };

  const isShown = (place) => place.clientWidth > 0; // false inside closed details

  const drawSome = (some) => {
    const style = getComputedStyle(root);
    for (const [place, figure] of some.filter(([place]) => isShown(place))) {
      const { data, layout } = coloured(figure, style);
      Plotly.react(place, data, layout, { displayModeBar: false, responsive: true });
    }
  };
  const draw = () => drawSome(figures);

  // Marks the picked trial in the chart of the front, and shows its panel alone.
  const pickOne = (list, figure) => {
    const panels = [...document.querySelectorAll("#picks > article")];
    const marks = figure.data.flatMap((trace) =>
      (trace.customdata ?? []).map((number, i) => ({ number, x: trace.x[i], y: trace.y[i] })),
    );
    const ring = figure.data.find((trace) => trace.name === "picked");
    const show = (number) => {
      list.value = number;
      for (const panel of panels) panel.hidden = panel.dataset.trial !== number;
      const found = marks.filter((mark) => String(mark.number) === number);
      ring.x = found.map((mark) => mark.x);
      ring.y = found.map((mark) => mark.y);
    };
    list.addEventListener("change", () => {
      show(list.value);
      if (window.Plotly) draw();
    });
    show(list.value);
    return (event) => {
      const number = String(event.points[0]?.customdata);
      if (![...list.options].some((option) => option.value === number)) return;
      show(number);
      draw();
    };
  };

  // Inflates the library and runs it; throws where the browser cannot.
  const unpack = async () => {
    const packed = atob(document.getElementById("plotly").textContent);
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const library = document.createElement("script");
    library.textContent = await new Response(inflated).text();
    document.head.append(library);
    if (!window.Plotly) throw new Error("plotly.js did not start");
  };

  const giveUp = () => {
    root.toggleAttribute("data-no-charts", true);
    const note = document.createElement("p");
    note.className = "warnings";
    note.setAttribute("role", "status");
    note.textContent =
      "This browser cannot draw the charts: it cannot unpack them (DecompressionStream is " +
      "missing). The text and the tables hold the results.";
    document.querySelector("main").prepend(note);
  };

  const list = document.getElementById("pick");
  const front = figures.find(([place]) => place.id === "front");
  const onClick = list && front ? pickOne(list, front[1]) : null;
  unpack().then(
    () => {
      draw();
      if (onClick) front[0].on("plotly_click", onClick);
      for (const part of document.querySelectorAll("details")) {
        part.addEventListener("toggle", () =>
          drawSome(figures.filter(([place]) => part.contains(place))),
        );
      }
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
      addEventListener("beforeprint", draw);
      addEventListener("afterprint", draw);
      root.toggleAttribute("data-charts", true);
    },
    giveUp,
  );
})();

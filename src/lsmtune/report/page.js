// Draws the figures in the colours of the style sheet, and again when these change.
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

  const draw = () => {
    const style = getComputedStyle(root);
    for (const [place, figure] of figures) {
      const { data, layout } = coloured(figure, style);
      Plotly.react(place, data, layout, { displayModeBar: false, responsive: true });
    }
  };

  // Marks the picked trial in the picture of the front, and shows its panel alone.
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
      draw();
    });
    show(list.value);
    return (event) => {
      const number = String(event.points[0]?.customdata);
      if (![...list.options].some((option) => option.value === number)) return;
      show(number);
      draw();
    };
  };

  const copy = async (button) => {
    const command = button.previousElementSibling;
    getSelection().selectAllChildren(command); // stays marked where copying is not allowed
    try {
      await navigator.clipboard.writeText(command.textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Marked, to be copied";
    }
  };

  const print = (on) => () => {
    root.toggleAttribute("data-print", on);
    draw();
  };

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("beforeprint", print(true));
  addEventListener("afterprint", print(false));
  const list = document.getElementById("pick");
  const front = figures.find(([place]) => place.id === "front");
  const onClick = list && front ? pickOne(list, front[1]) : null;
  for (const button of document.querySelectorAll(".command button")) {
    button.addEventListener("click", () => copy(button));
  }
  draw();
  if (onClick) front[0].on("plotly_click", onClick);
})();

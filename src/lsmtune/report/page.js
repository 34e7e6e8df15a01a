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

  const print = (on) => () => {
    root.toggleAttribute("data-print", on);
    draw();
  };

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("beforeprint", print(true));
  addEventListener("afterprint", print(false));
  draw();
})();

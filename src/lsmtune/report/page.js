// What every page needs: hints at tables that scroll, buttons that copy, all details in print.
(() => {
  "use strict";
  const root = document.documentElement;

  // A table that is wider than its box shows a hint and can be reached with the Tab key.
  const hint = (box) => {
    const overflows = box.scrollWidth > box.clientWidth + 1;
    box.tabIndex = overflows ? 0 : -1;
    const text = box.previousElementSibling;
    if (text?.classList.contains("hint")) text.hidden = !overflows;
  };
  const boxes = [...document.querySelectorAll(".scroll")];
  const watch = new ResizeObserver((entries) => entries.forEach(({ target }) => hint(target)));
  boxes.forEach((box) => watch.observe(box));

  const copy = async (button) => {
    const command = button.previousElementSibling;
    getSelection().selectAllChildren(command); // stays selected where copying is not allowed
    try {
      await navigator.clipboard.writeText(command.textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Selected: press Ctrl+C";
    }
  };
  for (const button of document.querySelectorAll(".command button")) {
    button.addEventListener("click", () => copy(button));
  }

  let opened = [];
  addEventListener("beforeprint", () => {
    root.toggleAttribute("data-print", true);
    opened = [...document.querySelectorAll("details:not([open])")];
    opened.forEach((part) => { part.open = true; });
  });
  addEventListener("afterprint", () => {
    root.toggleAttribute("data-print", false);
    opened.forEach((part) => { part.open = false; });
  });
})();

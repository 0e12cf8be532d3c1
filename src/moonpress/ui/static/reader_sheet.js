// The page's picture with a box around every block.

class Sheet {
  constructor(root, { select }) {
    this.image = root.querySelector(".picture");
    this.boxes = root.querySelector(".boxes");
    this.wrong = root.querySelector(".sheet .wrong");
    this.paper = root.querySelector(".paper");
    this.scroller = root.querySelector(".sheet .scroll");
    this.boxes.addEventListener("click", (event) => {
      const box = event.target.closest(".box");
      if (box) select(box.dataset.id, "sheet");
    });
    this.image.addEventListener("load", () => { this.paper.classList.remove("drawing"); });
    this.image.addEventListener("error", () => this.explain());
  }

  picture(address, alt) {
    this.wrong.hidden = true;
    this.image.hidden = false;
    if (this.image.getAttribute("src") === address) return;
    this.boxes.replaceChildren();
    this.paper.classList.add("drawing");
    this.image.alt = alt;
    this.image.src = address;
    this.scroller.scrollTop = 0;
  }

  async explain() {
    const address = this.image.getAttribute("src");
    if (!address) return;
    this.image.hidden = true;
    this.paper.classList.remove("drawing");
    try {
      await ask(address);
      this.wrong.textContent = "The picture cannot be shown.";
    } catch (error) {
      this.wrong.textContent = error.message;
    }
    this.wrong.hidden = false;
  }

  show(page) {
    const marked = new Set(page.problems.map((one) => one.block).filter(Boolean));
    // Small boxes lie on large ones, or nobody could click them.
    const area = ([x0, y0, x1, y1]) => (x1 - x0) * (y1 - y0);
    const order = page.blocks.map((block) => area(block.box)).sort((a, b) => b - a);
    this.boxes.replaceChildren(...page.blocks.map((block, index) => {
      const [x0, y0, x1, y1] = block.box;
      const kind = KINDS[block.kind] || block.kind;
      const sure = block.confidence === null ? "" : ` ${Math.round(100 * block.confidence)} %`;
      const doubtful = marked.has(block.id) || (block.confidence ?? 1) < DOUBT;
      const box = element("button", {
        type: "button", className: "box", tabIndex: index ? -1 : 0,
        "aria-label": `${kind}${sure}${doubtful ? ", doubtful" : ""}: ${block.text || "no text"}`,
        "aria-pressed": "false",
      }, element("span", {
        className: "tag", textContent: `${kind}${sure}`, "aria-hidden": "true",
      }));
      box.dataset.id = block.id;
      box.dataset.kind = block.kind;
      box.classList.toggle("doubtful", doubtful);
      box.classList.toggle("edited", block.edited);
      box.classList.toggle("high", y0 < 0.03);
      Object.assign(box.style, {
        left: `${100 * x0}%`, top: `${100 * y0}%`,
        width: `calc(${100 * (x1 - x0)}% + 3px)`, height: `calc(${100 * (y1 - y0)}% + 3px)`,
        zIndex: 1 + order.indexOf(area(block.box)),
      });
      return box;
    }));
  }

  clear() { this.boxes.replaceChildren(); }

  select(id, scroll) {
    for (const box of this.boxes.children) {
      const on = box.dataset.id === id;
      box.setAttribute("aria-pressed", String(on));
      box.tabIndex = on ? 0 : -1;
      if (on && scroll) box.scrollIntoView({ block: "nearest", behavior: "smooth" });
    }
    if (id === null && this.boxes.firstElementChild) this.boxes.firstElementChild.tabIndex = 0;
  }
}

// Below this probability a block is marked as doubtful.
const DOUBT = 0.8;

// Thumbnails to look through and to choose pages by. Only those in sight are drawn.

class Thumbs {
  constructor(host, { turn, chosen }) {
    this.host = host;
    this.turn = turn;
    this.chosen = chosen;
    this.selected = new Set();
    this.waiting = new Set();
    this.drawing = 0;
    this.watcher = new IntersectionObserver((seen) => {
      for (const one of seen) {
        if (one.isIntersecting) this.waiting.add(one.target);
        else this.waiting.delete(one.target);
      }
      this.drawSome();
    }, { root: host, rootMargin: "150px" });
  }

  show(base, count) {
    this.watcher.disconnect();
    this.waiting.clear();
    this.selected.clear();
    this.base = base;
    this.last = 0;
    this.tiles = Array.from({ length: count }, (_, index) => this.tile(index + 1));
    this.host.replaceChildren(...this.tiles);
    for (const tile of this.tiles) this.watcher.observe(tile);
  }

  tile(number) {
    const check = element("input", {
      type: "checkbox", className: "choose", "aria-label": `Choose page ${number}`,
    });
    check.addEventListener("click", (event) => this.choose(number, check.checked, event.shiftKey));
    const bar = element("span", { className: "bar" });
    const open = element("button", {
      type: "button", className: "open", "aria-label": `Show page ${number}`,
    }, element("span", { className: "leaf" }), element("span", {
      className: "number", textContent: number,
    }), bar);
    open.addEventListener("click", () => this.turn(number));
    return element("li", { className: "tile", value: number }, open, check);
  }

  drawSome() {
    for (const tile of this.waiting) {
      if (this.drawing >= 3) return;
      this.waiting.delete(tile);
      this.watcher.unobserve(tile);
      this.drawing += 1;
      const image = element("img", { alt: "", src: `${this.base}/pictures/${tile.value}/small` });
      const done = () => { this.drawing -= 1; this.drawSome(); };
      image.addEventListener("load", () => {
        tile.querySelector(".leaf").replaceChildren(image);
        done();
      });
      image.addEventListener("error", () => { tile.classList.add("broken"); done(); });
    }
  }

  choose(number, on, range) {
    const from = range && this.last ? this.last : number;
    for (let at = Math.min(from, number); at <= Math.max(from, number); at += 1) {
      if (on) this.selected.add(at); else this.selected.delete(at);
    }
    this.last = number;
    this.mark();
    this.chosen(this.selected);
  }

  select(numbers) {
    this.selected = new Set(numbers);
    this.mark();
  }

  mark() {
    this.tiles.forEach((tile, index) => {
      tile.querySelector(".choose").checked = this.selected.has(index + 1);
    });
  }

  current(number) {
    this.tiles.forEach((tile, index) => {
      const open = tile.querySelector(".open");
      if (index + 1 === number) open.setAttribute("aria-current", "page");
      else open.removeAttribute("aria-current");
    });
    const tile = this.tiles[number - 1];
    if (!tile) return;
    const host = this.host.getBoundingClientRect();
    const box = tile.getBoundingClientRect();
    // Not scrollIntoView: that would move the whole window too.
    if (box.top < host.top) this.host.scrollTop += box.top - host.top - 8;
    else if (box.bottom > host.bottom) this.host.scrollTop += box.bottom - host.bottom + 8;
    if (box.left < host.left) this.host.scrollLeft += box.left - host.left - 8;
    else if (box.right > host.right) this.host.scrollLeft += box.right - host.right + 8;
  }

  progress(marks, underWay) {
    const names = {
      ".": "", w: "waiting", b: "being read", o: "read", p: "read in part", f: "failed",
    };
    this.tiles.forEach((tile, index) => {
      const number = index + 1;
      const mark = marks[index];
      if (tile.dataset.mark !== mark) {
        tile.dataset.mark = mark;
        const said = names[mark] ? `, ${names[mark]}` : "";
        tile.querySelector(".open").setAttribute("aria-label", `Show page ${number}${said}`);
        tile.querySelector(".open").title = names[mark] || "";
      }
      if (mark === "b") {
        const far = underWay[number] || 0;
        tile.classList.toggle("unknown", far === 0);
        tile.style.setProperty("--far", far);
      }
    });
  }
}

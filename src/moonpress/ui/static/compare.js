// Two engines' readings of one page, with what differs marked.

class Comparison {
  constructor(root) {
    this.root = root;
    this.find = (selector) => root.querySelector(selector);
  }

  async show({ paper, page, left, right, start }) {
    const wanted = JSON.stringify([paper, page, left, right, start]);
    if (this.wanted === wanted) return;
    this.wanted = wanted;
    const base = `/desk/papers/${paper}`;
    const said = (words) => { if (this.wanted === wanted) this.find(".said").textContent = words; };
    this.find(".wrong").hidden = true;
    this.find(".sides").hidden = true;
    try {
      for (const engine of [left, right]) {
        said(`Reading page ${page} with ${engine} …`);
        await this.ensure(base, page, engine);
      }
      const query = new URLSearchParams({ left, right });
      const found = await askJson(`${base}/differences/${page}?${query}`);
      if (this.wanted !== wanted) return;
      this.draw(base, page, [left, right], found);
      const parts = found.only_left + found.only_right;
      said(parts
        ? `${counted(found.same, "word")} alike, ${found.only_left} only with ${left}, ${found.only_right} only with ${right}.`
        : `Both readings have the same ${counted(found.same, "word")}.`);
    } catch (error) {
      if (this.wanted !== wanted) return;
      said("");
      this.find(".wrong").textContent = error.message;
      this.find(".wrong").hidden = false;
    }
  }

  async ensure(base, page, engine) {
    const query = `engine=${encodeURIComponent(engine)}`;
    let state = await askJson(`${base}/state?${query}`);
    if (/[opf]/.test(state.marks[page - 1])) return;
    state = await askJson(`${base}/read`, { engine, pages: String(page), aside: true });
    while (state.stage === "running") {
      state = await askJson(`${base}/state?after=${state.revision}&wait=1000&${query}`);
    }
    if (state.error) throw new Error(state.error);
  }

  draw(base, page, engines, found) {
    this.find(".picture").src = `${base}/pictures/${page}/large`;
    this.find(".picture").alt = `Page ${page}`;
    ["left", "right"].forEach((side, index) => {
      const title = this.find(`.${side} > h2`);
      const lone = found[`only_${side}`];
      title.replaceChildren(`${engines[index]} `, element("small", {
        textContent: found.statuses[index] === "failed" ? "could not read it"
          : `${counted(lone, "word")} of its own`,
      }));
      const target = this.find(`.${side} .read`);
      const empty = found.problems[index].join(". ") || "Nothing is on this page.";
      if (found[side]) fill(target, found[side]);
      else target.replaceChildren(element("p", { className: "hint", textContent: empty }));
    });
    this.find(".sides").hidden = false;
  }
}

const comparisons = new WeakMap();

export default function ({ data, parentElement }) {
  const host = parentElement.querySelector(".compare");
  if (!host) return;
  if (!comparisons.has(host)) comparisons.set(host, new Comparison(parentElement));
  comparisons.get(host).show(data);
}

// The reading of a page: as it looks, and as each format says it; and the change of one block.

class TextPane {
  constructor(root, { select, turn, edit }) {
    this.root = root;
    this.panel = root.querySelector(".panel");
    this.about = root.querySelector(".about");
    this.problems = root.querySelector(".problems");
    this.tabs = [...root.querySelectorAll('[role="tab"]')];
    this.form = "reading";
    this.onEdit = edit;
    this.panel.addEventListener("click", (event) => {
      const link = event.target.closest("a[href^='#p']");
      if (link) {
        event.preventDefault();
        turn(Number(link.getAttribute("href").slice(2)));
        return;
      }
      const block = event.target.closest(".block");
      if (block && !event.target.closest("a")) select(block.id, "text");
    });
    this.panel.addEventListener("focusin", (event) => {
      const block = event.target.closest(".block");
      if (block && event.target === block) select(block.id, "text");
    });
    for (const tab of this.tabs) {
      tab.addEventListener("click", () => this.choose(tab));
      tab.addEventListener("keydown", (event) => this.move(event, tab));
    }
    this.about.querySelector(".change").addEventListener("click", () => this.edit());
    this.about.querySelector(".undo").addEventListener("click", () => this.save(null));
  }

  move(event, tab) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const next = this.tabs.at((this.tabs.indexOf(tab) + step) % this.tabs.length);
    this.choose(next);
    next.focus();
  }

  choose(tab) {
    this.form = tab.dataset.form;
    for (const one of this.tabs) {
      one.setAttribute("aria-selected", String(one === tab));
      one.tabIndex = one === tab ? 0 : -1;
    }
    this.panel.setAttribute("aria-labelledby", tab.id);
    this.draw();
  }

  show(base, number, page) {
    this.base = base;
    this.number = number;
    this.page = page;
    this.selected = null;
    this.closeEditor();
    this.drawProblems();
    this.draw();
    this.tell();
  }

  empty(words) {
    this.page = null;
    this.selected = null;
    this.closeEditor();
    this.problems.hidden = true;
    this.panel.replaceChildren(element("p", { className: "hint", textContent: words }));
    this.tell();
  }

  drawProblems() {
    const all = this.page.problems;
    this.problems.hidden = all.length === 0;
    this.problems.querySelector("summary").textContent =
      `${counted(all.length, "remark")} about this page`;
    this.problems.open = this.page.status === "failed";
    this.problems.querySelector("ul").replaceChildren(...all.map((one) => element("li", {},
      element("span", { textContent: `${one.message} ` }),
      element("code", { textContent: one.code }))));
  }

  async draw() {
    if (!this.page) return;
    if (this.form === "reading") {
      if (this.page.status === "failed" || !this.page.blocks.length) {
        const words = this.page.status === "failed"
          ? "This page could not be read." : "There is nothing on this page.";
        this.panel.replaceChildren(element("p", { className: "hint", textContent: words }));
        return;
      }
      const reading = element("div", { className: "read" });
      fill(reading, this.page.html);
      const doubt = new Set(this.page.problems.map((one) => one.block).filter(Boolean));
      for (const block of this.page.blocks) {
        const shown = reading.querySelector(`[id="${CSS.escape(block.id)}"]`);
        if (!shown) continue;
        shown.tabIndex = -1;
        shown.classList.toggle("doubtful", doubt.has(block.id) || (block.confidence ?? 1) < DOUBT);
        shown.classList.toggle("edited", block.edited);
      }
      const first = reading.querySelector(".block");
      if (first) first.tabIndex = 0;
      this.panel.replaceChildren(reading);
      this.select(this.selected, false);
      return;
    }
    const { form, number } = this;
    const text = await (await ask(`${this.base}/pages/${number}/text/${form}`)).text();
    if (form !== this.form || number !== this.number) return;
    const copy = element("button", { type: "button", className: "copy", textContent: "Copy" });
    copy.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text);
      copy.textContent = "Copied";
    });
    const source = element("pre", { className: "source", textContent: text, tabIndex: 0 });
    source.setAttribute("aria-label", `Page ${number} as ${form}`);
    source.setAttribute("role", "region");
    this.panel.replaceChildren(copy, source);
  }

  select(id, scroll) {
    this.selected = id;
    // First, because the line below the text takes room from it.
    this.tell();
    for (const block of this.panel.querySelectorAll(".block")) {
      const on = block.id === id;
      if (on) block.setAttribute("aria-current", "true"); else block.removeAttribute("aria-current");
      if (on && scroll) block.scrollIntoView({ block: "nearest", behavior: "smooth" });
      if (id !== null) block.tabIndex = on ? 0 : -1;
    }
  }

  get block() {
    return this.page?.blocks.find((one) => one.id === this.selected);
  }

  tell() {
    const { block } = this;
    this.about.hidden = !block;
    if (!block) return;
    const sure = block.confidence === null ? "" : `, ${Math.round(100 * block.confidence)} % sure`;
    this.about.querySelector(".kind").textContent = KINDS[block.kind] || block.kind;
    this.about.dataset.kind = block.kind;
    const remarks = this.page.problems.filter((one) => one.block === block.id);
    this.about.querySelector(".facts").textContent = block.edited
      ? "changed by you"
      : `${ORIGINS[block.origin] || ""}${sure}${remarks.map((one) => `. ${one.message}`).join("")}`;
    this.about.querySelector(".undo").hidden = !block.edited;
    this.about.querySelector(".change").hidden = Boolean(this.editor);
  }

  closeEditor() {
    this.editor?.remove();
    this.editor = null;
  }

  async edit() {
    const { block } = this;
    if (!block || this.editor) return;
    const { form, value } = await askJson(`${this.base}/blocks/${block.id}`);
    const label = { latex: "Formula in LaTeX", text: "Code", html: "Text of the block" }[form];
    let field;
    if (form === "html") {
      field = element("div", { className: "field read", contentEditable: "true" });
      field.setAttribute("role", "textbox");
      field.setAttribute("aria-multiline", "true");
      field.tabIndex = 0;
      fill(field, value);
    } else {
      field = element("textarea", { className: "field mono", value, rows: 5, spellcheck: false });
    }
    field.setAttribute("aria-label", label);
    const save = element("button", { type: "submit", className: "primary", textContent: "Save" });
    const leave = element("button", { type: "button", textContent: "Discard" });
    this.editor = element("form", { className: "editor" },
      element("p", { className: "label", textContent: label }), field,
      element("p", { className: "buttons" }, save, leave));
    const read = () => (form === "html" ? field.innerHTML : field.value);
    this.editor.addEventListener("submit", (event) => {
      event.preventDefault();
      this.save(read());
    });
    leave.addEventListener("click", () => { this.closeEditor(); this.tell(); });
    this.editor.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") leave.click();
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.save(read());
    });
    this.about.after(this.editor);
    this.tell();
    field.focus();
  }

  async save(value) {
    const id = this.selected;
    await this.onEdit(id, value);
    this.closeEditor();
  }
}

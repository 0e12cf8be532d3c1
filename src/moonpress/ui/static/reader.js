// The reader: pages, pictures and readings of one paper, kept up to date while it is read.

class Reader {
  constructor(root) {
    this.root = root;
    this.find = (selector) => root.querySelector(selector);
    this.pages = new Map();
    this.sheet = new Sheet(root, { select: (id, from) => this.select(id, from) });
    this.thumbs = new Thumbs(this.find(".thumbs"), {
      turn: (number) => this.turn(number),
      chosen: (numbers) => { this.find(".range").value = rangesOf(numbers); this.label(); },
    });
    this.text = new TextPane(root, {
      select: (id, from) => this.select(id, from),
      turn: (number) => this.turn(number),
      edit: (id, value) => this.edit(id, value),
    });
    this.listen();
  }

  listen() {
    const on = (selector, name, work) => this.find(selector).addEventListener(name, work);
    const safely = (work) => async (event) => {
      this.say("");
      try { await work(event); } catch (error) { this.say(error.message); }
    };
    on(".go", "click", safely(() => this.read()));
    on(".stop", "click", safely(async () => this.apply(await askJson(`${this.base}/cancel`, {}))));
    on(".range", "input", () => {
      const numbers = numbersOf(this.find(".range").value || "1-", this.count);
      this.thumbs.select(this.find(".range").value && numbers ? numbers : []);
      this.label();
    });
    on(".range", "keydown", (event) => { if (event.key === "Enter") this.find(".go").click(); });
    on(".before", "click", () => this.turn(this.number - 1));
    on(".after", "click", () => this.turn(this.number + 1));
    on(".at", "change", (event) => this.turn(Number(event.target.value)));
    on(".outline", "change", (event) => {
      this.find(".paper").classList.toggle("bare", !event.target.checked);
    });
    this.find(".panes").addEventListener("keydown", (event) => this.key(event));
    // A menu that stays open over the page is in the way.
    this.root.addEventListener("click", (event) => {
      const menu = this.find(".save");
      if (!event.target.closest(".save") || event.target.closest("a")) menu.open = false;
    });
    this.find(".save").addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      this.find(".save").open = false;
      this.find(".save summary").focus();
    });
  }

  key(event) {
    if (event.target.closest("input, textarea, .field, [role=tab]")) return;
    const inside = event.target.closest(".boxes, .panel");
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && inside && this.page) {
      const ids = this.page.blocks.map((block) => block.id);
      const here = event.target.closest(".box, .block");
      const at = ids.indexOf(here?.dataset.id || here?.id || this.text.selected);
      const id = ids[Math.min(Math.max(at + step, 0), ids.length - 1)];
      if (!id || event.target.closest("pre.source")) return;
      event.preventDefault();
      const from = event.target.closest(".boxes") ? "sheet" : "text";
      this.select(id, from);
      const host = from === "sheet" ? this.find(".boxes") : this.find(".panel");
      const next = [...host.querySelectorAll(".box, .block")].find(
        (one) => (one.dataset.id || one.id) === id,
      );
      next?.focus();
    }
    const turn = { ArrowRight: 1, ArrowLeft: -1, PageDown: 1, PageUp: -1 }[event.key];
    if (turn && !event.target.closest("pre.source, table")) {
      event.preventDefault();
      this.turn(this.number + turn);
    }
    if (event.key === "Enter" && event.target.closest(".block")) this.text.edit();
  }

  async open(data) {
    this.engine = data.engine;
    if (this.paper === data.paper) { this.label(); return; }
    this.paper = data.paper;
    this.base = `/desk/papers/${data.paper}`;
    this.pages.clear();
    this.state = null;
    this.page = null;
    this.number = 0;
    this.say("");
    this.find(".range").value = "";
    try {
      const state = await askJson(`${this.base}/state`);
      if (this.paper !== data.paper) return;
      this.count = state.count;
      this.find(".name").textContent = state.name;
      this.find(".size").textContent = counted(state.count, "page");
      this.find(".of").textContent = `of ${state.count.toLocaleString("en")}`;
      this.find(".at").max = state.count;
      for (const link of this.root.querySelectorAll(".save a")) {
        link.href = `${this.base}/files/${link.dataset.form}`;
      }
      this.thumbs.show(this.base, state.count);
      this.apply(state);
      this.turn(1);
      this.find(".desk").hidden = false;
      this.follow();
    } catch (error) {
      this.find(".desk").hidden = false;
      this.say(error.message);
    }
  }

  say(line) {
    const wrong = this.find(".desk > .wrong");
    wrong.textContent = line;
    wrong.hidden = !line;
  }

  wanted() {
    const text = this.find(".range").value.trim();
    return text ? numbersOf(text, this.count) : null;
  }

  label() {
    const text = this.find(".range").value.trim();
    const numbers = this.wanted();
    const bad = Boolean(text) && !numbers;
    this.find(".range").setAttribute("aria-invalid", String(bad));
    this.find(".go").disabled = bad;
    const all = this.count === 1 ? "Read the page" : `Read all ${counted(this.count, "page")}`;
    this.find(".go").textContent = numbers ? `Read ${counted(numbers.size, "page")}` : all;
  }

  async read() {
    const edits = this.state?.edits || 0;
    const text = `Reading again drops ${counted(edits, "change")} of yours on the pages read. Go on?`;
    if (edits && !window.confirm(text)) return;
    const pages = this.find(".range").value.trim();
    this.pages.clear();
    this.apply(await askJson(`${this.base}/read`, { engine: this.engine, pages }));
    this.follow();
  }

  // While it is read, ask again and again what is new.
  async follow() {
    const { paper } = this;
    if (this.following === paper) return;
    this.following = paper;
    try {
      while (this.paper === paper && this.state?.stage === "running" && this.root.host?.isConnected !== false) {
        const state = await askJson(`${this.base}/state?after=${this.state.revision}&wait=400`);
        if (this.paper !== paper) return;
        this.apply(state);
        await pause(0.1);
      }
    } catch (error) {
      this.say(error.message);
    } finally {
      if (this.following === paper) this.following = null;
    }
  }

  apply(state) {
    const before = this.state;
    this.state = state;
    const running = state.stage === "running";
    this.find(".go").hidden = running;
    this.find(".stop").hidden = !running;
    this.find(".save").hidden = running || !/[opf]/.test(state.marks);
    this.label();
    this.progress(state, running);
    this.thumbs.progress(state.marks, state.under_way);
    if (state.error && before?.error !== state.error) this.say(state.error);
    const ended = before && before.stage === "running" && !running;
    // Passes over the whole document change pages at its end.
    if (ended) this.pages.clear();
    const mark = state.marks[this.number - 1];
    const grown = state.written[this.number] !== before?.written[this.number];
    if (this.number && (ended || grown || mark !== before?.marks[this.number - 1])) this.draw();
  }

  progress(state, running) {
    const bar = this.find(".progress progress");
    this.find(".progress").hidden = state.stage === "new";
    bar.max = Math.max(state.asked, 1);
    bar.value = state.done;
    this.find(".progress").dataset.stage = state.stage;
    const failed = [...state.marks].filter((mark) => mark === "f").length;
    const lost = failed ? `, ${failed} failed` : "";
    const words = {
      running: `Reading with ${state.engine}: ${state.done} of ${counted(state.asked, "page")}${lost}`,
      done: `Read with ${state.engine}: ${counted(state.done, "page")}${lost}`,
      cancelled: `Cancelled: ${state.done} of ${counted(state.asked, "page")} read${lost}`,
      failed: "Not read",
    }[state.stage] || "";
    const said = this.find(".said");
    if (said.textContent !== words) said.textContent = words;
    this.root.querySelector(".desk").dataset.stage = state.stage;
    bar.setAttribute("aria-label", running ? "Pages read so far" : "Pages read");
  }

  turn(number) {
    if (!(number >= 1 && number <= this.count) || number === this.number) {
      this.find(".at").value = this.number;
      return;
    }
    this.number = number;
    this.find(".at").value = number;
    this.find(".before").disabled = number === 1;
    this.find(".after").disabled = number === this.count;
    this.thumbs.current(number);
    this.sheet.picture(this.address(number), `Page ${number}`);
    this.draw();
    if (number < this.count) new Image().src = this.address(number + 1);
  }

  address(number) { return `${this.base}/pictures/${number}/large`; }

  async draw() {
    const { number, paper } = this;
    const mark = this.state.marks[number - 1];
    // Keys work on, while what is shown of the same page is asked for again.
    if (this.drawn !== number) this.page = null;
    const whole = /[opf]/.test(mark);
    if (!whole && !this.state.written[number]) {
      this.page = null;
      this.sheet.clear();
      this.text.empty(mark === "." ? "This page is not read yet." : "This page is being read …");
      return;
    }
    try {
      if (!this.pages.has(number)) {
        const query = `engine=${encodeURIComponent(this.state.engine)}`;
        this.pages.set(number, await askJson(`${this.base}/pages/${number}?${query}`));
      }
      const page = this.pages.get(number);
      // What is still being written is asked for again when there is more of it.
      if (!whole) this.pages.delete(number);
      if (this.number !== number || this.paper !== paper) return;
      const { selected } = this.text;
      const refocus = this.focused();
      this.page = page;
      this.drawn = number;
      this.sheet.show(page);
      this.text.show(this.base, number, page);
      if (page.blocks.some((block) => block.id === selected)) {
        this.sheet.select(selected, false);
        this.text.select(selected, false);
      }
      refocus();
    } catch (error) {
      this.say(error.message);
    }
  }

  // Where the keys are, as something to go back to after all has been drawn anew.
  focused() {
    const here = this.find(".panes").getRootNode().activeElement?.closest(".box, .block");
    if (!here) return () => {};
    const id = here.dataset.id || here.id;
    const host = here.closest(".boxes, .panel");
    return () => {
      const again = [...host.querySelectorAll(".box, .block")].find(
        (one) => (one.dataset.id || one.id) === id,
      );
      again?.focus({ preventScroll: true });
    };
  }

  select(id, from) {
    if (this.text.selected === id && from !== "sheet") return;
    if (from === "sheet" && this.text.form !== "reading") this.text.choose(this.text.tabs[0]);
    this.text.closeEditor();
    this.sheet.select(id, from === "text");
    this.text.select(id, from === "sheet");
  }

  async edit(id, value) {
    try {
      this.state = await askJson(`${this.base}/blocks/${id}`, { value });
      this.pages.delete(this.number);
      await this.draw();
      this.sheet.select(id, false);
      this.text.select(id, true);
    } catch (error) {
      this.say(error.message);
    }
  }
}

const readers = new WeakMap();

export default function (component) {
  const { data, parentElement } = component;
  const desk = parentElement.querySelector(".desk");
  if (!desk) return;
  if (!readers.has(desk)) readers.set(desk, new Reader(parentElement));
  readers.get(desk).open(data);
}

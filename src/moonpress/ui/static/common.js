// What all parts share: elements, requests, words.

const KINDS = {
  heading: "Heading", text: "Text", list: "List", table: "Table", formula: "Formula",
  figure: "Figure", caption: "Caption", code: "Code", form: "Form", footnote: "Footnote",
  page_header: "Page header", page_footer: "Page footer", contents: "Contents",
  bibliography: "Bibliography", chemistry: "Chemistry", diagram: "Diagram",
  complex: "Mixed", blank: "Blank",
};
const ORIGINS = {
  text_layer: "the PDF's own text", ocr: "recognised letters", model: "written by the model",
  mixed: "own text and recognised letters",
};

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made && name !== "list") made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "X-Moonpress": "1", "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error("The server does not answer. Is chandra-ui still running?");
  }
  if (answer.ok) return answer;
  let line = `The server answers ${answer.status}.`;
  try { line = (await answer.json()).error || line; } catch { /* No line of ours. */ }
  const error = new Error(line);
  error.status = answer.status;
  throw error;
}

const askJson = async (path, body) => (await ask(path, body)).json();
const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
const counted = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

// "1-3,7" from numbers, and back; null where it cannot be read.
function rangesOf(numbers) {
  const parts = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = parts.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else parts.push([number, number]);
  }
  return parts.map(([a, b]) => (a === b ? `${a}` : `${a}-${b}`)).join(",");
}

function numbersOf(text, count) {
  const found = new Set();
  for (const part of text.split(",")) {
    const match = /^\s*(-?\d+)\s*(?:-\s*(-?\d+)?)?\s*$/.exec(part);
    if (!match) return null;
    const from = (value) => (value < 0 ? count + 1 + value : value);
    const first = from(Number(match[1]));
    const open = /\d\s*-\s*$/.test(part);
    const last = match[2] !== undefined ? from(Number(match[2])) : open ? count : first;
    if (first < 1 || last > count || last < first) return null;
    for (let number = first; number <= last; number += 1) found.add(number);
  }
  return found;
}

// The server cleaned this markup; links leave in a tab of their own.
function fill(target, html) {
  target.innerHTML = html;
  for (const link of target.querySelectorAll("a[href]")) {
    if (!link.getAttribute("href").startsWith("#")) link.target = "_blank";
  }
  for (const field of target.querySelectorAll("input, textarea, select")) {
    if (!field.hasAttribute("aria-label")) field.setAttribute("aria-label", "Form field as read");
  }
  // Wide tables scroll by themselves, which keys must reach too.
  for (const wide of target.querySelectorAll("table, pre")) wide.tabIndex = -1;
}

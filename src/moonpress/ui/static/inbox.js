// Files that are pasted, or dropped beside the box for them.

async function take(file, send) {
  const name = file.name || "pasted.png";
  try {
    const answer = await fetch(`/desk/papers?name=${encodeURIComponent(name)}`, {
      method: "POST", headers: { "X-Moonpress": "1" }, body: file,
    });
    const facts = await answer.json();
    if (answer.ok) send("opened", facts.id);
    else send("refused", facts.error);
  } catch {
    send("refused", `${name}: the server does not answer`);
  }
}

export default function ({ parentElement, setTriggerValue }) {
  const said = parentElement.querySelector(".said");
  const accept = async (files) => {
    said.textContent = "Opening …";
    for (const file of files) await take(file, setTriggerValue);
    said.textContent = "";
  };
  const paste = (event) => {
    const files = [...(event.clipboardData?.files || [])];
    if (!files.length) return;
    event.preventDefault();
    accept(files);
  };
  const over = (event) => {
    if ([...(event.dataTransfer?.types || [])].includes("Files")) event.preventDefault();
  };
  const drop = (event) => {
    const path = event.composedPath();
    const theirs = path.some((one) => one.dataset?.testid === "stFileUploaderDropzone");
    const files = [...(event.dataTransfer?.files || [])];
    if (theirs || !files.length) return;
    event.preventDefault();
    accept(files);
  };
  document.addEventListener("paste", paste);
  document.addEventListener("dragover", over);
  document.addEventListener("drop", drop);
  return () => {
    document.removeEventListener("paste", paste);
    document.removeEventListener("dragover", over);
    document.removeEventListener("drop", drop);
  };
}

// What a program shows, as elements of a page: pictures as images, pages in frames that have no
// access to this one, to other hosts or to downloads. The program may come from a link.

const addressOf = (svg) => URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));

// Put { svg or html } into an element, where the last of its kind is replaced in place.
export function put(place, { svg, html }, title) {
  if (svg) {
    const old = place.querySelector("img");
    const image = old ?? place.appendChild(new Image());
    if (old) URL.revokeObjectURL(old.src);
    image.alt = title;
    image.src = addressOf(svg);
  } else {
    place.querySelector("iframe")?.remove();
    const frame = document.createElement("iframe");
    frame.sandbox = "allow-scripts";
    frame.title = title;
    frame.src = new URL("frame.html", import.meta.url);
    frame.addEventListener("load", () => frame.contentWindow.postMessage({ html }, "*"), { once: true });
    place.prepend(frame);
  }
}

// A page in a frame cannot save a file by itself: what it would save gets a button below the frame.
addEventListener("message", ({ data, source }) => {
  const frame = [...document.querySelectorAll("iframe")].find((each) => each.contentWindow === source);
  if (!frame || !(data?.file instanceof Blob)) return;
  const button = frame.parentElement.querySelector("button") ?? document.createElement("button");
  button.textContent = `Save ${String(data.name).slice(0, 80)}`;
  button.onclick = () => save(data.file, String(data.name));
  frame.after(button);
});

// Give the reader a file.
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

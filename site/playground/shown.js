// What a program shows, as elements of a page: pictures as images, pages in frames that have no
// access to this one. The program may come from a link.

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
    const frame = place.querySelector("iframe") ?? document.createElement("iframe");
    frame.sandbox = "allow-scripts allow-downloads";
    frame.title = title;
    frame.srcdoc = html;
    if (!frame.isConnected) place.append(frame);
  }
}

// The picture by itself: as a file of the view, and on paper.

const SHARP = 2; // pixels of a PNG for each on the screen
const PAPER = 680; // the width of a page in pixels

const LINE = "width dasharray linecap linejoin opacity".split(" ").map((name) => `stroke-${name}`);
const PAINTED = ["opacity", "fill", "stroke", ...LINE];
const WRITTEN = ["font-family", "font-size", "font-weight", "text-anchor", "paint-order", ...PAINTED];

/** A copy of what lies within an area, as an <svg> of some width; `styled` holds its styles too. */
function copyOf([left, top, right, bottom], width, styled) {
  if (drawVisible([left, top, right, bottom], 0)) mark();
  const copy = canvas.cloneNode(true);
  copy.removeAttribute("style");
  if (styled) {
    const copies = [...copy.querySelectorAll("*")];
    [...canvas.querySelectorAll("*")].forEach((element, at) => settle(copies[at], element));
  }
  const [wide, high] = [right - left, bottom - top];
  const viewBox = [left, top, wide, high].join(" ");
  const size = { viewBox, width, height: (width / wide) * high };
  return svg.svg({ class: "minigrad-graph", ...size }, svg.title(document.title), copy);
}

/** Write the styles of an element into its copy, which has no style sheet. */
function settle(copy, element) {
  const style = getComputedStyle(element);
  if (style.display === "none" && copy.tagName !== "title") return copy.remove();
  for (const name of copy.getAttributeNames()) {
    if (/^(class|tabindex|role|aria-|data-)/.test(name)) copy.removeAttribute(name);
  }
  const names = { g: ["opacity"], text: WRITTEN, tspan: WRITTEN }[copy.tagName] ?? PAINTED;
  for (const name of names) copy.setAttribute(name, style.getPropertyValue(name));
}

/** The part of the picture that is seen: left, top, right, bottom. */
function areaSeen() {
  const [left, top, right, bottom] = look.area();
  return [max(left, 0), max(top, 0), min(right, placement.width), min(bottom, placement.height)];
}

/** Offer the view as a file, "svg" or "png". */
async function save(kind) {
  const area = areaSeen();
  const wide = area[2] - area[0];
  const [left, , right] = look.area();
  const copy = copyOf(area, (stage.clientWidth * wide) / (right - left), true);
  followCamera();
  const [x, y, width, height] = copy.getAttribute("viewBox").split(" ");
  const fill = getComputedStyle(document.body).backgroundColor;
  copy.querySelector("title").after(svg.rect({ x, y, width, height, fill }));
  const text = new XMLSerializer().serializeToString(copy);
  let file = new Blob([text], { type: "image/svg+xml" });
  if (kind === "png") {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const sheet = e.canvas({ width: SHARP * image.width, height: SHARP * image.height });
    sheet.getContext("2d").drawImage(image, 0, 0, sheet.width, sheet.height);
    file = await new Promise((done) => sheet.toBlob(done));
  }
  const href = URL.createObjectURL(file);
  const name = document.title.replace(/[^\p{L}\p{N}.-]+/gu, "_");
  e.a({ href, download: `${name}.${kind}` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
}

/** On paper: the part of the picture that is seen, above the open tab of the panel. */
function layOutPaper() {
  stage.append(e.div({ class: "paper" }, copyOf(areaSeen(), PAPER)));
  followCamera();
}

function clearPaper() {
  stage.querySelector(".paper")?.remove();
}

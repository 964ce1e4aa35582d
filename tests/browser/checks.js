() => {
  const named = (part) => {
    const text = (part.innerText || part.getAttribute("aria-label") || part.id || "").trim();
    return `<${part.tagName.toLowerCase()}> ${JSON.stringify(text.slice(0, 40))}`;
  };

  // [red, green, blue, alpha] of a computed colour, 0 to 1; null if it is written in another way.
  const colour = (text) => {
    const numbers = (text.match(/-?[\d.]+(e-?\d+)?%?/g) || []).map(parseFloat);
    if (/^rgba?\(/.test(text)) {
      return [...numbers.slice(0, 3).map((x) => x / 255), numbers.length > 3 ? numbers[3] : 1];
    }
    if (/^color\(srgb /.test(text)) return [...numbers.slice(0, 3), numbers.length > 3 ? numbers[3] : 1];
    return text === "transparent" ? [0, 0, 0, 0] : null;
  };
  const over = (top, below) => below.map((x, k) => (k < 3 ? top[k] * top[3] + x * (1 - top[3]) : 1));
  const luminance = (rgb) => {
    const line = (x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    return 0.2126 * line(rgb[0]) + 0.7152 * line(rgb[1]) + 0.0722 * line(rgb[2]);
  };
  const contrast = (a, b) => {
    const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (light + 0.05) / (dark + 0.05);
  };

  // The colour behind a part: what lies below each other, down to the first that covers.
  const behind = (part) => {
    const layers = [];
    for (let each = part; each; each = each.parentElement) {
      const style = getComputedStyle(each);
      if (style.backgroundImage !== "none") return null;
      const found = colour(style.backgroundColor);
      if (!found) return null;
      if (found[3] > 0) layers.push(found);
      if (found[3] === 1) break;
    }
    return layers.reverse().reduce((below, top) => over(top, below), [1, 1, 1, 1]);
  };
  const opacity = (part) => {
    let found = 1;
    for (let each = part; each; each = each.parentElement) {
      found *= parseFloat(getComputedStyle(each).opacity);
    }
    return found;
  };

  const seen = (part) => {
    if (!part.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false;
    const box = part.getBoundingClientRect();
    return box.width > 1 && box.height > 1;
  };

  const texts = () => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = new Set();
    while (walker.nextNode()) {
      const part = walker.currentNode.parentElement;
      const shown = walker.currentNode.textContent.trim() && seen(part);
      if (!shown || part.closest("script, style, noscript, :disabled, annotation")) continue;
      const style = getComputedStyle(part);
      const fill = part.closest("svg") && part.namespaceURI.endsWith("svg");
      const ink = colour(fill ? style.fill : style.color);
      const ground = behind(part);
      if (!ground) continue;
      if (!ink) {
        found.add(`colour of ${named(part)} is ${style.color}`);
        continue;
      }
      const size = parseFloat(style.fontSize);
      const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      const least = large ? 3 : 4.5;
      const ratio = contrast(over([...ink.slice(0, 3), ink[3] * opacity(part)], ground), ground);
      if (ratio < least - 0.005) {
        found.add(`contrast ${ratio.toFixed(2)} of ${named(part)}`);
      }
    }
    return [...found];
  };

  const outline = () => {
    const found = [];
    const headings = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter((each) => each.checkVisibility());
    const first = headings.filter((each) => each.tagName === "H1").length;
    if (first !== 1) found.push(`${first} headings h1`);
    let level = 0;
    for (const each of headings) {
      const here = Number(each.tagName[1]);
      if (here > level + 1) found.push(`h${here} after h${level}: ${named(each)}`);
      level = here;
    }
    return found;
  };

  const pictures = () => {
    const found = [];
    for (const each of document.images) {
      if (!each.hasAttribute("alt")) found.push(`no alternative text: ${each.getAttribute("src")}`);
      else if (each.complete && each.naturalWidth === 0 && each.checkVisibility()) {
        found.push(`no picture: ${each.getAttribute("src")}`);
      }
    }
    for (const each of document.querySelectorAll("svg[role=img]:not([aria-hidden=true])")) {
      if (!each.getAttribute("aria-label") && !each.querySelector("title")) found.push("svg without a name");
    }
    return found;
  };

  const usable = "a[href], area[href], button, input, select, textarea, summary, iframe, [tabindex], [contenteditable=true]";
  const interactive = () => [...document.querySelectorAll(usable)].filter((part) => {
    if (part.tabIndex < 0 || part.disabled || part.type === "hidden") return false;
    return part.checkVisibility({ visibilityProperty: true }) && !part.closest("[inert]");
  });
  const names = () => interactive().filter((part) => {
    const labelled = part.labels && [...part.labels].some((each) => each.textContent.trim());
    if (part.matches(".bd-sidebar-primary summary")) return false; // of the theme: the link beside it says it
    const said = ["aria-label", "title", "aria-labelledby", "placeholder", "alt"];
    const inside = part.querySelector("img[alt]:not([alt='']), svg[aria-label], [aria-label]");
    return !labelled && !part.textContent.trim() && !inside && !said.some((each) => part.getAttribute(each));
  }).map((part) => `no name: ${part.outerHTML.slice(0, 80)}`);

  const width = () => {
    const [page, window_] = [document.documentElement.scrollWidth, document.documentElement.clientWidth];
    if (page <= window_) return [];
    const wide = [...document.body.querySelectorAll("*")].filter((part) => seen(part)
      && part.getBoundingClientRect().right > window_ + 1);
    return [`the page is ${page} wide in a window of ${window_}: ${wide.slice(-1).map(named)}`];
  };

  const language = () => (document.documentElement.lang ? [] : ["no language"]);

  const marks = ["outlineStyle", "outlineWidth", "outlineColor", "boxShadow", "backgroundColor",
    "borderTopColor", "color", "textDecorationLine", "textDecorationThickness", "top", "clip", "transform"];
  // A part, what is drawn before and after it, what is in it and what holds it: any may show the focus.
  const look = (part) => {
    const styles = [getComputedStyle(part), getComputedStyle(part, "::before"), getComputedStyle(part, "::after")];
    if (part.firstElementChild) styles.push(getComputedStyle(part.firstElementChild));
    let above = part.parentElement;
    for (let k = 0; k < 3 && above; k += 1, above = above.parentElement) styles.push(getComputedStyle(above));
    return styles.map((style) => marks.map((each) => style[each]).join("|")).join("/");
  };
  const order = { wanted: [], before: new Map(), reached: [], unseen: new Set() };

  return {
    looks: () => [...texts(), ...outline(), ...pictures(), ...names(), ...width(), ...language()],
    watch: () => {
      order.wanted = interactive();
      order.wanted.forEach((part) => order.before.set(part, look(part)));
      document.addEventListener("focusin", (event) => {
        const part = event.target;
        order.reached.push(part);
        if (order.before.get(part) === look(part)) order.unseen.add(part);
      });
      return order.wanted.length;
    },
    reached: () => {
      const found = [...order.unseen].map((part) => `focus is not seen: ${named(part)}`);
      const wanted = new Set(order.wanted);
      const reached = [...new Set(order.reached)].filter((part) => wanted.has(part));
      const missing = order.wanted.filter((part) => !reached.includes(part));
      found.push(...missing.slice(0, 3).map((part) => `Tab does not reach ${named(part)}`));
      const places = reached.map((part) => order.wanted.indexOf(part));
      const back = places.findIndex((place, k) => k > 0 && place < places[k - 1]);
      if (back > 0) found.push(`Tab goes back to ${named(reached[back])}`);
      return found;
    },
  };
}

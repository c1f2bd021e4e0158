import type { Page } from "playwright-core";

/** What is wrong with the layout of the visible page, in words; empty if it holds. */
export function layoutFaults(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const SLACK_PIXELS = 1; // Of rounded borders.
    const faults: string[] = [];

    const nameOf = (element: Element): string => {
      const text =
        element.getAttribute("aria-label") ?? element.textContent?.trim().replace(/\s+/g, " ").slice(0, 30);
      const classes = element.getAttribute("class") ?? "";
      return `${element.localName}${classes === "" ? "" : `.${classes.trim().split(/\s+/).join(".")}`} "${text}"`;
    };

    interface Box {
      readonly left: number;
      readonly top: number;
      readonly right: number;
      readonly bottom: number;
    }

    /** The part of an element that no scrolling ancestor hides; null if that is nothing. */
    const shownPart = (element: Element): Box | null => {
      let { left, top, right, bottom } = element.getBoundingClientRect();
      const { position } = getComputedStyle(element);
      const start = position === "fixed" ? null : element.parentElement;
      for (let ancestor = start; ancestor !== null; ancestor = ancestor.parentElement) {
        const style = getComputedStyle(ancestor);
        if (style.display !== "contents" && style.overflow !== "visible" && ancestor !== document.body) {
          const box = ancestor.getBoundingClientRect();
          [left, top] = [Math.max(left, box.left), Math.max(top, box.top)];
          [right, bottom] = [Math.min(right, box.right), Math.min(bottom, box.bottom)];
        }
        if (style.position === "fixed") break;
      }
      return right - left < 2 || bottom - top < 2 ? null : { left, top, right, bottom };
    };

    /** Whether it stays in place while the rest scrolls, and so may cover a control for now. */
    const isSticky = (element: Element): boolean => {
      for (let each: Element | null = element; each !== null; each = each.parentElement)
        if (getComputedStyle(each).position === "sticky") return true;
      return false;
    };

    const isVisible = (element: Element) =>
      element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
      element.closest(".unseen, svg, [aria-hidden=true]") === null;

    const pageWidth = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > pageWidth) faults.push("the page scrolls sideways");

    // Nothing sticks out of the element around it, or out of the window.
    for (const element of document.body.querySelectorAll("*")) {
      const { parentElement: parent } = element;
      if (parent === null || !isVisible(element)) continue;
      const { position, display, marginLeft, marginRight } = getComputedStyle(element);
      if (display === "contents" || display === "inline" || position === "absolute" || position === "fixed")
        continue;
      const around = getComputedStyle(parent);
      if (around.display === "contents" || around.display === "inline" || parent === document.body) continue;
      const box = element.getBoundingClientRect();
      const outer = parent.getBoundingClientRect();
      const scrolls = around.overflowX === "auto" || around.overflowX === "scroll";
      // What is pulled out by a margin is meant to be there.
      const left = box.left - Math.min(0, Number.parseFloat(marginLeft));
      const right = box.right + Math.min(0, Number.parseFloat(marginRight));
      const isOut = right > outer.right + SLACK_PIXELS || left < outer.left - SLACK_PIXELS;
      if (box.width > 0 && isOut && !scrolls) faults.push(`${nameOf(element)} is out of ${nameOf(parent)}`);
    }

    // Every control can be pressed where it is, so nothing lies over it. A dialog or an open menu lies over all others.
    // Markers are left out: they move with the map, below its buttons too.
    const layer = document.querySelector("dialog:modal, :popover-open") ?? document;
    for (const control of layer.querySelectorAll(
      "button:not(.maplibregl-marker), select, input:not([type=radio]), textarea, summary",
    )) {
      const part = isVisible(control) ? shownPart(control) : null;
      if (part === null) continue;
      const { left, top, right, bottom } = part;
      if (right > pageWidth + SLACK_PIXELS || left < -SLACK_PIXELS)
        faults.push(`${nameOf(control)} is out of the window`);
      const xs = [0.3, 0.7].map((share) => left + share * (right - left));
      const ys = [0.3, 0.7].map((share) => top + share * (bottom - top));
      const points = xs.flatMap((x) => ys.map((y) => [x, y] as const));
      for (const [x, y] of points) {
        if (x >= innerWidth || y >= innerHeight || y < 0) continue;
        const hit = document.elementFromPoint(x, y);
        if (hit === null || control.contains(hit) || hit.contains(control)) continue;
        if (hit.closest("label")?.contains(control) || isSticky(hit)) continue;
        faults.push(`${nameOf(control)} lies under ${nameOf(hit)}`);
        break;
      }
    }
    return faults;
  });
}

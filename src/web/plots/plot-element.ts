import uPlot from "uplot";

/** An element that draws one plot in its size, with the page's colors. */
export abstract class PlotElement extends HTMLElement {
  readonly #observer = new ResizeObserver(() => this.#resize());
  /** Null while the element is not on the page, or has no size or nothing to draw. */
  protected plot: uPlot | null = null;

  /** What to draw; null if there is nothing yet. */
  protected abstract content(): {
    options: Omit<uPlot.Options, "width" | "height">;
    data: uPlot.AlignedData;
  } | null;

  /** Called with each new plot. */
  protected abstract onCreated(plot: uPlot): void;

  connectedCallback(): void {
    this.#observer.observe(this);
    this.#create();
  }

  disconnectedCallback(): void {
    this.#observer.disconnect();
    this.plot?.destroy();
    this.plot = null;
  }

  /** Draws other content. */
  protected redraw(): void {
    if (this.isConnected) this.#create();
  }

  protected color(name: string): string {
    return getComputedStyle(this).getPropertyValue(name);
  }

  #create(): void {
    this.plot?.destroy();
    this.plot = null;
    const content = this.clientWidth === 0 ? null : this.content(); // `#resize` calls again once it has a size.
    if (content === null) return;
    const size = { width: this.clientWidth, height: this.clientHeight };
    this.plot = new uPlot({ ...size, ...content.options }, content.data, this);
    this.onCreated(this.plot);
  }

  #resize(): void {
    const size = { width: this.clientWidth, height: this.clientHeight };
    if (this.plot === null) this.#create();
    else if (size.width > 0) this.plot.setSize(size);
  }
}

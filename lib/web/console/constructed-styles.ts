/** Stands for a style element. Its text is a constructed style sheet, which pages may have that may have no inline styles. */
class ConstructedStyle extends HTMLElement {
  readonly #sheet = new CSSStyleSheet()

  override set textContent(text: string) {
    this.#sheet.replaceSync(text)
  }

  connectedCallback(): void {
    document.adoptedStyleSheets.push(this.#sheet)
  }

  disconnectedCallback(): void {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter(sheet => sheet !== this.#sheet)
  }
}

customElements.define('constructed-style', ConstructedStyle)

const createElement = (name: string, options?: ElementCreationOptions): HTMLElement =>
  Document.prototype.createElement.call(document, name === 'style' ? 'constructed-style' : name, options)

/** Calls a function. Style elements that it creates are constructed style sheets: the terminal library makes elements for its colours. */
export const withConstructedStyles = (call: () => void): void => {
  // A member of the document hides that of its class.
  document.createElement = createElement
  try {
    call()
  } finally {
    Reflect.deleteProperty(document, 'createElement')
  }
}

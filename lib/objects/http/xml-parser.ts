import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import type { XmlElement } from './xml.ts'

interface MutableElement extends XmlElement {
  text: string
  readonly attributes: Map<string, string>
  readonly children: MutableElement[]
}

const maxDepth = 100
/**
 * Tags, attributes, texts and comments of a document. No list that fits into a reply has as many, but a reply of nothing but
 * tiny elements would hold up the service.
 */
const maxTokens = 1_000_000

const namedEntities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Decodes a reference such as `&#x1;`; gives one that XML does not define as it is. */
const decodeReference = (reference: string): string => {
  const name = reference.slice(1, -1)
  if (!name.startsWith('#')) return namedEntities[name] ?? reference
  const point = name.startsWith('#x') ? parseInt(name.slice(2), 16) : Number(name.slice(1))
  return point <= 0x10ffff ? String.fromCodePoint(point) : reference
}

/**
 * Decodes the references in a text. The library's own decoder replaces some control characters, so the key of one object
 * would become that of another. Entities that the document itself declares stay undecoded.
 */
const decodeReferences = (text: string): string =>
  text.includes('&') ? text.replace(/&(?:#x[\da-fA-F]{1,6}|#\d{1,7}|amp|lt|gt|quot|apos);/g, decodeReference) : text

const removePrefix = (name: string): string => name.slice(name.indexOf(':') + 1)

/**
 * Parses a document; gives an element whose only child is the root. Comments and declarations are left out. Text that is
 * no XML has no root. Throws for a document that is truncated, wrongly nested, or nested too deeply, for an element that has an
 * attribute twice, and for a document of too many tokens. The tokenizer of the library is used without its parser, which accepts wrong nesting.
 */
export const parseDocument = (document: string): XmlElement => {
  const createElement = (name: string): MutableElement => ({ name, text: '', attributes: new Map(), children: [] })
  const top = createElement('')
  const open = [top]
  const openNames = ['']
  let current = top
  let attribute = ''
  let tokens = 0
  const countToken = (): void => {
    if (++tokens > maxTokens) throw new Error(`The document has more than ${maxTokens} tokens.`)
  }
  const closeElement = (): void => {
    open.pop()
    openNames.pop()
    current = open.at(-1) ?? top
  }
  const ignore = (): void => undefined
  const callbacks: TokenizerCallbacks = {
    onopentagname(start, end) {
      countToken()
      if (open.length > maxDepth) throw new Error(`The document is nested deeper than ${maxDepth} elements.`)
      const name = document.slice(start, end)
      const element = createElement(removePrefix(name))
      current.children.push(element)
      open.push(element)
      openNames.push(name)
      current = element
    },
    onclosetag(start, end) {
      const name = document.slice(start, end)
      if (open.length === 1 || openNames.at(-1) !== name)
        throw new Error('An element ends that was not the last to begin.')
      closeElement()
    },
    onselfclosingtag: closeElement,
    ontext(start, end) {
      countToken()
      current.text += decodeReferences(document.slice(start, end))
    },
    oncdata(start, end, endOffset) {
      countToken()
      current.text += document.slice(start, end - endOffset)
    },
    onend() {
      if (open.length > 1) throw new Error('The document ends within an element.')
      if (top.children.length === 0 && /^\s*</.test(document))
        throw new Error('The document ends before its root element.')
    },
    onattribname(start, end) {
      countToken()
      attribute = removePrefix(document.slice(start, end))
      if (current.attributes.has(attribute)) throw new Error('An element has an attribute twice.')
      current.attributes.set(attribute, '')
    },
    onattribdata(start, end) {
      const value = decodeReferences(document.slice(start, end))
      current.attributes.set(attribute, `${current.attributes.get(attribute)}${value}`)
    },
    oncomment: countToken,
    ondeclaration: countToken,
    onprocessinginstruction: countToken,
    onattribend: ignore,
    onattribentity: ignore,
    onopentagend: ignore,
    ontextentity: ignore,
  }
  const tokenizer = new Tokenizer({ xmlMode: true, decodeEntities: false }, callbacks)
  tokenizer.write(document)
  tokenizer.end()
  return top
}

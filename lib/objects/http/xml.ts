import { ServiceError } from '#lib/errors.ts'

/** An element of an XML document. */
export interface XmlElement {
  /** Without the prefix. */
  readonly name: string
  /** The text between the tags of the element, without that of its children. */
  readonly text: string
  /** By name, without the prefix. */
  readonly attributes: ReadonlyMap<string, string>
  readonly children: readonly XmlElement[]
}

/** The library is loaded by the first XML: local storage and registries have none. */
const loadParser = async () => (await import('./xml-parser.ts')).parseDocument

/**
 * Parses a document of the storage at `host`; gives an element whose only child is the root. Throws `upstream` when the
 * document cannot be parsed.
 */
export const parseXml = async (host: string, text: string): Promise<XmlElement> => {
  const parseDocument = await loadParser()
  try {
    return parseDocument(text)
  } catch (error) {
    throw new ServiceError('upstream', `The storage ${host} sent XML that cannot be read.`, { cause: error })
  }
}

/** Finds the elements of a name below an element, at the smallest depth at which there is one. */
export const findElements = (element: XmlElement, name: string): readonly XmlElement[] => {
  for (let level = element.children; level.length > 0; level = level.flatMap(({ children }) => children)) {
    const found = level.filter(child => child.name === name)
    if (found.length > 0) return found
  }
  return []
}

/** Gives the text of the first element of a name, see `findElements`; undefined without one. */
export const findText = (element: XmlElement, name: string): string | undefined => findElements(element, name)[0]?.text

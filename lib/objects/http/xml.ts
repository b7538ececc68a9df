import { ServiceError } from '#lib/errors.ts'

/** An element of an XML document: its text, or its children by their names. */
export type XmlElement = string | { readonly [name: string]: readonly XmlElement[] | string }

/** The library is loaded by the first XML: local storage and registries have none. */
const loadParser = async () => (await import('./xml-parser.ts')).xmlParser

/**
 * Parses a document of the storage at `host`; gives an element whose only child is the root. Names are without their prefix.
 * Throws `upstream` when the text cannot be parsed.
 */
export const parseXml = async (host: string, text: string): Promise<XmlElement> => {
  const parser = await loadParser()
  try {
    return parser.parse(text) as XmlElement
  } catch (error) {
    throw new ServiceError('upstream', `The storage ${host} sent XML that cannot be read.`, { cause: error })
  }
}

const getChildren = (element: XmlElement): readonly XmlElement[] =>
  typeof element === 'string' ? [] : Object.values(element).flatMap(found => (typeof found === 'string' ? [] : found))

const getChildrenNamed = (element: XmlElement, name: string): readonly XmlElement[] => {
  const found = typeof element === 'string' ? undefined : element[name]
  return typeof found === 'object' ? found : []
}

/** Finds the elements of a name below an element, at the smallest depth at which there is one. */
export const findElements = (element: XmlElement, name: string): readonly XmlElement[] => {
  for (let level: readonly XmlElement[] = [element]; level.length > 0; level = level.flatMap(getChildren)) {
    const found = level.flatMap(parent => getChildrenNamed(parent, name))
    if (found.length > 0) return found
  }
  return []
}

/** Gives the text of the first element of a name, see `findElements`; undefined without one. */
export const findText = (element: XmlElement, name: string): string | undefined => {
  const [first] = findElements(element, name)
  if (first === undefined || typeof first === 'string') return first
  const text = first['#text']
  return typeof text === 'string' ? text : ''
}

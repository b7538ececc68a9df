import { parseModifiedAt } from '../http/response.ts'
import { findElements, findText, type XmlElement } from '../http/xml.ts'

/** A file or folder in the reply of a WebDAV server: the requested one, or a member of the requested folder. */
export interface Member {
  /** Empty for the requested file or folder itself. */
  readonly name: string
  readonly isFolder: boolean
  /** Bytes. */
  readonly size: number
  readonly modifiedAt?: string
}

/** The decoded path of an address; undefined for an invalid one. */
const parsePath = (address: string, base: URL): string | undefined => {
  try {
    return decodeURIComponent(new URL(address, base).pathname).replace(/\/$/, '')
  } catch {
    return undefined
  }
}

/** Gives `requested` and its direct members, of the responses in a multistatus document (RFC 4918 14.16). */
export const parseMultistatus = (xml: XmlElement, requested: URL): readonly Member[] => {
  const base = parsePath(requested.href, requested) ?? ''
  return findElements(xml, 'response').flatMap(response => {
    const path = parsePath(findText(response, 'href')?.trim() ?? '', requested)
    const rest = path?.startsWith(base) ? path.slice(base.length) : undefined
    if (rest === undefined || !/^(\/[^/]+)?$/.test(rest)) return []
    return [
      {
        name: rest.slice(1),
        isFolder: findElements(response, 'collection').length > 0,
        size: Number(findText(response, 'getcontentlength') ?? 0),
        ...parseModifiedAt(findText(response, 'getlastmodified')),
      },
    ]
  })
}

import { XMLParser } from 'fast-xml-parser'

const namedEntities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const decodeEntities = (text: string): string =>
  text.replace(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name: string | undefined) => {
    if (name !== undefined) return namedEntities[name] ?? whole
    const point = hex === undefined ? Number(decimal) : parseInt(hex as string, 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })

/**
 * Elements become objects of their children, each an array by its name without its prefix, or their text when they have no
 * children. Attributes are left out.
 */
export const xmlParser = new XMLParser({
  ignoreDeclaration: true,
  ignorePiTags: true,
  removeNSPrefix: true,
  parseTagValue: false,
  trimValues: false,
  isArray: () => true,
  // A path of each element as text would cost more than the rest.
  jPath: false,
  // The library's own decoder leaves control characters out, so the key of one object would become that of another. Entities
  // that the document itself declares stay undecoded.
  entityDecoder: {
    decode: decodeEntities,
    reset: () => undefined,
    setXmlVersion: () => undefined,
    addInputEntities: () => undefined,
    setExternalEntities: () => undefined,
  },
})

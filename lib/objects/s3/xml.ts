const namedEntities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const decodeEntities = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name: string | undefined) => {
    if (name !== undefined) return namedEntities[name] ?? whole
    const point = hex === undefined ? Number(decimal) : parseInt(hex as string, 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })

/** Finds the next element of a name. Each character is read once: after a start tag without an end tag there is no other. */
const findElement = (
  xml: string,
  name: string,
  from: number,
): { readonly start: number; readonly end: number } | undefined => {
  const start = xml.indexOf(`<${name}>`, from)
  const end = start < 0 ? -1 : xml.indexOf(`</${name}>`, start)
  return end < 0 ? undefined : { start: start + name.length + 2, end }
}

/** The content of each element of a name. Replies of S3 do not nest elements of one name. */
export const findElements = (xml: string, name: string): readonly string[] => {
  const found: string[] = []
  for (let one = findElement(xml, name, 0); one; one = findElement(xml, name, one.end))
    found.push(xml.slice(one.start, one.end))
  return found
}

/** The decoded text of the first element of a name; undefined without one. */
export const findText = (xml: string, name: string): string | undefined => {
  const first = findElement(xml, name, 0)
  return first && decodeEntities(xml.slice(first.start, first.end))
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const unescaped = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name: string | undefined) => {
    if (name !== undefined) return named[name] ?? whole
    const point = hex === undefined ? Number(decimal) : parseInt(hex as string, 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })

/** Where an element of this name is, from a place on. Looks at each sign once: of a start without an end there is no other. */
const elementAt = (
  xml: string,
  name: string,
  from: number,
): { readonly start: number; readonly end: number } | undefined => {
  const start = xml.indexOf(`<${name}>`, from)
  const end = start < 0 ? -1 : xml.indexOf(`</${name}>`, start)
  return end < 0 ? undefined : { start: start + name.length + 2, end }
}

/** What stands between the tags of each element of this name. The replies of S3 nest none in one of the same name. */
export const elements = (xml: string, name: string): readonly string[] => {
  const found: string[] = []
  for (let one = elementAt(xml, name, 0); one; one = elementAt(xml, name, one.end))
    found.push(xml.slice(one.start, one.end))
  return found
}

/** The text of the first element of this name. */
export const textIn = (xml: string, name: string): string | undefined => {
  const first = elementAt(xml, name, 0)
  return first && unescaped(xml.slice(first.start, first.end))
}

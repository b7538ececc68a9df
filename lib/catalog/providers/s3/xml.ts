const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const unescaped = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name: string | undefined) => {
    if (name !== undefined) return named[name] ?? whole
    const point = hex === undefined ? Number(decimal) : parseInt(hex as string, 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })

/** What stands between the tags of each element of this name. The replies of S3 nest none in one of the same name. */
export const elements = (xml: string, name: string): readonly string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^]*?)</${name}>`, 'g'))].map(found => found[1]!)

/** The text of the first element of this name. */
export const textIn = (xml: string, name: string): string | undefined => {
  const [first] = elements(xml, name)
  return first === undefined ? undefined : unescaped(first)
}

/**
 * The tags of an If-Match header (RFC 9110, 13.1.1) with their quotes. Undefined without the header and for `*`, which
 * matches any version. Weak tags never match, so they are left out.
 */
export const parseIfMatch = (header: string | null): readonly string[] | undefined => {
  if (header === null || header.trim() === '*') return undefined
  return header
    .split(',')
    .map(tag => tag.trim())
    .filter(tag => !tag.startsWith('W/'))
}

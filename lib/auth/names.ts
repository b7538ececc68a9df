/** A key, role or claim as it is kept and compared: capital letters, and `_` for what would need quoting somewhere. */
export const normalName = (text: string): string =>
  text
    .normalize('NFC')
    .trim()
    .replace(/[\s,:;()[\]{}'"/\\|<>=+*&^%$#@!`~?]/g, '_')
    .toUpperCase()

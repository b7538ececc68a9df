/** The form in which names of keys, roles and claims are stored and compared: upper case, with `_` for special characters. */
export const normalizeName = (text: string): string =>
  text
    .normalize('NFC')
    .trim()
    .replace(/[\s,:;()[\]{}'"/\\|<>=+*&^%$#@!`~?]/g, '_')
    .toUpperCase()

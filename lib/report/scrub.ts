/** Stands where a secret was. */
export const removed = '[removed]'

/** Names of members, parameters and variables that hold secrets. */
const secretName = String.raw`[\w-]*(?:password|passwd|passphrase|secret|token|credential|authorization|cookie|ticket|signature|api[-_]?key|access[-_]?key|private[-_]?key|control_key|\bsig\b)[\w-]*`

const rules: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/-----BEGIN [^-]+-----[^]*?(?:-----END [^-]+-----|$)/g, removed],
  // user:password@ of a URL or a connection, and everything before the last @ of it.
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/"'@]*@/gi, `$1${removed}@`],
  [/\b((?:host|provider)=)[^\s"';]+@(?=https?:)/gi, `$1${removed}@`],
  [/\b(bearer|basic|digest|negotiate)\s+[^\s"',]+/gi, `$1 ${removed}`],
  // The value behind such a name: in quotes, or up to the next separator. JSON inside of JSON has its quotes escaped.
  [
    new RegExp(String.raw`(\\*["']?${secretName}\\*["']?\s*[:=]\s*)(\\*")(?:(?!(?<!\\)\2).)*(?<!\\)\2`, 'gi'),
    `$1$2${removed}$2`,
  ],
  // Numbers and the like behind a name in quotes are members of JSON, which are no secrets.
  [new RegExp(String.raw`(${secretName}\s*[:=]\s*)(?!\\*"|\[removed\])[^\s"'&,;}]+`, 'gi'), `$1${removed}`],
  // What the service prints once: a generated password, and links with a secret in their fragment.
  [/(password of \S+(?: is|:) )\S+/g, `$1${removed}`],
  [/(\bhttps?:\/\/[^\s#"']*#)[^\s"']+/g, `$1${removed}`],
  // Tokens and keys without a name: three parts with dots, or a long run that is no id, no digest and no path.
  [/\b[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g, removed],
]

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Whether a run of letters and digits looks random: it has capital and small letters and digits, as no word or id has. */
const looksRandom = (run: string): boolean =>
  !uuid.test(run) && /[A-Z]/.test(run) && /[a-z]/.test(run) && /\d/.test(run)

/**
 * Removes secrets from a text for somebody else: the `known` ones wherever they stand, what stands behind a name such as `password`,
 * keys, credentials in URLs and headers, and long runs that look random. It may remove more than secrets.
 */
export const scrub = (text: string, known: readonly string[] = []): string => {
  // The longest first, because one secret may contain another one.
  let scrubbed = text
  for (const secret of known.filter(one => one !== '').toSorted((one, other) => other.length - one.length))
    for (const form of new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]))
      scrubbed = scrubbed.replaceAll(form, removed)
  for (const [pattern, replacement] of rules) scrubbed = scrubbed.replace(pattern, replacement)
  return scrubbed.replace(/[A-Za-z0-9+_=-]{20,}/g, run => (looksRandom(run) ? removed : run))
}

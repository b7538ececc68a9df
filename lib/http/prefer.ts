/** The preferences of a request (RFC 7240) that this service supports. */
export interface Preferences {
  /** The client does not want to wait for the end. */
  readonly respondAsync: boolean
  /** Seconds that the client would wait; undefined without the preference. */
  readonly wait: number | undefined
}

/** The preferences of a request without the header. */
export const noPreferences: Preferences = { respondAsync: false, wait: undefined }

/** The most seconds that a request waits: proxies and clients give up on longer ones. */
export const maxWait = 300

/** Splits a text at separators outside of quotes. */
const split = (text: string, separator: ',' | ';'): readonly string[] =>
  text.match(separator === ',' ? /(?:"[^"]*"?|[^,"])+/g : /(?:"[^"]*"?|[^;"])+/g) ?? []

/** A preference's name in lower case, and its value without quotes. Parameters are ignored. */
const readPreference = (text: string): readonly [string, string] => {
  const [preference = ''] = split(text, ';')
  const [name = '', ...value] = preference.split('=')
  return [name.trim().toLowerCase(), value.join('=').trim().replaceAll('"', '')]
}

/** Parses the `Prefer` header. The first of two equal preferences counts; a malformed one is ignored. */
export const readPreferences = (header: string | null): Preferences => {
  if (header === null) return noPreferences
  // In a Map the last entry wins, so the list is reversed.
  const preferences = new Map(split(header, ',').map(readPreference).toReversed())
  const wait = preferences.get('wait') ?? ''
  return {
    respondAsync: preferences.has('respond-async'),
    wait: /^\d+$/.test(wait) ? Math.min(Number(wait), maxWait) : undefined,
  }
}

import { removed, scrub } from './scrub.ts'

/** Settings whose values are secrets, or may contain some: of these a report says only that they are set. */
const secretSettings: ReadonlySet<string> = new Set([
  'root_password',
  'storage_password',
  'control_key',
  'trusted_issuers',
])

/** Returns the values of settings that are secrets, which nothing in the report may contain. */
export const listSecrets = (settings: Readonly<Record<string, unknown>>): readonly string[] =>
  [...secretSettings].flatMap(key => (typeof settings[key] === 'string' ? [settings[key]] : []))

/** Formats the settings that are set as JSON without secrets. */
export const formatSettings = (settings: Readonly<Record<string, unknown>>): string => {
  const shown = Object.fromEntries(
    Object.entries(settings)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key, secretSettings.has(key) ? removed : value]),
  )
  return scrub(JSON.stringify(shown, undefined, 2), listSecrets(settings))
}

import { loadApiDescription } from '#functions/load-api-description.ts'
import type { Route } from '#lib/http/endpoint.ts'

const pick = <V>(record: Readonly<Record<string, V>>, isWanted: (key: string) => boolean): Record<string, V> =>
  Object.fromEntries(Object.entries(record).filter(([key]) => isWanted(key)))

/** Returns the built file with the texts and examples of the OpenAPI document of these routes. Other routes leave nothing in it. */
export const buildApiDescription = async (routes: readonly Route[]): Promise<string> => {
  const { areas, examples, ...texts } = await loadApiDescription()
  const ids = new Set(routes.map(({ id }) => id))
  const ownAreas = new Set(routes.map(({ id }) => id.split('/')[0]!))
  return JSON.stringify({
    ...texts,
    areas: pick(areas, area => ownAreas.has(area)),
    examples: pick(examples, id => ids.has(id)),
  })
}

import type { Services } from '#lib/services.ts'

/** The services that the edge can provide. A route that uses no others is served there too. */
export const edgeProvides = ['tokens', 'openapi'] as const satisfies readonly (keyof Services)[]

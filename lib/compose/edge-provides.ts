import type { Services } from './services.ts'

/**
 * The services that the edge can provide. The edge serves the routes that use no others. It cannot verify tokens, because only the
 * host knows which tokens were signed out and whose password or key has changed.
 */
export const edgeProvides = ['openapi', 'readiness'] as const satisfies readonly (keyof Services)[]

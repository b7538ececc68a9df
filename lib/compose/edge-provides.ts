import type { Services } from './services.ts'

/**
 * The services that the edge can provide. A route that uses no others is served there too. Tokens are not among them: only
 * the host knows which were signed out, and whose password or key has changed.
 */
export const edgeProvides = ['openapi', 'readiness'] as const satisfies readonly (keyof Services)[]

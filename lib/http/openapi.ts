import { PreparedBody } from '#lib/calls/prepared-body.ts'
import type { Route } from './endpoint.ts'
import type { Glossary } from './openapi/glossary.ts'
import type { Examples } from './openapi/operation.ts'

/** Gives the OpenAPI 3.1 document of the served routes. */
export interface OpenApiService {
  document(): Promise<PreparedBody>
}

/** Texts of the document that are not in the contracts. */
export interface ApiDescription {
  readonly description: string
  /** Descriptions of the areas. An area is the first part of a route's id. */
  readonly areas: Readonly<Record<string, string>>
  readonly glossary: Glossary
  readonly examples: Examples
}

const computeDigest = async (text: string): Promise<string> => {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  return Array.from(bytes.subarray(0, 12), byte => byte.toString(16).padStart(2, '0')).join('')
}

/** Builds the document on the first request, because few clients ask for it, and caches the text. A failure is not cached. */
export const createOpenApi = (
  routes: readonly Route[],
  version: string,
  loadDescription: () => Promise<ApiDescription>,
): OpenApiService => {
  const build = async (): Promise<PreparedBody> => {
    const { describeRoutes } = await import('./openapi/document.ts')
    const text = JSON.stringify(describeRoutes(routes, version, await loadDescription()))
    return new PreparedBody(text, `"${await computeDigest(text)}"`)
  }
  let built: Promise<PreparedBody> | undefined
  const rebuildAfterFailure = (error: unknown): never => {
    built = undefined
    throw error
  }
  return { document: () => (built ??= build().catch(rebuildAfterFailure)) }
}

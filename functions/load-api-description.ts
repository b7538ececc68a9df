import type { ApiDescription } from '#lib/http/openapi.ts'

/** Loads the texts of the OpenAPI document and the examples that the tests recorded. */
export const loadApiDescription = async (): Promise<ApiDescription> => {
  const [{ apiDescription }, { default: examples }] = await Promise.all([
    import('./api-description.ts'),
    import('./examples.gen.json', { with: { type: 'json' } }),
  ])
  return { ...apiDescription, examples }
}

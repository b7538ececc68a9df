import { messageOf, ServiceError } from '#lib/errors.ts'
import type { Route } from '#lib/http/endpoint.ts'
import { type AnswerPage, createPages, type PageFiles } from '#lib/http/pages.ts'
import type { AssetName } from '#lib/platform/program-parts.ts'

/** The built file with the pages of the web console. It is an asset of the program. */
export const webConsoleFile = 'web-console.json' satisfies AssetName

/**
 * Creates what serves the pages. A service that does not serve the sign-in of browsers has no use for the web console, and one that
 * does not serve its description none for the API reference.
 * @param readText reads a file that was built with the program
 */
export const createConsolePages = (
  routes: readonly Route[],
  readText: (name: AssetName) => Promise<string>,
  headers: Readonly<Record<string, string>>,
): AnswerPage | undefined => {
  const hasRoute = (wanted: string): boolean => routes.some(({ id }) => id === wanted)
  const [hasConsole, hasReference] = [hasRoute('auth/open-session'), hasRoute('openapi/show')]
  if (!hasConsole && !hasReference) return undefined
  const isServed = (path: string): boolean => (path === '/' ? hasConsole : path !== '/docs/api' || hasReference)
  const loadFiles = async (): Promise<PageFiles> => {
    try {
      // The build has written this text from a value of this type.
      return JSON.parse(await readText(webConsoleFile)) as PageFiles
    } catch (error) {
      throw new ServiceError(
        'unavailable',
        `The web console cannot be read; install vmhost again: ${messageOf(error)}`,
        {
          cause: error,
        },
      )
    }
  }
  return createPages(loadFiles, isServed, headers)
}

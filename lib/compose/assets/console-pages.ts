import { messageOf, ServiceError } from '#lib/errors.ts'
import type { Route } from '#lib/http/endpoint.ts'
import { type AnswerPage, createPages, type PageFiles } from '#lib/http/pages.ts'
import type { AssetName } from '#lib/platform/program-parts.ts'

/** The built file with the pages of the web console. It is an asset of the program. */
export const webConsoleFile = 'web-console.json' satisfies AssetName

/**
 * Creates what serves the web console. A service that does not serve the sign-in of browsers has no use for it, and none is made.
 * @param readText reads a file that was built with the program
 */
export const createConsolePages = (
  routes: readonly Route[],
  readText: (name: AssetName) => Promise<string>,
  headers: Readonly<Record<string, string>>,
): AnswerPage | undefined => {
  if (!routes.some(({ id }) => id === 'auth/open-session')) return undefined
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
  return createPages(loadFiles, headers)
}

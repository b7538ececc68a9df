import { messageOf, ServiceError } from '#lib/errors.ts'
import type { ApiDescription } from '#lib/http/openapi.ts'
import type { AssetName } from '#lib/platform/program-parts.ts'

/** The built file with the texts and examples of the OpenAPI document. It is an asset of the program. */
export const apiDescriptionFile = 'api-description.json' satisfies AssetName

/**
 * Creates the loader of the texts of the OpenAPI document. `readText` reads a file that was built with the program: from the folder
 * of the program, or from wherever a program without such a folder has its files.
 */
export const createApiDescriptionLoader =
  (readText: (name: AssetName) => Promise<string>) => async (): Promise<ApiDescription> => {
    try {
      // The build has written this text from a value of this type.
      return JSON.parse(await readText(apiDescriptionFile)) as ApiDescription
    } catch (error) {
      throw new ServiceError(
        'unavailable',
        `The texts of the OpenAPI document cannot be read; install vmhost again: ${messageOf(error)}`,
        { cause: error },
      )
    }
  }

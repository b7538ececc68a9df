import type { Metafile } from 'esbuild'
import type { Route } from '#lib/http/endpoint.ts'
import { buildDocuments } from './documents.ts'
import { joinMetafiles } from './node-bundle.ts'
import { buildReference } from './reference.ts'
import { buildWebConsole } from './web-console.ts'

/** Builds the pages. `text` is a JSON object with their files (see `lib/http/pages.ts`). */
export const buildPages = async (
  routes: readonly Route[],
): Promise<{ readonly text: string; readonly metafile: Metafile }> => {
  const built = [await buildWebConsole(routes), await buildReference(), await buildDocuments()]
  return {
    text: JSON.stringify(Object.assign({}, ...built.map(({ files }) => files))),
    metafile: joinMetafiles(built.map(({ metafile }) => metafile)),
  }
}

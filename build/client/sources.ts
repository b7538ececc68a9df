/** Writes the part of the client that follows from the contracts. */
import { apiDescription } from '#functions/api-description.ts'
import type { Route } from '#lib/http/endpoint.ts'
import { describeRoutes } from '#lib/http/openapi/document.ts'
import { type DocumentedPaths, printComponent, printOperation, type PrintedOperation } from './operation.ts'
import { packTable } from './pack-table.ts'
import type { Schema } from '#lib/http/openapi/schema-type.ts'
import { listReferences, printComment } from './schema-type.ts'

const written = '// Written by build/client.ts. Do not edit; run `npm run routes`.\n'

const options = ['AsJob', 'CallOptions', 'ChangeOptions', 'FilterOptions', 'IfMatchOptions', 'JobOf', 'WaitOptions']

/** The named schemas that operations use, by themselves or through others. */
const selectComponents = (
  operations: readonly PrintedOperation[],
  schemas: Readonly<Record<string, Schema>>,
): readonly string[] => {
  const found = new Set(['Job', 'Event', 'Token', ...operations.flatMap(({ uses }) => listReferences(uses))])
  for (const name of found) for (const inner of listReferences(schemas[name])) found.add(inner)
  return [...found].sort()
}

const printAreas = (operations: readonly PrintedOperation[]): string =>
  [...Map.groupBy(operations, ({ area }) => area)]
    .map(([area, own]) => {
      const key = area.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
      const signatures = own.map(({ signatures: text }) => text).join('')
      return `${printComment(apiDescription.areas[key], '  ')}  readonly ${area}: {\n${signatures}  }\n`
    })
    .join('')

/** The generated sources of the client by file: the types of its operations, and where each one is served. */
export const printClientSources = (routes: readonly Route[]): Readonly<Record<string, string>> => {
  // What the document's builder gives, by the OpenAPI specification.
  const { paths, components } = describeRoutes(routes, '', { ...apiDescription, examples: {} }) as {
    readonly paths: DocumentedPaths
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
  }
  const operations = routes
    .map(route => printOperation(route, paths))
    .toSorted((one, other) => (`${one.area}.${one.name}` < `${other.area}.${other.name}` ? -1 : 1))
  const named = selectComponents(operations, components.schemas)
  const types = [
    ...named.map(name => printComponent(name, components.schemas[name]!)),
    ...operations.map(({ request }) => request),
    `/** The operations of the service. */\nexport interface Api {\n${printAreas(operations)}}\n`,
  ]
  return {
    'lib/client/api.gen.ts': `${written}import type { ${options.join(', ')} } from './types.ts'\n\n${types.join('\n')}`,
    'lib/client/table.gen.ts': `${written}/** Where each operation is served, as lib/client/table.ts reads it. */\nexport const packedTable = \`${packTable(operations)}\`\n`,
  }
}

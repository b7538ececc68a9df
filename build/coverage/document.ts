import { readTable } from '#lib/client/table.ts'
import { formatMarkdownTable } from '../markdown-table.ts'
import { findPages } from './console-pages.ts'
import { withoutPage } from './without-page.ts'

const introduction = `# The pages of the web console

Made by \`npm run routes\` from the sources of the [web console](web-console.md): the pages that call each endpoint, or why none does.
Each page needs the rights of the endpoints that it calls.`

/** Prints docs/web-console-pages.md. Throws for an endpoint that has neither a page nor a reason, and for one that has both. */
export const printConsolePages = (): string => {
  const pages = findPages()
  const reasons: Readonly<Record<string, string>> = withoutPage
  const rows = readTable().map(({ area, name, method, path }) => {
    const operation = `${area}.${name}`
    const [found, reason] = [pages.get(operation), reasons[operation]]
    if (!found && reason === undefined)
      throw new Error(
        `No page of the web console calls ${operation}. Add it to one, or say why in build/coverage/without-page.ts.`,
      )
    if (found && reason !== undefined)
      throw new Error(
        `${operation} is called by ${found.join(', ')}, and build/coverage/without-page.ts says why by none.`,
      )
    return [`\`${method === 'SOCKET' ? 'GET' : method} ${path}\``, found ? found.join(', ') : reason!]
  })
  return `${introduction}\n\n${formatMarkdownTable(['Endpoint', 'Page'], rows)}\n`
}

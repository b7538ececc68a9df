import { readFileSync, writeFileSync } from 'node:fs'
import { formatMarkdownTable } from '#build/markdown-table.ts'

interface Figures {
  /** What `describeRun` said before the measurement. */
  readonly run: string
  readonly heads: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** Writes a table to the end of a section of a document, in the place of that of an earlier run. Throws if there is no such section. */
export const writeFigures = (document: string, heading: string, { run, heads, rows }: Figures): void => {
  const sections = readFileSync(document, 'utf8').split(/^(?=#)/m)
  const at = sections.findIndex(section => section.startsWith(`${heading}\n`))
  if (at === -1)
    throw new Error(`${document} has no section "${heading}", which explains these figures. Write it first.`)
  const [prose = ''] = sections[at]!.split(/^Measured on /m)
  sections[at] = `${prose.trimEnd()}\n\n${run}:\n\n${formatMarkdownTable(heads, rows)}\n\n`
  writeFileSync(document, `${sections.join('').trimEnd()}\n`)
}

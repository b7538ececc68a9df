/** Writes the generated sources of the client; `--check` fails where one on disk is stale. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { printClientSources } from './client/sources.ts'
import { readRoutes } from './table.ts'

for (const [file, text] of Object.entries(printClientSources(await readRoutes()))) {
  if (!process.argv.includes('--check')) writeFileSync(file, text)
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== text)
    throw new Error(`${file} is stale; run npm run routes`)
}

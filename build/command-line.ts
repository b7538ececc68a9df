/**
 * Writes docs/command-line.md from the commands, and docs/web-console-pages.md from the pages of the web console; `--check` fails where one
 * on disk is stale.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { printCommandLine } from './commands/document.ts'
import { printConsolePages } from './coverage/document.ts'

const documents = {
  'docs/command-line.md': await printCommandLine(),
  'docs/web-console-pages.md': printConsolePages(),
}
for (const [file, text] of Object.entries(documents))
  if (!process.argv.includes('--check')) writeFileSync(file, text)
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== text)
    throw new Error(`${file} is stale; run npm run routes`)

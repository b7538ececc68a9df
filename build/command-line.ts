/** Writes docs/command-line.md from the commands; `--check` fails where the one on disk is stale. */
import { readFileSync, writeFileSync } from 'node:fs'
import { printCommandLine } from './commands/document.ts'

const file = 'docs/command-line.md'
const text = await printCommandLine()
if (!process.argv.includes('--check')) writeFileSync(file, text)
else if (readFileSync(file, 'utf8') !== text) throw new Error(`${file} is stale; run npm run routes`)

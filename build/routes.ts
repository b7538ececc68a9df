/** Writes the routing table from the files under functions/; `--check` fails where the one on disk is stale. */
import { readFileSync, writeFileSync } from 'node:fs'
import { readRoutes, tableText } from './table.ts'

const file = 'functions/routes.gen.ts'
const text = tableText(await readRoutes(), { include: [], exclude: [] })
if (!process.argv.includes('--check')) writeFileSync(file, text)
else if (readFileSync(file, 'utf8') !== text) throw new Error(`${file} is stale; run npm run routes`)

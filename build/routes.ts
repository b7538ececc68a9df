/** Writes the routing tables from the files under functions/; `--check` fails where one on disk is stale. */
import { readFileSync, writeFileSync } from 'node:fs'
import { publicServiceNames } from '#lib/compose/public-services.ts'
import { readRoutes, tableText } from './table.ts'

const routes = await readRoutes()
const provided = new Set<string>(publicServiceNames)
const tables = {
  'functions/routes.gen.ts': tableText(routes, { include: [], exclude: [] }),
  'functions/routes.edge.gen.ts': tableText(
    routes.filter(({ endpoint }) => endpoint.uses.every(use => provided.has(use))),
  ),
}
for (const [file, text] of Object.entries(tables)) {
  if (!process.argv.includes('--check')) writeFileSync(file, text)
  else if (readFileSync(file, 'utf8') !== text) throw new Error(`${file} is stale; run npm run routes`)
}

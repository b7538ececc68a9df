import { Command } from 'commander'
import { findChainBreak } from '#lib/audit/entry.ts'
import { type AuditPage, AuditQuery, type AuditRecord } from '#lib/audit/schemas.ts'
import { ServiceError } from '#lib/errors.ts'
import { escapeControls, formatJson, formatTable } from '../admin/text-table.ts'
import type { CommandContext } from './context.ts'
import type { TextOptions } from './invocation.ts'
import { readRequest } from './read-request.ts'

const toRow = ({ at, username = '-', address, operation, target = {}, details = {}, outcome, status }: AuditRecord) => [
  at,
  username,
  address,
  operation,
  [...Object.values(target), ...Object.values(details).filter(value => typeof value === 'string')].join(' '),
  outcome,
  String(status),
]

/** `vmhost audit …` */
export const createAuditCommand = ({ createRegister }: CommandContext): Command => {
  const register = createRegister('identity')
  const audit = new Command('audit')

  register<TextOptions>(
    audit
      .command('list')
      .description('Show the newest entries')
      .option('--user <name>', 'show only entries of this user')
      .option('--operation <id>', 'show only this operation, as `vmhost routes` names it; end a prefix with *')
      .option('--outcome <outcome>', 'show only this outcome: done, refused or failed')
      .option('--since <time>', 'show only entries from this time on, for example 2026-01-31T08:00:00Z')
      .option('--limit <number>', 'number of entries', '50')
      .option('--json', 'as JSON'),
    async ({ client }, { options }) => {
      const { user, operation, outcome, since, limit, json } = options
      const query = { user, operation, outcome, from: since, limit }
      readRequest(AuditQuery, query, { from: '--since', limit: '--limit', outcome: '--outcome' })
      // The schema has just checked the texts.
      const { entries } = await client.api.audit.list({ query: query as object })
      if (json) return console.log(formatJson(entries.toReversed()))
      const heads = ['TIME', 'USER', 'FROM', 'OPERATION', 'TARGET', 'OUTCOME', '']
      console.log(formatTable([heads, ...entries.toReversed().map(toRow)]))
    },
  )
  register(
    audit.command('export').description('Print all entries as JSON lines, oldest first, and check their hash chain'),
    async ({ client }) => {
      let after: number | undefined = 0
      let last: AuditRecord | undefined
      let count = 0
      while (after !== undefined) {
        const { entries, next }: AuditPage = await client.api.audit.list({ query: { after, limit: 1000 } })
        for (const entry of entries) {
          const fault = findChainBreak(last, entry)
          if (fault) throw new ServiceError('internal', `The audit is not whole: ${fault}.`)
          process.stdout.write(`${escapeControls(JSON.stringify(entry))}\n`)
          last = entry
          count += 1
        }
        after = next
      }
      console.error(`${count} entries; the chain is whole${last ? `, up to ${last.hash}` : ''}.`)
    },
  )
  return audit
}

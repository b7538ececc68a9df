import { Command } from 'commander'
import type { ClaimRecord, ClaimWithUsers } from '#lib/auth/role-schemas.ts'
import { formatJson, formatTable } from '../admin/text-table.ts'
import type { CommandContext } from './context.ts'

const toRow = ({ name, group = 'Custom', resource = '', users }: ClaimWithUsers): readonly string[] => [
  name,
  group,
  resource,
  users.map(({ username }) => username).join(' '),
]

/** `vmhost claims …` */
export const createClaimsCommand = ({ register }: CommandContext): Command => {
  const claims = new Command('claims')

  register(
    claims.command('list').description('List the claims').option('--json', 'as JSON'),
    async (callApi, { options }) => {
      const all = await callApi<ClaimWithUsers[]>('GET', '/auth/claims')
      if (options['json']) console.log(formatJson(all))
      else console.log(formatTable([['CLAIM', 'GROUP', 'ABOUT', 'HELD DIRECTLY BY'], ...all.map(toRow)]))
    },
  )
  register(
    claims
      .command('add')
      .description('Add a claim, which catalog manifests can require')
      .argument('<claim>')
      .option('--description <text>', 'purpose of the claim'),
    async (callApi, { args: [name = ''], options: { description } }) => {
      const claim = await callApi<ClaimRecord>('POST', '/auth/claims', {
        name,
        ...(description !== undefined && { description }),
      })
      console.log(`Added ${claim.name}.`)
    },
  )
  register(
    claims
      .command('remove')
      .description('Delete a claim that was added here and that no user holds')
      .argument('<claim>'),
    async (callApi, { args: [claim = ''] }) => {
      await callApi('DELETE', `/auth/claims/${encodeURIComponent(claim)}`)
      console.log(`Removed ${claim}.`)
    },
  )
  return claims
}

import { Command } from 'commander'
import type { ClaimRecord, ClaimWithUsers } from '#lib/auth/role-schemas.ts'
import { jsonText, tableText } from '../admin/text-table.ts'
import type { Run } from './run.ts'

const rowOf = ({ name, group = 'Custom', resource = '', users }: ClaimWithUsers): readonly string[] => [
  name,
  group,
  resource,
  users.map(({ username }) => username).join(' '),
]

/** `vmhost claims …` */
export const claimsCommand = (run: Run): Command => {
  const claims = new Command('claims').description('Claims: single rights of users and roles')

  run(claims.command('list').description('List the claims').option('--json', 'as JSON'), async (ask, { options }) => {
    const all = await ask<ClaimWithUsers[]>('GET', '/auth/claims')
    if (options['json']) console.log(jsonText(all))
    else console.log(tableText([['CLAIM', 'GROUP', 'ABOUT', 'HELD DIRECTLY BY'], ...all.map(rowOf)]))
  })
  run(
    claims
      .command('add')
      .description('Add a claim, which catalog manifests can require')
      .argument('<claim>')
      .option('--description <text>', 'purpose of the claim'),
    async (ask, { args: [name = ''], options: { description } }) => {
      const claim = await ask<ClaimRecord>('POST', '/auth/claims', {
        name,
        ...(description !== undefined && { description }),
      })
      console.log(`Added ${claim.name}.`)
    },
  )
  run(
    claims
      .command('remove')
      .description('Delete a claim that was added here and that no user holds')
      .argument('<claim>'),
    async (ask, { args: [claim = ''] }) => {
      await ask('DELETE', `/auth/claims/${encodeURIComponent(claim)}`)
      console.log(`Removed ${claim}.`)
    },
  )
  return claims
}
